"""Share group types: what operators offer for groups of shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fileshare.api.fields import Body, Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.resources.type_access import PROJECT
from fileshare.api.resources.types import OPENNESS, WANTED_SPECS
from fileshare.api.rules import ADMIN, READER, Rule
from fileshare.api.shapes import BOOLEAN, TEXT, TEXTS, UUID, listing, mapping, nullable, text
from fileshare.operations import group_types as operations
from fileshare.operations import offers

INDEX = Rule("share_group_type:index", READER, "List share group types.")
SHOW = Rule("share_group_type:show", READER, "See a share group type.")
DEFAULT = Rule("share_group_type:default", READER, "See the default share group type.")
CREATE = Rule("share_group_type:create", ADMIN, "Make a share group type.")
DELETE = Rule("share_group_type:delete", ADMIN, "Remove a share group type.")
LIST_ACCESS = Rule(
    "share_group_type:list_project_access", ADMIN, "List who may use a private group type."
)
GIVE = Rule(
    "share_group_type:add_project_access", ADMIN, "Let a project use a private group type."
)
TAKE = Rule(
    "share_group_type:remove_project_access",
    ADMIN,
    "Let a project use a private group type no more.",
)

PATH = "/share-group-types"
SINCE = "2.31"
EXPERIMENTAL = (span(SINCE, "2.54"),)


def _is_default(row: Any, request: Request) -> bool:
    return bool(row.name == request.runtime.conf.default_share_group_type)


TYPE = View(
    (
        Field("id", UUID),
        Field("name", TEXT),
        Field("is_public", BOOLEAN),
        Field("group_specs", TEXTS, source="specs"),
        Field("share_types", listing(UUID)),
        Field("is_default", BOOLEAN, source=_is_default, span=span("2.46")),
    )
)
NEW = Body(
    "share_group_type",
    (
        Field("name", text(255, least=1), required=True),
        Field("share_types", listing(text(255, least=1), least=1), required=True),
        Field("group_specs", nullable(mapping(text(255, least=1))), default={}),
        Field("is_public", BOOLEAN, default=True),
    ),
)
LIST = Query(
    (
        Field("is_public", OPENNESS, admin=True, default=True),
        Field("group_specs", WANTED_SPECS, span=span("2.66"), before="reject"),
    )
)
ACCESS = View((Field("share_group_type_id", UUID), Field("project_id", TEXT)))

group_types = Resource("share_group_types", PATH, since=SINCE, experimental=EXPERIMENTAL)


@group_types.get(policy=INDEX, query=LIST, answer=Many("share_group_types", TYPE))
def index(request: Request) -> Sequence[Any]:
    """List share group types."""
    return operations.find(
        request.runtime,
        request.ctx,
        is_public=request.query["is_public"],
        specs=request.query.get("group_specs"),
    )


@group_types.get("/{id}", policy=SHOW, answer=One("share_group_type", TYPE))
def show(request: Request, id: str) -> Any:
    """Show a share group type."""
    return operations.get(request.runtime, request.ctx, id)


@group_types.get("/default", policy=DEFAULT, answer=One("share_group_type", TYPE))
def default(request: Request) -> Any:
    """Show the type of share groups that are created without one."""
    return operations.default(request.runtime, request.ctx)


@group_types.post(policy=CREATE, body=NEW, answer=One("share_group_type", TYPE))
def create(
    request: Request,
    name: str,
    share_types: list[str],
    group_specs: dict[str, str] | None,
    is_public: bool,
) -> Any:
    """Make a share group type, of share types that are named by id or name."""
    return operations.create(
        request.runtime,
        request.ctx,
        name=name,
        share_types=share_types,
        specs=group_specs or {},
        is_public=is_public,
    )


@group_types.delete("/{id}", policy=DELETE, status=204)
def delete(request: Request, id: str) -> None:
    """Remove a share group type."""
    operations.delete(request.runtime, request.ctx, id)


@group_types.get(
    "/{id}/access", policy=LIST_ACCESS, answer=Many("share_group_type_access", ACCESS)
)
def access(request: Request, id: str) -> Sequence[Any]:
    """List the projects that may use a private share group type."""
    return offers.projects(request.runtime, request.ctx, operations.OFFER, id)


@group_types.action("addProjectAccess", policy=GIVE, body=PROJECT)
def give(request: Request, id: str, project: str) -> None:
    """Let a project use a private share group type."""
    offers.give(request.runtime, request.ctx, operations.OFFER, id, project)


@group_types.action("removeProjectAccess", policy=TAKE, body=PROJECT)
def take(request: Request, id: str, project: str) -> None:
    """Let a project use a private share group type no more."""
    offers.take(request.runtime, request.ctx, operations.OFFER, id, project)
