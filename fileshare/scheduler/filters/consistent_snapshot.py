"""Consistent snapshots of share groups."""

from __future__ import annotations

from typing import Any

from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused

SPEC = "consistent_snapshot_support"


class ConsistentSnapshotFilter(Filter):
    """Keeps pools whose consistent_snapshot_support is the group type's."""

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.group_specs.get(SPEC))

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        wanted, offered = request.group_specs[SPEC], _offered(pool)
        if offered == wanted:
            return PASSED
        return refused(
            "without such group snapshots", f"{SPEC} is {offered}, the group type wants {wanted}"
        )


def _offered(pool: PoolState) -> Any:
    of_groups = pool.capabilities.get("share_group_stats") or {}
    return of_groups.get(SPEC, pool.capabilities.get(SPEC))
