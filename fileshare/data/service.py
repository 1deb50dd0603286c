"""The data daemon: reports itself, and takes the copies that other parts hand it."""

from __future__ import annotations

from fileshare.intents import destinations
from fileshare.intents.consumer import Consumer, Handlers
from fileshare.intents.daemon import Daemon, of_node
from fileshare.intents.runtime import Runtime

BINARY = "data"


def make(runtime: Runtime, process: str) -> Daemon:
    """A data daemon; any number may run."""
    conf = runtime.conf
    identity = of_node(conf, BINARY, process)
    return Daemon(runtime, identity, Consumer(runtime, Handlers(), [destinations.DATA], process))
