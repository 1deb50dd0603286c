"""``/resource-locks``: what keeps a share or an access rule from being deleted or shown."""

from __future__ import annotations

from typing import Any

from fileshare import errors
from fileshare.api.fields import Body, Field, Query, View
from fileshare.api.pagination import CHECKED_PAGING, SORT_KEY, clipped
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Page, Resource
from fileshare.api.rules import (
    ADMIN_OR_SERVICE,
    MEMBER_OR_SERVICE,
    OWNER_USER_OR_SERVICE,
    READER_OR_SERVICE,
    Rule,
)
from fileshare.api.shapes import (
    BOOLEAN,
    LINKS,
    MOMENT,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    UUID,
    UUID_OR_NULL,
    choice,
    nullable,
    text,
)
from fileshare.domain.listing import Page as Part
from fileshare.domain.locks import ACTIONS, DELETE, SHARE, TYPES
from fileshare.operations import locks as operations

_SINCE = "2023.2/Bobcat"

GET = Rule("resource_lock:get", READER_OR_SERVICE, "See a resource lock.", old_since=_SINCE)
GET_ALL = Rule("resource_lock:get_all", READER_OR_SERVICE, "List locks.", old_since=_SINCE)
GET_ALL_PROJECTS = Rule(
    "resource_lock:get_all_projects",
    ADMIN_OR_SERVICE,
    "List the resource locks of all projects.",
    old_since=_SINCE,
)
CREATE = Rule("resource_lock:create", MEMBER_OR_SERVICE, "Lock a resource.", old_since=_SINCE)
UPDATE = Rule(
    "resource_lock:update", OWNER_USER_OR_SERVICE, "Change a resource lock.", old_since=_SINCE
)
REMOVE = Rule(
    "resource_lock:delete", OWNER_USER_OR_SERVICE, "Lift a resource lock.", old_since=_SINCE
)

REASON = nullable(text(1023))
ACTION = choice(*ACTIONS)
TYPE = choice(*TYPES)


def _links(row: Any, request: Request) -> object:
    return request.links("resource-locks", row.id)


VIEW = View(
    (
        Field("id", UUID),
        Field("user_id", TEXT),
        Field("project_id", TEXT),
        Field("lock_context", TEXT),
        Field("resource_type", TEXT),
        Field("resource_id", UUID),
        Field("resource_action", TEXT),
        Field("lock_reason", TEXT_OR_NULL),
        Field("created_at", MOMENT),
        Field("updated_at", MOMENT_OR_NULL),
        Field("links", LINKS, source=_links),
    )
)

_FILTERS = (
    Field("created_since", MOMENT),
    Field("created_before", MOMENT),
    Field("project_id", TEXT_OR_NULL),
    Field("user_id", TEXT_OR_NULL),
    Field("resource_id", UUID_OR_NULL),
    Field("resource_action", ACTION),
    Field("resource_type", TYPE),
    Field("lock_context", text(10)),
    Field("lock_reason", text(1023)),
    Field("lock_reason~", TEXT),
)

LIST = Query(
    (
        *CHECKED_PAGING,
        SORT_KEY,
        Field("sort_dir", TEXT, about="desc, or anything else for ascending."),
        Field("with_count", BOOLEAN),
        Field("all_projects", BOOLEAN, policy=GET_ALL_PROJECTS, denied="ignore"),
        Field("marker", TEXT, about="The id of the last lock of the page before."),
        *_FILTERS,
    )
)

locks = Resource("resource_locks", "/resource-locks", since="2.81")


@locks.get(
    policy=(GET_ALL, GET_ALL_PROJECTS),
    query=LIST,
    answer=Many("resource_locks", VIEW, links="resource_locks_links", count_since="2.81"),
)
def index(request: Request) -> Page:
    """List resource locks."""
    query = request.query
    named = {field.name for field in _FILTERS}
    filters = {name: value for name, value in query.items() if name in named}
    everybodys = bool(query.get("all_projects"))
    if filters.get("project_id") not in {None, request.ctx.project_id}:
        request.authorize(GET_ALL_PROJECTS)
        everybodys = True
    part = clipped(query, request.runtime.conf.osapi_max_limit)
    found = operations.find(
        request.runtime,
        request.ctx,
        filters,
        Part(
            limit=part.limit,
            offset=part.offset,
            marker=query.get("marker"),
            sort_key=query.get("sort_key") or "created_at",
            sort_dir="desc" if query.get("sort_dir", "desc") == "desc" else "asc",
            with_count=bool(query.get("with_count")),
        ),
        everybodys=everybodys,
    )
    return Page(found.rows, found.total or None)


def _see(request: Request, id: str) -> Any:
    return request.reveal(GET, operations.get(request.runtime, request.ctx, id), "Resource lock")


@locks.get("/{id}", policy=GET, answer=One("resource_lock", VIEW))
def show(request: Request, id: str) -> Any:
    """Show a resource lock."""
    return _see(request, id)


NEW = Body(
    "resource_lock",
    (
        Field("resource_id", UUID, required=True),
        Field("resource_type", nullable(TYPE), default=SHARE),
        Field("resource_action", nullable(ACTION), default=DELETE),
        Field("lock_reason", REASON),
    ),
    unknown="reject",
)


@locks.post(policy=CREATE, body=NEW, answer=One("resource_lock", VIEW))
def create(
    request: Request,
    resource_id: str,
    resource_type: str | None = None,
    resource_action: str | None = None,
    lock_reason: str | None = None,
) -> Any:
    """Lock a share or an access rule."""
    kind = resource_type or SHARE
    try:
        target = operations.target(request.runtime, request.ctx, kind, resource_id)
    except errors.NotFound as error:
        raise errors.InvalidInput(field="resource_id", reason=str(error)) from error
    if not request.allowed(CREATE, target):
        _refuse(request, target, kind)
    return operations.create(
        request.runtime,
        request.ctx,
        kind,
        resource_id,
        resource_action or DELETE,
        lock_reason,
    )


def _refuse(request: Request, target: operations.Target, kind: str) -> None:
    """Say no to who sees the target, and that there is none to who does not."""
    visible = request.allowed("share:get", target) or (kind == SHARE and target.is_public)
    if visible:
        raise errors.Forbidden(rule=CREATE.name)
    name = "Share" if kind == SHARE else "Access rule"
    hidden = errors.NotFound(resource=name, id=target.id)
    raise errors.InvalidInput(field="resource_id", reason=str(hidden))


CHANGES = Body(
    "resource_lock",
    (Field("resource_action", nullable(ACTION)), Field("lock_reason", REASON)),
    unknown="reject",
)


# Who owns the lock is known only when it was read: the rules of these two are asked then.


@locks.put(
    "/{id}",
    policy=UPDATE,
    late_policy=True,
    body=CHANGES,
    answer=One("resource_lock", VIEW),
    faults={errors.Conflict: 400},
)
def update(request: Request, id: str, **values: Any) -> Any:
    """Change the action or the reason of a resource lock."""
    request.authorize(UPDATE, _see(request, id))
    return operations.update(request.runtime, request.ctx, id, values)


@locks.delete("/{id}", policy=REMOVE, late_policy=True, status=204)
def delete(request: Request, id: str) -> None:
    """Lift a resource lock."""
    request.authorize(REMOVE, _see(request, id))
    operations.delete(request.runtime, request.ctx, id)
