"""What the formulas of operators may know: the pool, the type's specs and the share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fileshare.domain.expressions import Expression
from fileshare.scheduler.model import STATS, PlacementRequest, PoolState


class PoolStats(Mapping[str, Any]):
    """The capabilities of a pool with its numbers as they are now, each worked out when asked."""

    __slots__ = ("pool",)

    def __init__(self, pool: PoolState) -> None:
        self.pool = pool

    def __getitem__(self, key: str) -> Any:
        number = STATS.get(key)
        return self.pool.capabilities[key] if number is None else number(self.pool)

    def get(self, key: str, default: Any = None) -> Any:
        number = STATS.get(key)
        return self.pool.capabilities.get(key, default) if number is None else number(self.pool)

    def __iter__(self) -> Iterator[str]:
        return iter({**self.pool.capabilities, **STATS})

    def __len__(self) -> int:
        return len({**self.pool.capabilities, **STATS})


def facts(pool: PoolState, request: PlacementRequest) -> Mapping[str, Any]:
    """Names for an expression: ``stats.*``, ``capabilities.*``, ``extra.*`` and ``share.*``."""
    stats = PoolStats(pool)
    return {
        "stats": stats,
        "capabilities": stats,
        "extra": request.demand.specs,
        "share": request.share,
    }


def needs_share(formula: Expression) -> bool:
    """Whether the formula asks something of the share."""
    return any(name == "share" or name.startswith("share.") for name in formula.names)
