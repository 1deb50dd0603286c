"""``fileshare-scheduler``."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

from fileshare.cmd import bootstrap, daemons
from fileshare.scheduler import service


def main() -> None:
    """Run the scheduler daemon until a signal ends it."""
    daemons.run(bootstrap.configure("fileshare-scheduler"), [service.make])
