"""``/messages``: what users are told about what failed."""

from __future__ import annotations

from typing import Any

from fileshare.api.fields import Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.pagination import CHECKED_PAGING, clipped
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.rules import MEMBER, READER, Rule
from fileshare.api.shapes import (
    LINKS,
    MOMENT,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    UUID,
    UUID_OR_NULL,
)
from fileshare.domain.listing import Page
from fileshare.domain.messages import user_message
from fileshare.operations import messages as operations

GET_ALL = Rule("message:get_all", READER, "List the messages of a project.")
GET = Rule("message:get", READER, "See a message.")
DELETE = Rule("message:delete", MEMBER, "Delete a message.")


def _links(row: Any, request: Request) -> object:
    return request.links("messages", row.id)


def _text(row: Any, _request: Request) -> object:
    return user_message(row.action_id, row.detail_id)


MESSAGE = View(
    (
        Field("id", UUID),
        Field("project_id", TEXT),
        Field("action_id", TEXT),
        Field("detail_id", TEXT_OR_NULL),
        Field("message_level", TEXT),
        Field("created_at", MOMENT),
        Field("expires_at", MOMENT_OR_NULL),
        Field("request_id", TEXT_OR_NULL),
        Field("links", LINKS, source=_links),
        Field("resource_type", TEXT_OR_NULL),
        Field("resource_id", UUID_OR_NULL),
        Field("user_message", TEXT, source=_text, about="What was done, and what became of it."),
    )
)

_FILTERS = (
    Field("request_id", TEXT),
    Field("resource_type", TEXT),
    Field("resource_id", UUID),
    Field("action_id", TEXT),
    Field("detail_id", TEXT),
    Field("message_level", TEXT),
    Field("created_since", MOMENT, span=span("2.52")),
    Field("created_before", MOMENT, span=span("2.52")),
)
LIST = Query(
    (
        *_FILTERS,
        *CHECKED_PAGING,
        Field("marker", TEXT, about="The id of the last message of the page before."),
        Field("sort_key", TEXT, about="The field that the list is sorted by."),
        Field("sort_dir", TEXT, about="desc, or anything else for ascending."),
    ),
    once=True,
)

messages = Resource("messages", "/messages", since="2.37")


@messages.get(policy=GET_ALL, query=LIST, answer=Many("messages", MESSAGE, links="messages_links"))
def index(request: Request) -> Any:
    """List the messages of the project; an administrator sees those of all."""
    query = request.query
    part = clipped(query, request.runtime.conf.osapi_max_limit)
    page = Page(
        limit=part.limit,
        offset=part.offset,
        marker=query.get("marker"),
        sort_key=query.get("sort_key") or "created_at",
        sort_dir="desc" if query.get("sort_dir", "desc") == "desc" else "asc",
    )
    named = {field.argument for field in _FILTERS}
    filters = {name: value for name, value in query.items() if name in named}
    return operations.find(request.runtime, request.ctx, filters, page)


@messages.get("/{id}", policy=GET, answer=One("message", MESSAGE))
def show(request: Request, id: str) -> Any:
    """Show a message."""
    return request.reveal(GET, operations.get(request.runtime, request.ctx, id), "Message")


@messages.delete("/{id}", policy=DELETE, status=204)
def delete(request: Request, id: str) -> None:
    """Delete a message."""
    operations.delete(request.runtime, request.ctx, id)
