"""``fileshare-data``."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

from fileshare.cmd import bootstrap, daemons  # noqa: E402
from fileshare.data import service  # noqa: E402


def main() -> None:
    """Run the data daemon until a signal ends it."""
    daemons.run(bootstrap.configure("fileshare-data"), [service.make])
