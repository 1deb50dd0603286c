"""The back ends that can read a snapshot."""

from __future__ import annotations

from fileshare.domain import hosts, specs
from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class CreateFromSnapshotFilter(Filter):
    """Keeps pools of the snapshot's back end, and those that replicate with it."""

    def applies(self, request: PlacementRequest) -> bool:
        return request.snapshot_host is not None

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        if pool.backend == hosts.backend_of(request.snapshot_host or ""):
            return PASSED
        domain = pool.capabilities.get(specs.REPLICATION_DOMAIN)
        if domain and domain == request.snapshot_domain:
            return PASSED
        return refused(
            "away from the snapshot",
            f"the snapshot is on {request.snapshot_host}, in no common replication domain",
        )
