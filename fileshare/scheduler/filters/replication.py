"""Replication domains."""

from __future__ import annotations

from fileshare.domain import specs
from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class ShareReplicationFilter(Filter):
    """Keeps pools that replicate; for a replica, those of the domain without one yet."""

    def applies(self, request: PlacementRequest) -> bool:
        return request.replication is not None or bool(request.demand.spec(specs.REPLICATION_TYPE))

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        domain = pool.capabilities.get(specs.REPLICATION_DOMAIN)
        if not domain:
            return refused("without replication", "it is in no replication domain")
        others = request.replication
        if others is None:
            return PASSED
        if pool.host in others.hosts:
            return refused("with a replica of this share", "it holds a replica already")
        if others.domain != domain:
            return refused(
                "in another replication domain",
                f"it is in replication domain {domain}, the share in {others.domain}",
            )
        return PASSED
