"""How long calls take, as their clients see it."""

from __future__ import annotations

import concurrent.futures
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

CALLS = 100
CLIENTS = 4


@dataclass(frozen=True)
class Times:
    """Milliseconds of many calls of one kind, the shortest first."""

    name: str
    values: Sequence[float]

    def part(self, part: float) -> float:
        """What so great a part of the calls did not exceed."""
        return self.values[min(len(self.values) - 1, int(len(self.values) * part))]

    @property
    def median(self) -> float:
        return self.part(0.5)

    @property
    def p95(self) -> float:
        return self.part(0.95)

    def show(self) -> Times:
        """Write the figures, with the load of the machine, which says what they are worth."""
        load = os.getloadavg()[0]
        sys.stdout.write(
            f"{self.name:52} p50 {self.median:7.1f}  p95 {self.p95:7.1f}  "
            f"max {self.values[-1]:7.1f} ms  ({len(self.values)} calls, load {load:.1f})\n"
        )
        sys.stdout.flush()
        return self


Call = Callable[[], object]
Client = Callable[[], Call]
"""Makes what one client calls again and again, with a connection of its own."""


def timed(call: Call) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def measured(name: str, client: Client, *, calls: int = CALLS, clients: int = 1) -> Times:
    """The times of *calls* calls by so many clients at once; the first of each does not count."""

    def one(number: int) -> list[float]:
        call = client()
        call()
        return [timed(call) for _ in range(number)]

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        parts = list(pool.map(one, [calls // clients] * clients))
    name = name if clients == 1 else f"{name}, {clients} clients"
    return Times(name, sorted(value for part in parts for value in part)).show()


def compared(names: Sequence[str], clients: Sequence[Client], calls: int = CALLS) -> list[Times]:
    """The times of several kinds of calls in turn: what the machine does meets all of them."""
    kinds = [client() for client in clients]
    for call in kinds:
        call()
    values: list[list[float]] = [[] for _ in kinds]
    for _ in range(calls):
        for call, times in zip(kinds, values, strict=True):
            times.append(timed(call))
    return [Times(name, sorted(times)).show() for name, times in zip(names, values, strict=True)]
