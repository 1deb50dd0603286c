"""``/share-replicas``: the replicas of shares whose type has replication, to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fileshare.api.fields import Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.pagination import PAGING, clipped
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.rules import READER, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    MOMENT,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    UUID,
    UUID_OR_NULL,
)
from fileshare.domain.listing import Page
from fileshare.operations import replicas as operations

GET_ALL = Rule("share_replica:get_all", READER, "List share replicas.")
SHOW = Rule("share_replica:show", READER, "See a share replica.")


def _metadata(_row: Any, _request: Request) -> dict[str, str]:
    return {}  # nothing sets any


_STATE = Field("replica_state", TEXT_OR_NULL)
SUMMARY = View((Field("id", UUID), Field("share_id", UUID), Field("status", TEXT), _STATE))
DETAIL = View(
    (
        Field("id", UUID),
        Field("share_id", UUID),
        Field("availability_zone", TEXT_OR_NULL),
        Field("created_at", MOMENT),
        Field("status", TEXT),
        Field("share_network_id", UUID_OR_NULL),
        _STATE,
        Field("updated_at", MOMENT_OR_NULL),
        Field("share_server_id", UUID_OR_NULL, admin=True),
        Field("host", TEXT_OR_NULL, admin=True),
        Field("cast_rules_to_readonly", BOOLEAN, admin=True, span=span("2.30")),
        Field("metadata", TEXTS, source=_metadata, span=span("2.95")),
    )
)

LIST = Query(
    (
        Field("share_id", UUID),
        *PAGING,
        Field("marker", TEXT, about="The id of the last replica of the page before."),
    )
)

replicas = Resource(
    "share_replicas",
    "/share-replicas",
    since="2.11",
    experimental=(span("2.11", "2.55"),),
    listed=False,  # what is not served yet is as if the path were not there
)


def _find(request: Request) -> Sequence[Any]:
    query = request.query
    part = clipped(query, request.runtime.conf.osapi_max_limit)
    marker = query.get("marker")
    page = Page(limit=part.limit, offset=part.offset, marker=marker, sort_dir="asc")
    return operations.find(request.runtime, request.ctx, query.get("share_id"), page)


@replicas.get(
    policy=GET_ALL,
    query=LIST,
    answer=Many("share_replicas", SUMMARY, links="share_replica_links"),
)
def index(request: Request) -> Sequence[Any]:
    """List share replicas."""
    return _find(request)


@replicas.get(
    "/detail",
    policy=GET_ALL,
    query=LIST,
    answer=Many("share_replicas", DETAIL, links="share_replica_links"),
)
def detail(request: Request) -> Sequence[Any]:
    """List share replicas with all that is known of them."""
    return _find(request)


@replicas.get("/{id}", policy=SHOW, answer=One("share_replica", DETAIL))
def show(request: Request, id: str) -> Any:
    """Show a share replica."""
    return operations.get(request.runtime, request.ctx, id)
