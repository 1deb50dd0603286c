"""``fileshare-share``: drives the back ends of this node, a child process for each."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import functools

from fileshare.cmd import bootstrap, daemons


def main() -> None:
    """Run a child process for each of the node's back ends until a signal ends them."""
    conf = bootstrap.configure("fileshare-share")
    if not conf.enabled_share_backends:
        raise SystemExit("No back end is named in enabled_share_backends.")
    names = conf.enabled_share_backends
    daemons.run(conf, [functools.partial(daemons.back_end, section=name) for name in names])
