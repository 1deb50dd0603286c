"""``fileshare-share``: drives the back ends of this node, a child process for each."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import functools

from fileshare.cmd import bootstrap, daemons
from fileshare.intents.runtime import Runtime
from fileshare.share.service import ShareDaemon


def _make(runtime: Runtime, process: str, section: str) -> ShareDaemon:
    return ShareDaemon(runtime, section, process)


def main() -> None:
    """Run a child process for each of the node's back ends until a signal ends them."""
    conf = bootstrap.configure("fileshare-share")
    if not conf.enabled_share_backends:
        raise SystemExit("No back end is named in enabled_share_backends.")
    makers = [functools.partial(_make, section=section) for section in conf.enabled_share_backends]
    daemons.run(conf, makers)
