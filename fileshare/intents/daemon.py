"""A daemon: a consumer that is fed by rings and polls, reports itself, and stops cleanly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

from fileshare.context import leave_the_log
from fileshare.db import intents, services
from fileshare.db.services import Identity
from fileshare.intents.consumer import Consumer
from fileshare.intents.fairness import FairQueue
from fileshare.intents.rounds import Periodic, Repeated, plain
from fileshare.intents.runtime import Runtime
from fileshare.rpc import doorbell

LOG = logging.getLogger(__name__)


def of_node(conf: cfg.ConfigOpts, binary: str, process: str) -> Identity:
    """The identity of a service that belongs to the node and to no back end."""
    return Identity(
        binary=binary,
        host=conf.host,
        topic=binary,
        zone=conf.storage_availability_zone,
        node=conf.host,
        process=process,
    )


def _always() -> bool:
    return True


@dataclass(slots=True)
class Daemon:
    """One service of a process: scheduler, data, or the share daemon of one back end.

    *stopping* is set when it shall end, for periodic tasks that take long.
    """

    runtime: Runtime
    identity: Identity
    consumer: Consumer
    periodics: Sequence[Periodic] = ()
    ready: Callable[[], bool] = _always
    stopping: threading.Event = field(default_factory=threading.Event)
    _queue: FairQueue = field(init=False)
    _queued: set[str] = field(default_factory=set)
    _presence: threading.Lock = field(default_factory=threading.Lock)
    _workers: list[threading.Thread] = field(default_factory=list)
    _loops: list[Repeated] = field(default_factory=list)
    _keeping: Repeated | None = None
    _server: Any = None
    _member: str | None = None

    def __post_init__(self) -> None:
        self._queue = FairQueue(self._projects, enough=2 * self.runtime.conf.intents.workers)

    def _projects(self, ids: Sequence[str]) -> Mapping[str, str | None]:
        return self.runtime.sessions.run(lambda session: intents.projects(session, ids))

    def start(self) -> None:
        """Report the service, and take work."""
        conf = self.runtime.conf
        # A database that is away now is there at one of the next heartbeats.
        heartbeat = self._repeated("heartbeat", lambda: conf.report_interval, self.heartbeat)
        heartbeat.once()
        for number in range(conf.intents.workers):
            self._workers.append(self._thread(f"worker-{number}", self._work))
        poll = self._repeated("poll", lambda: conf.intents.poll_interval, self.poll)
        own = [Repeated(task, self.identity.host, self.runtime) for task in self.periodics]
        self._loops = [poll, heartbeat, *own]
        self._keeping = self._repeated("keep claims", lambda: conf.intents.lease / 3, self.keep)
        for loop in (self._keeping, *self._loops):
            loop.start()
        if self.runtime.transport is not None:
            # Connecting waits for the broker; the daemon works without it meanwhile.
            self._thread("listen", self._listen)

    def answer(self, ids: Iterable[str]) -> None:
        """Queue what was rung for; what waits already is not queued again."""
        for intent_id in ids:
            if intent_id not in self._queued and not self.stopping.is_set():
                self._queued.add(intent_id)
                self._queue.put(intent_id)

    def poll(self) -> None:
        """Look for work whose ring was lost, or whose worker was."""
        self.answer(self.consumer.due())

    def keep(self) -> None:
        """Hold the claims on what is in hand, and let go of what hangs."""
        for loop in self._loops:
            loop.watch()
        self.consumer.keep_running()

    def heartbeat(self) -> None:
        """Say that the daemon works, unless its back end does not."""
        with self._presence:
            if self.stopping.is_set() or not self.ready():
                return
            if any(loop.is_stuck for loop in self._loops):
                return  # where it hangs no new share is placed
            run = self.runtime.sessions.run
            member = self._member
            if member is None or not run(lambda session: services.heartbeat(session, member)):
                self._member = None
                down_time = self.runtime.conf.service_down_time
                self._member = run(
                    lambda session: services.join(session, self.identity, down_time)
                )

    def leave(self) -> None:
        """Say that the daemon takes no more work: its service is down without it."""
        with self._presence:
            member, self._member = self._member, None
            if member is not None:
                self.runtime.sessions.run(lambda session: services.leave(session, member))

    def stop(self, timeout: float = 55.0) -> None:
        """Take no more work, say that the service is down, and let what runs finish.

        That is promised work to its end, and of periodic work the call that runs.  Claims and
        locks are kept meanwhile.  *timeout* is less than what the process is given to end in.
        """
        self.stopping.set()
        self._repeated("leave", lambda: 0, self.leave).once()
        self._queue.close()
        for loop in self._loops:
            loop.stop()
        if self._server is not None:
            self._server.stop()
        deadline = time.monotonic() + timeout
        for worker in self._workers:
            worker.join(max(0.0, deadline - time.monotonic()))
        for loop in self._loops:
            loop.wait(deadline)
        if self._keeping is not None:
            self._keeping.stop()
        if self._server is not None:
            self._server.wait()

    def _thread(self, name: str, target: Callable[[], None]) -> threading.Thread:
        name = f"{self.identity.host}/{name}"
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def _listen(self) -> None:
        # Under the name of the node: each name is a queue, which stays when the process ends.
        for destination in self.consumer.destinations:
            server = doorbell.listen(
                self.runtime.transport, destination, self.identity.node, self.answer
            )
            server.start()
            if self.stopping.is_set():
                return
            self._server = server

    def _work(self) -> None:
        while (intent_id := self._queue.take()) is not None:
            self._queued.discard(intent_id)
            # Who is no member takes no work: it may have been refused.
            if self.stopping.is_set() or self._member is None:
                continue
            try:
                self.consumer.perform(intent_id)
            except BaseException:
                # Also what is to end a thread: this one has other work to do.
                # The claim ends by itself and the work is done again; see [intents] lease.
                LOG.exception("Intent %s could not be performed", intent_id)
            finally:
                leave_the_log()

    def _repeated(
        self, name: str, every: Callable[[], float], action: Callable[[], Any]
    ) -> Repeated:
        return Repeated(Periodic(name, every, plain(action)), self.identity.host, self.runtime)
