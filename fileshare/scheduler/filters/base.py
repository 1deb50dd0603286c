"""The contract of a filter."""

from __future__ import annotations

import abc

from fileshare.scheduler.model import PlacementRequest, PoolState, Verdict


class Filter(abc.ABC):
    """Says whether a pool can serve a request; pure, so the order of filters changes nothing."""

    def applies(self, request: PlacementRequest) -> bool:
        """Whether the filter has anything to say about this request; asked once for all pools."""
        del request
        return True

    @abc.abstractmethod
    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        """The verdict on one pool, with the reason where it is no."""
