"""The scheduler as a daemon: placements, and the chores of the whole cloud."""

from __future__ import annotations

from fileshare.db import intents, messages, request_keys, services
from fileshare.intents import destinations, reaper
from fileshare.intents.consumer import Consumer
from fileshare.intents.daemon import Daemon, Periodic, of_node
from fileshare.intents.runtime import Runtime
from fileshare.scheduler import recycle_bin
from fileshare.scheduler.handlers import handlers

BINARY = "scheduler"


def make(runtime: Runtime, process: str) -> Daemon:
    """A scheduler; any number may run, the chores have one owner at a time."""
    conf = runtime.conf
    identity = of_node(conf, BINARY, process)
    consumer = Consumer(runtime, handlers(conf), [destinations.SCHEDULER], process)
    return Daemon(runtime, identity, consumer, chores(runtime))


def chores(runtime: Runtime) -> list[Periodic]:
    """What somebody must do for the whole cloud, and one scheduler at a time does."""
    conf = runtime.conf

    def mark_down() -> None:
        runtime.sessions.run(lambda session: services.mark_down(session, conf.service_down_time))

    def expire_messages() -> None:
        while runtime.sessions.run(messages.expire):
            pass

    def expire_keys() -> None:
        while runtime.sessions.run(
            lambda session: request_keys.expire(session, conf.api.idempotency_key_ttl)
        ):
            pass

    def purge_intents() -> None:
        while runtime.sessions.run(
            lambda session: intents.purge(session, conf.intents.retain_days)
        ):
            pass

    return [
        Periodic("mark down", conf.service_down_time / 2, mark_down, "mark-down"),
        Periodic("reap", conf.service_down_time, lambda: reaper.reap(runtime), "reap"),
        Periodic(
            "expire messages", conf.message_reap_interval, expire_messages, "expire-messages"
        ),
        Periodic("expire request keys", 3600, expire_keys, "expire-request-keys"),
        Periodic("purge intents", 3600, purge_intents, "purge-intents"),
        Periodic(
            "empty the recycle bin",
            conf.check_for_expired_shares_in_recycle_bin_interval,
            lambda: recycle_bin.empty(runtime),
            "recycle-bin",
        ),
    ]
