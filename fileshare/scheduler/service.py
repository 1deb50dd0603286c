"""The scheduler as a daemon: placements, and the chores of the whole cloud."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fileshare.db import intents, messages, request_keys, services, sweeps
from fileshare.db.purge import DAY
from fileshare.db.sweeps import Pace, Sweep
from fileshare.intents import destinations
from fileshare.intents.consumer import Consumer
from fileshare.intents.daemon import Daemon, of_node
from fileshare.intents.reaper import Reaper
from fileshare.intents.rounds import Alive, Periodic, plain
from fileshare.intents.runtime import Runtime
from fileshare.scheduler import recycle_bin
from fileshare.scheduler.handlers import handlers

BINARY = "scheduler"
HOUR = 3600.0


def make(runtime: Runtime, process: str) -> Daemon:
    """A scheduler; any number may run, the chores have one owner at a time."""
    conf = runtime.conf
    identity = of_node(conf, BINARY, process)
    consumer = Consumer(runtime, handlers(conf), [destinations.SCHEDULER], process)
    stopping = threading.Event()
    return Daemon(runtime, identity, consumer, chores(runtime, stopping), stopping=stopping)


def chores(runtime: Runtime, stopping: threading.Event) -> list[Periodic]:
    """What somebody must do for the whole cloud, and one scheduler at a time does.

    *stopping* is set when no more shall be done: what takes long ends at its next step.
    """
    conf = runtime.conf

    def mark_down() -> None:
        runtime.sessions.run(lambda session: services.mark_down(session, conf.service_down_time))

    def sweep(*wanted: Sweep) -> Callable[[Alive], None]:
        def action(alive: Alive) -> None:
            for one in wanted:
                sweeps.run(runtime.sessions, one, Pace(stop=stopping), lambda _removed: alive())

        return action

    return [
        Periodic("mark down", lambda: conf.service_down_time / 2, plain(mark_down), "mark-down"),
        Periodic("reap", lambda: conf.service_down_time, Reaper(runtime).reap, "reap"),
        Periodic(
            "expire messages",
            lambda: conf.message_reap_interval,
            sweep(messages.expired()),
            "expire-messages",
        ),
        Periodic(
            "expire request keys",
            lambda: HOUR,
            sweep(request_keys.old(conf.api.idempotency_key_ttl)),
            "expire-request-keys",
        ),
        Periodic(
            "purge intents",
            lambda: HOUR,
            sweep(*intents.closed(conf.intents.retain_days * DAY)),
            "purge-intents",
        ),
        Periodic(
            "empty the recycle bin",
            lambda: conf.check_for_expired_shares_in_recycle_bin_interval,
            lambda alive: recycle_bin.empty(runtime, alive),
            "recycle-bin",
        ),
        Periodic(
            "try deferred deletions again",
            lambda: conf.periodic_deferred_delete_interval,
            lambda alive: recycle_bin.try_again(runtime, alive),
            "deferred-deletions",
        ),
    ]
