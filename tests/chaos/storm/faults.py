"""Breaking things as the plan says, and putting them right again."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import functools
import heapq
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator

import amqp
import kombu
import pymysql

from fileshare.drivers.files import write_json
from tests.chaos.storm.cluster import Cluster
from tests.chaos.storm.plan import KILLS, Fault
from tests.chaos.storm.samples import Samples
from tests.chaos.storm.takeovers import Takeovers

BUSY = {"fail": ["*@0.3 error=busy"]}
STRANGE = "could not be done"
BROKEN = (
    OSError,
    pymysql.MySQLError,
    kombu.exceptions.KombuError,
    amqp.exceptions.AMQPError,
)
"""What breaking something raises where it is broken, or gone, already."""
BY_ITSELF = "ended by itself"


class Faults:
    """Goes through the faults of a plan; its methods are their kinds.

    *done* counts them; *outages* are the times in which the database was not itself; *trouble*
    is what daemons and servers did that they must not do.
    """

    def __init__(self, cluster: Cluster, samples: Samples, say: Callable[[str], None]) -> None:
        self.cluster = cluster
        self.say = say
        self.takeovers = Takeovers(samples)
        self.done: collections.Counter[str] = collections.Counter()
        self.outages: list[tuple[float, float]] = []
        self.trouble: list[str] = []
        self._daemons = cluster.daemons
        self._later: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = itertools.count()
        self._stopped: set[int] = set()
        self._servers = concurrent.futures.ThreadPoolExecutor(1)

    @property
    def kills(self) -> int:
        return sum(number for kind, number in self.done.items() if kind.startswith("kill_"))

    def run(self, plan: Iterable[Fault], seconds: float, ended: threading.Event) -> None:
        """All faults at their times, until *seconds* are over or somebody says so."""
        began = time.monotonic()
        for fault in plan:
            if not self._wait(began + fault.at, began + seconds, ended):
                break
            self._break(fault)
        self._wait(began + seconds, began + seconds, ended)

    def _wait(self, due: float, end: float, ended: threading.Event) -> bool:
        """Put right what is to be by *due*; False where the storm is over."""
        while not ended.is_set():
            now = time.monotonic()
            while self._later and self._later[0][0] <= now:
                heapq.heappop(self._later)[2]()
            self._look_for_dead()
            if now >= min(due, end):
                return due < end
            ended.wait(min(0.1, due - now))
        return False

    def _look_for_dead(self) -> None:
        """What ended by itself is started again, as the machine's init does."""
        for name in self._daemons.ended():
            program, _, node = name.partition("@")
            self.say(f"{name} {BY_ITSELF}")
            self.done[f"{BY_ITSELF}: {program}"] += 1
            again = functools.partial(self._start, Fault(0.0, BY_ITSELF, program, node))
            self._after(1.0, again)

    def _after(self, seconds: float, action: Callable[[], object]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._numbers), action))

    def _break(self, fault: Fault) -> None:
        self.say(f"{fault.kind} {fault.program} {fault.node} {fault.lasting:.1f}")
        action: Callable[[Fault], bool] = getattr(self, fault.kind)
        with self._honestly(f"{fault.kind} of {fault.program} on {fault.node}"):
            if action(fault):
                self.done[f"{fault.kind} {fault.program}".strip()] += 1

    @contextlib.contextmanager
    def _honestly(self, what: str) -> Iterator[None]:
        """What is broken already cannot be broken; all else that goes wrong is told."""
        try:
            yield
        except BROKEN as error:
            self.done[STRANGE] += 1
            self.say(f"{STRANGE}: {what}: {error!r}")
        except Exception as error:  # noqa: BLE001  (told as a violation)
            self.trouble.append(f"{what}: {error!r}")
            self.say(self.trouble[-1])

    # -- daemons ---------------------------------------------------------------------------
    def _runs(self, fault: Fault) -> bool:
        return f"{fault.program}@{fault.node}" in self._daemons.running

    def _start(self, fault: Fault) -> None:
        if not self._runs(fault):
            self._daemons.start(fault.program, fault.node)

    def kill_child(self, fault: Fault) -> bool:
        """The process that does the work; its parent starts another."""
        children = self._daemons.children(fault.program, fault.node) if self._runs(fault) else []
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._note(children, fault)
        return bool(children)

    def kill_group(self, fault: Fault) -> bool:
        """Parent and children at once, as when the machine dies."""
        if not self._runs(fault):
            return False
        children = self._daemons.children(fault.program, fault.node)
        self._daemons.kill(fault.program, fault.node)
        self._note(children, fault)
        self._after(fault.lasting, lambda: self._start(fault))
        return True

    def kill_parent(self, fault: Fault) -> bool:
        """The parent alone; its children must follow."""
        if not self._runs(fault):
            return False
        children = self._daemons.children(fault.program, fault.node)
        self._go_on()
        self._after(fault.lasting, lambda: self._start(fault))
        self._daemons.kill_parent(fault.program, fault.node)
        self._note(children, fault)
        return True

    def restart(self, fault: Fault) -> bool:
        """SIGTERM: what runs is finished first."""
        children = self._daemons.children(fault.program, fault.node) if self._runs(fault) else []
        if not children:
            return False  # it is starting, and listens to no signal yet
        self._go_on()
        self._after(fault.lasting, lambda: self._start(fault))
        self._daemons.stop(fault.program, fault.node, seconds=60)
        return True

    def pause(self, fault: Fault) -> bool:
        """A process that stands still, and then goes on as if nothing had been."""
        children = self._daemons.children(fault.program, fault.node) if self._runs(fault) else []
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self._stopped.add(pid)
        self._note(children, fault)
        self._after(fault.lasting, lambda: self._go_on(children))
        return bool(children)

    def _go_on(self, pids: Iterable[int] | None = None) -> None:
        """Let the stopped go on; all of them before anybody is waited for.

        Who ends finishes its work first, and that may wait for a lock of one that stands still.
        """
        for pid in self._stopped.intersection(self._stopped if pids is None else pids):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
            self._stopped.discard(pid)

    def _note(self, pids: list[int], fault: Fault) -> None:
        if pids:
            self.takeovers.gone(pids, "kill" if fault.kind in KILLS else fault.kind)

    # -- servers ---------------------------------------------------------------------------
    def purge(self, _fault: Fault) -> bool:
        self.cluster.purge()
        return True

    def cut(self, _fault: Fault) -> bool:
        with self._outage():
            self.cluster.cut()
        return True

    def harass(self, fault: Fault) -> bool:
        def harass() -> None:
            self.cluster.harass(fault.lasting)

        self._beside(harass)
        return True

    def wipe_broker(self, _fault: Fault) -> bool:
        self._beside(self.cluster.wipe_broker)
        return True

    def kill_database(self, _fault: Fault) -> bool:
        self._beside(self.cluster.kill_database)
        return True

    def restart_database(self, _fault: Fault) -> bool:
        self._beside(self.cluster.restart_database)
        return True

    @contextlib.contextmanager
    def _outage(self) -> Iterator[None]:
        began = time.time()
        try:
            yield
        finally:
            self.outages.append((began, time.time()))

    def _beside(self, action: Callable[[], None]) -> None:
        """Servers take their time; others are killed meanwhile."""

        def run() -> None:
            with self._honestly(action.__name__), self._outage():
                action()

        self._servers.submit(run)

    # -- the back end ----------------------------------------------------------------------
    def busy(self, fault: Fault) -> bool:
        """The back end refuses a part of all calls for a while; they may be tried again."""
        write_json(self.cluster.control, BUSY)
        self._after(fault.lasting, lambda: self.cluster.control.unlink(missing_ok=True))
        return True

    # -- the end ---------------------------------------------------------------------------
    def calm(self) -> None:
        """Put everything right."""
        while self._later:
            heapq.heappop(self._later)[2]()
        self._go_on()
        self._servers.shutdown()
        self.cluster.revive()
        # Quick from now on: an operator's repair calls it for every share.
        write_json(self.cluster.control, {"delay": ["0"]})
        self.cluster.complete()
