"""Pools that a share server of the network serves already."""

from __future__ import annotations

from fileshare.scheduler.model import PlacementRequest, PoolState
from fileshare.scheduler.weighers.base import Weigher


class PoolWeigher(Weigher):
    """Prefers pools on which a share server of the request's network lives."""

    OPTION = "pool_weight_multiplier"

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.server_pools)

    def weight(self, pool: PoolState, request: PlacementRequest) -> float | None:
        return 1.0 if pool.host in request.server_pools else 0.0
