"""A query in JSON, from the hint of the same name."""

from __future__ import annotations

import dataclasses
import json
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from fileshare.scheduler.filters.base import Filter
from fileshare.scheduler.formulas import PoolStats
from fileshare.scheduler.model import PASSED, PlacementRequest, PoolState, Verdict, refused

DEEPEST: Final = 30


class JsonFilter(Filter):
    """Keeps pools for which the query is true: ``["and", [">=", "$free_capacity_gb", 10]]``.

    ``$name`` is an attribute or a capability of the pool, ``$a.b`` one inside of another.
    """

    def applies(self, request: PlacementRequest) -> bool:
        return bool(request.query)

    def passes(self, pool: PoolState, request: PlacementRequest) -> Verdict:
        try:
            query = request.query
            query = json.loads(query) if isinstance(query, str) else query
            found = evaluate(query, names_of(pool), 0)
        except (ValueError, TypeError, RecursionError) as error:
            return refused("for a faulty query", f"the query cannot be worked out: {error}")
        return PASSED if found else refused("excluded by the query", "the query is false")


def names_of(pool: PoolState) -> dict[str, Any]:
    """What a query may ask of a pool."""
    own = {
        field.name: getattr(pool, field.name)
        for field in dataclasses.fields(pool)
        if field.name != "capabilities"
    }
    stats = PoolStats(pool)
    return {**stats, **own, "capabilities": stats}


def evaluate(query: Any, names: Mapping[str, Any], depth: int) -> Any:
    """The value of a query; raises ValueError or TypeError where it has none."""
    if depth > DEEPEST:
        raise ValueError(f"nested deeper than {DEEPEST}")
    if isinstance(query, str) and query.startswith("$"):
        return _lookup(names, query[1:])
    if not isinstance(query, list):
        return query
    if not query:
        return True
    sign, *rest = query
    if sign not in OPERATORS:
        raise ValueError(f"{sign!r} is no operator")
    return OPERATORS[sign]([evaluate(part, names, depth + 1) for part in rest])


def _lookup(names: Mapping[str, Any], path: str) -> Any:
    found: Any = names
    for part in path.split("."):
        if not isinstance(found, Mapping):
            return None
        found = found.get(part)
    return found


def _each(compare: Callable[[Any, Any], bool]) -> Callable[[list[Any]], bool]:
    """The first value against each of the others; one that is not there is never true."""

    def holds(values: list[Any]) -> bool:
        first, *others = values
        return bool(others) and all(
            first is not None and other is not None and compare(first, other) for other in others
        )

    return holds


def _among(values: list[Any]) -> bool:
    """The first value is one of the others."""
    first, *others = values
    return first in others


OPERATORS: Final[dict[str, Callable[[list[Any]], bool]]] = {
    "=": _each(operator.eq),
    "<": _each(operator.lt),
    ">": _each(operator.gt),
    "<=": _each(operator.le),
    ">=": _each(operator.ge),
    "in": _among,
    "not": lambda values: not any(values),
    "or": any,
    "and": all,
}
