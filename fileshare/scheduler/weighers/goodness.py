"""The operator's formula of how good a pool is."""

from __future__ import annotations

import functools
import logging

from fileshare.domain import expressions
from fileshare.scheduler.formulas import facts
from fileshare.scheduler.model import PlacementRequest, PoolState
from fileshare.scheduler.weighers.base import Weigher

LOG = logging.getLogger(__name__)
MOST = 100.0


class GoodnessWeigher(Weigher):
    """Prefers the pool whose goodness_function is largest (0 to 100; true is 100).

    No formula, one without a value and a value out of range are all 0.
    """

    def weight(self, pool: PoolState, request: PlacementRequest) -> float | None:
        text = pool.capabilities.get("goodness_function")
        if text is None or not str(text).strip():
            return 0.0
        try:
            value = expressions.parse(str(text)).value(facts(pool, request))
            result = MOST * value if isinstance(value, bool) else expressions.number(value)
        except expressions.ExpressionError as error:
            _warn(pool.backend, str(text), str(error))
            return 0.0
        return result if 0.0 <= result <= MOST else 0.0


@functools.lru_cache(maxsize=512)
def _warn(backend: str, text: str, error: str) -> None:
    """Say once for each faulty formula that it counts as 0."""
    LOG.warning("goodness_function %r of %s counts as 0: %s", text, backend, error)
