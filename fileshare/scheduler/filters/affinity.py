"""Shares that shall be together, or apart."""

from __future__ import annotations

from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class AffinityFilter(Filter):
    """Keeps the pools on which each share of the hint same_host has an instance."""

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.neighbours)

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        for share_id, held in request.neighbours.items():
            if held is None:
                return refused("for an unknown share", f"share {share_id} is not there")
            if pool.host not in held:
                return refused("away from the asked share", f"share {share_id} is not on it")
        return PASSED


class AntiAffinityFilter(Filter):
    """Keeps the pools on which no share of the hint different_host has an instance."""

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.strangers)

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        for share_id, held in request.strangers.items():
            if held is None:
                return refused("for an unknown share", f"share {share_id} is not there")
            if pool.host in held:
                return refused("with a share to be avoided", f"share {share_id} is on it")
        return PASSED
