"""The pool that an operator asked for."""

from __future__ import annotations

from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class OnlyHostFilter(Filter):
    """Keeps the pool of the hint only_host; only operators may give it."""

    def applies(self, request: PlacementRequest) -> bool:
        return request.is_admin and request.only_host is not None

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        if pool.host == request.only_host:
            return PASSED
        return refused("not the asked one", f"only {request.only_host} was asked for")
