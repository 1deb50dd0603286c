"""One storm from its beginning to the verdict."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

from tests.chaos import truth
from tests.chaos.deployment import until
from tests.chaos.storm import cluster as stack
from tests.chaos.storm import final, plan, report, samples, sights
from tests.chaos.storm.checker import Violation, always, judge, repaired
from tests.chaos.storm.clients import Client
from tests.chaos.storm.cluster import Cluster, cluster, revived
from tests.chaos.storm.faults import Faults
from tests.chaos.storm.final import Final
from tests.chaos.storm.history import Call, History
from tests.chaos.storm.http import Servers
from tests.chaos.storm.known import Tenant, World
from tests.chaos.storm.samples import Samples
from tests.chaos.storm.sights import Sight

LOOK = 2.0
"""Seconds between two looks at the database."""
GRACE = 20.0
"""Seconds after the end of a lease within which lost work is taken up again, on a busy machine whose
database may just be away."""
CALM = 5.0
"""Seconds for which no work must be promised before all counts as settled."""


@dataclasses.dataclass(frozen=True)
class Options:
    """*pace* and *gap* are mean seconds between operations of a client, and between faults."""

    seed: str
    seconds: float
    pace: float = 0.5
    gap: float = 2.6
    settle: float = 180.0


@dataclasses.dataclass
class Verdict:
    violations: list[Violation]
    kills: int
    calls: int
    settled: float


def say(line: str) -> None:
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


class Storm:
    """The clients and the faults of one storm, over a cluster that runs."""

    def __init__(self, running: Cluster, options: Options) -> None:
        self.cluster, self.options = running, options
        directory = running.daemons.directory
        self.history = History(directory / "history.jsonl")
        self._log = (directory / "faults.log").open("a")
        self.samples = Samples(running.sessions)
        self.faults = Faults(running, self.samples, self._note)
        self.sights: list[Sight] = []
        self.trouble: list[str] = []
        self._ended = threading.Event()
        ports = {node: running.daemons.nodes[node].port for node in plan.API_NODES}
        servers = Servers(ports, self._ended)
        world = World([Tenant(name, project) for name, project in plan.TENANTS.items()])
        self.clients = [
            Client(f"{tenant.name}.{number}", tenant, world, servers, self.history)
            for tenant in world.tenants
            for number in range(1, plan.THREADS + 1)
        ]

    def _note(self, line: str) -> None:
        self._log.write(f"{time.time():.3f} {line}\n")
        self._log.flush()

    def run(self) -> float:
        """The storm, and the calm after it; how many seconds that took to come."""
        options = self.options
        threads = [
            threading.Thread(target=self._to_the_end, args=(client,)) for client in self.clients
        ]
        threads.append(threading.Thread(target=self._minutes, daemon=True))
        for thread in threads:
            thread.start()
        faults = plan.faults(options.seed, options.seconds, options.gap)
        try:
            self.faults.run(faults, options.seconds, self._ended)
        finally:
            began = time.monotonic()
            self._ended.set()
            self.faults.calm()
            for thread in threads:
                thread.join()
        self._note("calm")
        return self._settle() - began

    def _to_the_end(self, client: Client) -> None:
        """One client; a storm in which it gave up early was none."""
        try:
            client.run(self.options.seed, self.options.pace, self._ended)
        except Exception as error:  # noqa: BLE001  (told as a violation)
            self.trouble.append(f"client {client.name} gave up: {error!r}")

    def _minutes(self) -> None:
        began, number = time.monotonic(), 0
        while not self._ended.wait(LOOK):
            seen = self.samples.take(samples.SIGHTS, sights.look)
            self.sights += [] if seen is None else [seen]
            if time.monotonic() >= began + 60 * (number + 1):
                number += 1
                waits = self.samples.take(samples.OPEN, truth.number_of_open)
                say(report.minute(number, self.history.calls, self.faults.done, waits))

    def complaints(self) -> Iterator[Violation]:
        """What was seen meanwhile, and why the storm itself may say too little."""
        looks = {samples.SIGHTS: self.options.seconds / LOOK}
        yield from (Violation("daemons", None, text) for text in self.faults.trouble)
        yield from (Violation("storm", None, text) for text in self.trouble)
        yield from (Violation("storm", None, text) for text in self.samples.complaints(looks))
        late = report.late(self.faults.takeovers.taken, stack.LEASE + GRACE)
        yield from (Violation("takeover", None, text) for text in late)
        yield from (
            Violation("errors", call.share, call.line())
            for call in report.server_errors(self.history.calls, self.faults.outages)
        )

    def _settle(self) -> float:
        """Wait until nothing is promised, and nothing new for a while; when that began."""
        last = time.monotonic()

        def calm() -> bool:
            nonlocal last
            if not self.cluster.is_settled():
                last = time.monotonic()
            return time.monotonic() - last >= CALM

        until(calm, "everything is settled", self.options.settle, pause=0.5)
        return last

    def close(self) -> None:
        self.faults.takeovers.stop()
        self.history.close()
        self._log.close()


def _repair(running: Cluster) -> None:
    """What an operator does who has stopped work by reset_status: let the back end be repaired."""
    host = f"{plan.HOST_OF_BACKEND}@{plan.BACKEND}"
    command = ("fileshare-manage", "reconcile", host, "--repair")
    # 1: something is lost for good, because its deletion was stopped half way.
    running.daemons.run(*command, node=plan.NODES[0], codes=(0, 1))
    until(running.is_settled, "the back end is reconciled", 120)


def brew(directory: pathlib.Path, options: Options, tell: Callable[[str], None] = say) -> Verdict:
    """A storm in *directory*; the verdict, and its figures told."""
    with cluster(directory) as running:
        storm = Storm(running, options)
        violations: list[Violation] = []
        tell(f"the storm {options.seed!r} begins, {options.seconds:.0f} s, in {directory}")
        try:
            settled = storm.run()
        except AssertionError as error:
            settled = float("inf")
            violations.append(Violation("settled", None, str(error)))
        calls = storm.history.calls
        left = final.read(running, plan.POOLS)
        violations += judge(calls, left)
        _tell(tell, storm, left, settled)
        violations += [*storm.complaints(), *always(calls, left, storm.sights)]
        if not violations:
            _repair(running)
            violations += judge(calls, final.read(running, plan.POOLS), (repaired,))
        storm.close()
    return Verdict(violations, storm.faults.kills, len(calls), settled)


def judge_again(directory: pathlib.Path, tell: Callable[[str], None] = say) -> list[Violation]:
    """The verdict on what a storm has kept in *directory*, by the judge as it is now.

    Its daemons run once more, but for the API, as after a cut of the whole cloud's power.
    """
    with revived(directory) as running:
        until(running.is_settled, "everything is settled", Options.settle)
        lines = (directory / "history.jsonl").read_text().splitlines()
        calls = [Call(**json.loads(line)) for line in lines]
        left = final.read(running, plan.POOLS)
        for line in report.work(left.intents):
            tell(line)
        violations = judge(calls, left)
        _repair(running)
        return violations + judge(calls, final.read(running, plan.POOLS), (repaired,))


def _tell(tell: Callable[[str], None], storm: Storm, left: Final, settled: float) -> None:
    calls, faults = storm.history.calls, storm.faults
    for line in (
        *report.totals(calls, faults.done),
        *report.work(left.intents),
        *report.takeovers(faults.takeovers.taken),
        *storm.samples.lines(),
    ):
        tell(line)
    tell(f"settled {settled:.1f} s after the last fault")
