"""Nearness to the snapshot."""

from __future__ import annotations

from fileshare.domain import hosts
from fileshare.scheduler.model import PlacementRequest, PoolState
from fileshare.scheduler.weighers.base import Weigher

SAME_POOL, SAME_BACKEND, SAME_ZONE, ELSEWHERE = 100.0, 75.0, 50.0, 25.0


class HostAffinityWeigher(Weigher):
    """Prefers the snapshot's pool, then its back end, then its zone."""

    def applies(self, request: PlacementRequest) -> bool:
        return request.snapshot_host is not None

    def weight(self, pool: PoolState, request: PlacementRequest) -> float | None:
        source = request.snapshot_host or ""
        if pool.host == source:
            return SAME_POOL
        if pool.backend == hosts.backend_of(source):
            return SAME_BACKEND
        if request.snapshot_zone_id is not None and pool.zone_id == request.snapshot_zone_id:
            return SAME_ZONE
        return ELSEWHERE
