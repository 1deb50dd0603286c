"""Pools that were tried before."""

from __future__ import annotations

from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class IgnoreAttemptedHostsFilter(Filter):
    """Excludes the pools on which this share failed to be created."""

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.attempted)

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        if pool.host in request.attempted:
            return refused("tried before", "the share could not be created on it")
        return PASSED


class RetryFilter(IgnoreAttemptedHostsFilter):
    """The same under the field's older name."""
