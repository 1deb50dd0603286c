"""The contract of a weigher."""

from __future__ import annotations

import abc
from typing import ClassVar

from fileshare.scheduler.model import PlacementRequest, PoolState


class Weigher(abc.ABC):
    """Says how good a pool is for a request; the larger the better.

    ``OPTION`` names the option that multiplies the result; without one it counts once.
    """

    OPTION: ClassVar[str | None] = None

    def applies(self, request: PlacementRequest) -> bool:
        """Whether the weigher can tell pools apart for this request; asked once for all."""
        del request
        return True

    @abc.abstractmethod
    def weight(self, pool: PoolState, request: PlacementRequest) -> float | None:
        """The value of one pool, of any scale; None where it cannot be known (comes last)."""
