"""``fileshare-scheduler``: places shares and does the chores of the whole cloud."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import sys

from fileshare.cmd import bootstrap, daemons
from fileshare.scheduler import pipeline, service


def main() -> None:
    """Run the scheduler daemon until a signal ends it."""
    conf = bootstrap.configure("fileshare-scheduler")
    try:
        # Here and not in the child only, which its parent would start again for ever.
        pipeline.check(conf)
    except pipeline.UnknownPluginError as error:
        sys.exit(f"fileshare-scheduler: {error}")
    daemons.run(conf, [service.make])
