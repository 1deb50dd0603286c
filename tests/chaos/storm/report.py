"""What is told of a storm: a line for each minute, and figures at the end."""

from __future__ import annotations

import collections
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from tests.chaos.storm.history import ACCEPTED, REFUSED, UNKNOWN, Call, outcomes


def minute(
    number: int, calls: Sequence[Call], done: collections.Counter[str], waits: int | None
) -> str:
    """How things stand after so many minutes."""
    sums = collections.Counter(call.outcome for call in calls)
    kills = sum(count for kind, count in done.items() if kind.startswith("kill_"))
    return (
        f"minute {number}: {len(calls)} requests ({sums[ACCEPTED]} accepted, {sums[REFUSED]} "
        f"refused, {sums[UNKNOWN]} unknown), {kills} kills, {done.total()} faults, "
        f"{'?' if waits is None else waits} open intents"
    )


def totals(calls: Sequence[Call], done: collections.Counter[str]) -> Iterable[str]:
    """By kind."""
    yield f"{'operation':18}{ACCEPTED:>10}{REFUSED:>10}{UNKNOWN:>10}"
    for kind, sums in sorted(outcomes(calls).items()):
        yield f"{kind:18}{sums[ACCEPTED]:>10}{sums[REFUSED]:>10}{sums[UNKNOWN]:>10}"
    for kind, number in sorted(done.items()):
        yield f"fault: {kind}: {number}"


def work(intents: Iterable[Any]) -> Iterable[str]:
    """What became of promised work, and how often a back end's daemon had to take it up again."""
    ends: dict[str, collections.Counter[str]] = {}
    for intent in intents:
        sums = ends.setdefault(intent.event, collections.Counter())
        reason = (intent.error or "").split(":")[0] if intent.error else ""
        sums[f"{intent.state} {reason}".strip()] += 1
        sums["taken up again"] += intent.begun > 1
    for event, sums in sorted(ends.items()):
        parts = ", ".join(f"{number} {what}" for what, number in sorted(sums.items()) if number)
        yield f"work: {event}: {parts}"


def takeovers(taken: Iterable[tuple[str, float]]) -> Iterable[str]:
    """Seconds from the loss of a worker to the next claim of what it had claimed."""
    by_cause: dict[str, list[float]] = {}
    for how, seconds in taken:
        by_cause.setdefault(how, []).append(seconds)
    for how, times in sorted(by_cause.items()):
        middle, late = statistics.median(times), sorted(times)[int(len(times) * 0.95)]
        yield (
            f"takeover after {how}: {len(times)}, p50 {middle:.1f} s, p95 {late:.1f} s, "
            f"max {max(times):.1f} s"
        )


def late(taken: Iterable[tuple[str, float]], longest: float) -> Iterable[str]:
    """Losses of workers after which their work lay for more than *longest* seconds."""
    for how, seconds in taken:
        if seconds > longest:
            yield f"work was taken up {seconds:.1f} s after a {how}, not within {longest:.0f} s"


def server_errors(calls: Iterable[Call], outages: Sequence[tuple[float, float]]) -> list[Call]:
    """Answers of 5xx that no trouble of the database explains: nothing else may end in one."""
    return [
        call
        for call in calls
        if call.status is not None
        and call.status >= 500
        and not any(began <= call.end and call.start <= ended for began, ended in outages)
    ]
