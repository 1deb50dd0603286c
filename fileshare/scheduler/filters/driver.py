"""The operator's formula of a back end."""

from __future__ import annotations

from fileshare.domain import expressions
from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.formulas import facts, needs_share
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused


class DriverFilter(Filter):
    """Keeps pools whose filter_function is true, or that have none.

    A formula about the share is left out where there is no share yet.  One that cannot be
    worked out excludes its pool, and no other.
    """

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        text = pool.capabilities.get("filter_function")
        if text is None or not str(text).strip():
            return PASSED
        try:
            formula = expressions.parse(str(text))
            if needs_share(formula) and not request.share:
                return PASSED
            if formula.truth(facts(pool, request)):
                return PASSED
        except expressions.ExpressionError as error:
            return refused("with a faulty filter function", f"filter_function {text!r}: {error}")
        return refused("excluded by their filter function", f"filter_function {text!r} is false")
