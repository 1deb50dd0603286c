"""Capacity arithmetic: how much a pool can still take of a request.

The reserve is taken from the total first; a thin pool may promise its ratio times the rest.
What was placed since the last report (``claimed``) counts as promised.
"""

from __future__ import annotations

import math
from typing import Final

from fileshare.scheduler.model import PlacementRequest, PoolState

UNLIMITED: Final = math.inf


def reserved_percentage(pool: PoolState, request: PlacementRequest) -> float:
    """Percent of the pool that this sort of request may not touch."""
    if request.is_extend:
        return pool.reserved_extend_percentage
    if request.from_snapshot:
        return pool.reserved_snapshot_percentage
    return pool.reserved_percentage


def reserved(pool: PoolState, request: PlacementRequest) -> float:
    """The same in GiB; nothing where the total is unknown."""
    return (pool.total or 0.0) * reserved_percentage(pool, request) / 100.0


def is_thin(pool: PoolState, request: PlacementRequest) -> bool:
    """Whether the share would be a thin one here: the pool can, and the type does not forbid."""
    return pool.thin and request.demand.allows_thin


def headroom(pool: PoolState, request: PlacementRequest) -> float:
    """GiB that the pool can still take of such requests; below 0 where it is over-committed.

    ``UNLIMITED`` where the back end does not know what is free.  A pool that knows what is free
    but not its total takes what is free, unless something of it is reserved.
    """
    if pool.free is None:
        return UNLIMITED
    if pool.total is None:
        return -math.inf if reserved_percentage(pool, request) else pool.free - pool.claimed
    if pool.total <= 0:
        return -math.inf
    kept = reserved(pool, request)
    free = math.floor(pool.free - kept)
    if not is_thin(pool, request):
        return free - pool.claimed
    ratio = pool.max_over_subscription_ratio
    if ratio < 1:
        return -math.inf
    return min((pool.total - kept) * ratio - pool.promised(), free * ratio - pool.claimed)


def virtual_free(pool: PoolState, request: PlacementRequest) -> float | None:
    """What pools are compared by: free GiB, promised ones counted; None where unknown."""
    if pool.total is None or pool.free is None:
        return None
    kept = reserved(pool, request)
    if is_thin(pool, request):
        ratio = pool.max_over_subscription_ratio
        return math.floor(pool.total * ratio - pool.promised() - kept)
    return math.floor(pool.free - kept) - pool.claimed
