"""The extra specs of the share type."""

from __future__ import annotations

from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class CapabilitiesFilter(Filter):
    """Keeps pools whose capabilities meet all specs of the type."""

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.demand.wants)

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        known = request.demand.known.get(pool.id)
        if known is not None and known[0] is pool.capabilities:
            return known[1]
        verdict = _verdict(pool, request)
        request.demand.known[pool.id] = pool.capabilities, verdict
        return verdict


def _verdict(pool: PoolState, request: PlacementRequest) -> Verdict:
    for want in request.demand.wants:
        if not want.met(pool.capabilities):
            return refused(f"not {want.key} {want.text}", _reason(pool, want.key, want.text))
    return PASSED


def _reason(pool: PoolState, key: str, text: str) -> str:
    offered = pool.capabilities.get(key.removeprefix("capabilities:"))
    return f"{key} is {'not reported' if offered is None else offered}, wanted {text}"
