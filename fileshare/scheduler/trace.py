"""Why pools were removed: kept with the intent, so that a placement can be explained later."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any, Final

from fileshare.scheduler.model import Verdict

MOST_HOSTS: Final = 50
"""Hosts that are listed with one reason; the rest is counted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Removal:
    """One pool, the filter that removed it, and why."""

    host: str
    filter: str
    verdict: Verdict


@dataclasses.dataclass(slots=True)
class Trace:
    """One placement: how many pools there were, which were removed and why, and the weights."""

    order: Sequence[str] = ()
    pools: int = 0
    removed: list[Removal] = dataclasses.field(default_factory=list)
    weights: dict[str, float] = dataclasses.field(default_factory=dict)
    chosen: str | None = None

    def last_filter(self) -> str | None:
        """The filter that left no pool; None where one is left, or there was none at all."""
        if not self.removed or len(self.removed) < self.pools:
            return None
        used = {removal.filter for removal in self.removed}
        return next((name for name in reversed(self.order) if name in used), None)

    def summary(self) -> str:
        """One line: «3 pools: 2 too small, 1 in another zone»."""
        if not self.pools:
            return "no pools"
        counts = collections.Counter(removal.verdict.short for removal in self.removed)
        parts = [f"{count} {short}" for short, count in counts.most_common()]
        fitting = self.pools - len(self.removed)
        if fitting:
            parts.append(f"{fitting} fitting")
        return f"{self.pools} pool{'s' * (self.pools != 1)}: {', '.join(parts)}"

    def dump(self) -> dict[str, Any]:
        """As JSON to be stored; equal reasons are put together, long lists are cut."""
        groups: dict[tuple[str, str], list[str]] = {}
        for removal in self.removed:
            key = (removal.filter, removal.verdict.reason)
            groups.setdefault(key, []).append(removal.host)
        best = sorted(self.weights.items(), key=lambda item: -item[1])
        return {
            "summary": self.summary(),
            "pools": self.pools,
            "last_filter": self.last_filter(),
            "removed": [
                {
                    "filter": name,
                    "reason": reason,
                    "count": len(hosts),
                    "hosts": hosts[:MOST_HOSTS],
                }
                for (name, reason), hosts in list(groups.items())[:MOST_HOSTS]
            ],
            "weights": {host: round(weight, 4) for host, weight in best[:MOST_HOSTS]},
            "chosen": self.chosen,
        }
