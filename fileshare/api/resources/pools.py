"""``/scheduler-stats/pools``: what the scheduler knows of the pools."""

from __future__ import annotations

from typing import Any

from fileshare.api.fields import Field, Query, View, present
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, Resource
from fileshare.api.rules import ADMIN, Rule
from fileshare.api.shapes import OBJECT, TEXT
from fileshare.operations import pools as operations

INDEX = Rule("scheduler_stats:pools:index", ADMIN, "List the pools of the back ends.")
DETAIL = Rule("scheduler_stats:pools:detail", ADMIN, "List the pools with their capabilities.")

POOL = View(tuple(Field(name, TEXT) for name in ("name", "host", "backend", "pool")))
POOL_DETAIL = View((*POOL.fields, Field("capabilities", OBJECT)))

_BEGINNING = "A regular expression; it must match from the beginning."
LIST = Query(
    (
        Field("host", TEXT, about=_BEGINNING),
        Field("backend", TEXT, about=_BEGINNING),
        Field("pool", TEXT, about=_BEGINNING),
        Field("name", TEXT, about=_BEGINNING),
        Field("share_type", TEXT, span=span("2.23"), about="Name or id: pools able to serve it."),
    )
)

pools = Resource("pools", "/scheduler-stats/pools")


def _find(request: Request) -> Any:
    known = {field.name for field in present(LIST.fields, request.version)}
    if any(name not in known for name in request.http.GET):
        return []  # no pool has what nobody knows
    parts = dict(request.query)
    share_type = parts.pop("share_type", None)
    return operations.find(request.runtime, request.ctx, parts, share_type)


@pools.get(policy=INDEX, query=LIST, answer=Many("pools", POOL))
def index(request: Request) -> Any:
    """List the pools of all back ends that are up and enabled.

    A parameter that does not exist empties the list.
    """
    return _find(request)


@pools.get("/detail", policy=DETAIL, query=LIST, answer=Many("pools", POOL_DETAIL))
def detail(request: Request) -> Any:
    """List the pools with what they can do and hold, as their back ends reported it last."""
    return _find(request)
