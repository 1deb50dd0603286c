"""Room for the share."""

from __future__ import annotations

from fileshare.scheduler import capacity
from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class CapacityFilter(Filter):
    """Keeps pools that can take the share, or what it grows by, and keep their reserve."""

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        room = capacity.headroom(pool, request)
        if room >= request.needed:
            return PASSED
        kept = capacity.reserved(pool, request)
        return refused(
            "too small",
            f"room for {max(room, 0):g} GiB, needed {request.needed} GiB"
            + (f" ({kept:g} GiB are reserved)" if kept else ""),
        )
