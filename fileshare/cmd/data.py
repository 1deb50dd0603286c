"""``fileshare-data``: takes the copies between back ends; any number may run."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

from fileshare.cmd import bootstrap, daemons
from fileshare.data import service


def main() -> None:
    """Run the data daemon until a signal ends it."""
    daemons.run(bootstrap.configure("fileshare-data"), [service.make])
