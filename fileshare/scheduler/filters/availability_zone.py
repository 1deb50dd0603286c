"""Zones: the one asked for, those of the share type, and those with several subnets."""

from __future__ import annotations

from fileshare.domain import specs
from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused

SEVERAL_SUBNETS = "share_server_multiple_subnet_support"


class AvailabilityZoneFilter(Filter):
    """Keeps pools of the asked zone, and of a zone that the type and the network allow."""

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.zone_id or request.demand.zones or request.zones_with_several_subnets)

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        if request.zone_id is not None and pool.zone_id != request.zone_id:
            return refused("in another zone", f"it is in zone {pool.zone}")
        if request.demand.zones and pool.zone not in request.demand.zones:
            allowed = ", ".join(request.demand.zones)
            return refused("in another zone", f"it is in zone {pool.zone}; allowed: {allowed}")
        several = pool.zone_id in request.zones_with_several_subnets
        if several and specs.boolean(pool.capabilities.get(SEVERAL_SUBNETS)) is not True:
            return refused(
                "without several subnets",
                "its share servers take one subnet; the network has several in its zone",
            )
        return PASSED
