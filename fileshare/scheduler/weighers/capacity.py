"""Free capacity."""

from __future__ import annotations

from fileshare.scheduler import capacity
from fileshare.scheduler.model import PlacementRequest, PoolState
from fileshare.scheduler.weighers.base import Weigher


class CapacityWeigher(Weigher):
    """Prefers the pool with most free GiB; a negative multiplier fills pools one by one."""

    OPTION = "capacity_weight_multiplier"

    def weight(self, pool: PoolState, request: PlacementRequest) -> float | None:
        return capacity.virtual_free(pool, request)
