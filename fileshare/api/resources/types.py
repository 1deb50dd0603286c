"""Share types: what operators offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fileshare import errors
from fileshare.api import feature
from fileshare.api.fields import Body, Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.rules import ADMIN, READER, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    NAME,
    SPECS,
    TEXT,
    TEXT_OR_NULL,
    UUID,
    Shape,
    boolean,
    mapping,
    nullable,
    text,
)
from fileshare.domain import specs
from fileshare.operations import types as operations

INDEX = Rule("share_type:index", READER, "List share types.")
SHOW = Rule("share_type:show", READER, "See a share type.")
DEFAULT = Rule("share_type:default", READER, "See the default share type.")
CREATE = Rule("share_type:create", ADMIN, "Make a share type.")
UPDATE = Rule("share_type:update", ADMIN, "Change a share type.")
DELETE = Rule("share_type:delete", ADMIN, "Remove a share type.")

IS_PUBLIC = "share_type_access:is_public"
IS_PUBLIC_ONCE = "os-share-type-access:is_public"
ANY_TYPE = "all"

# What a type says of snapshots unless it says otherwise; tenants see it spelled out.
_UNSET = (
    specs.SNAPSHOT,
    specs.CREATE_FROM_SNAPSHOT,
    specs.REVERT,
    specs.MOUNT_SNAPSHOT,
)


def _openness(value: str) -> bool | str:
    return ANY_TYPE if value.lower() == ANY_TYPE else boolean(value)


def _kind(value: bool | str) -> bool | None:
    return None if isinstance(value, str) else value


# Read as public, private, or None for both.
OPENNESS = Shape({"enum": [True, False, ANY_TYPE]}, _kind, _openness)
SHOWN_SPECS = mapping(Shape({"type": ["string", "boolean"]}))
WANTED_SPECS = mapping(Shape({"type": ["string", "boolean", "number"]}, str))


def _specs(row: Any, request: Request) -> dict[str, Any]:
    """All specs for administrators; for others those that are no secret, unset ones too."""
    if request.is_admin:
        return dict(row.specs)
    shown: dict[str, Any] = {
        key: value for key, value in row.specs.items() if key in specs.TENANT_VISIBLE
    }
    if not request.has(feature.SNAPSHOTS_BY_DEFAULT):
        shown = dict.fromkeys(_UNSET, False) | shown
    if request.has(feature.INHERITED_ACCESS):
        shown.setdefault(specs.INHERIT_ACCESS, False)
    return shown


def _required_specs(row: Any, _request: Request) -> dict[str, str]:
    return {key: row.specs[key] for key in specs.REQUIRED if key in row.specs}


def _is_default(row: Any, request: Request) -> bool:
    return bool(row.name == request.runtime.conf.default_share_type)


TYPE = View(
    (
        Field("id", UUID),
        Field("name", TEXT),
        Field("extra_specs", SHOWN_SPECS, source=_specs),
        Field("required_extra_specs", SHOWN_SPECS, source=_required_specs),
        Field("description", TEXT_OR_NULL, span=span("2.41")),
        Field("is_default", BOOLEAN, source=_is_default, span=span("2.46")),
        Field(IS_PUBLIC_ONCE, BOOLEAN, source="is_public", span=span(until="2.6")),
        Field(IS_PUBLIC, BOOLEAN, source="is_public", span=span("2.7")),
    )
)

NEW = Body(
    "share_type",
    (
        Field("name", text(255, least=1), required=True),
        Field("extra_specs", SPECS, required=True),
        Field("description", NAME, span=span("2.41"), before="reject"),
        Field(IS_PUBLIC_ONCE, BOOLEAN, to="is_public"),
        Field(IS_PUBLIC, BOOLEAN, to="is_public", default=True),
    ),
    aliases=("volume_type",),
)
CHANGES = Body(
    "share_type",
    (
        Field("name", NAME),
        Field("description", NAME),
        Field(IS_PUBLIC, nullable(BOOLEAN), to="is_public"),
    ),
    aliases=("volume_type",),
)
LIST = Query(
    (
        Field("is_public", OPENNESS, admin=True, default=True),
        Field("extra_specs", WANTED_SPECS, span=span("2.43"), before="reject"),
    )
)

share_types = Resource("share_types", "/types")


@share_types.get(policy=INDEX, query=LIST, answer=Many("share_types", TYPE, also="volume_types"))
def index(request: Request) -> Sequence[Any]:
    """List share types."""
    return operations.find(
        request.runtime,
        request.ctx,
        is_public=request.query["is_public"],
        specs=request.query.get("extra_specs"),
    )


@share_types.get("/{id}", policy=SHOW, answer=One("share_type", TYPE, also="volume_type"))
def show(request: Request, id: str) -> Any:
    """Show a share type."""
    return operations.get(request.runtime, request.ctx, id)


@share_types.get("/default", policy=DEFAULT, answer=One("share_type", TYPE, also="volume_type"))
def default(request: Request) -> Any:
    """Show the share type of shares that are created without one."""
    return operations.default(request.runtime, request.ctx)


@share_types.post(policy=CREATE, body=NEW, answer=One("share_type", TYPE, also="volume_type"))
def create(
    request: Request,
    name: str,
    extra_specs: dict[str, str],
    is_public: bool,
    description: str | None = None,
) -> Any:
    """Make a share type.

    ``driver_handles_share_servers`` must be among its extra specs.
    """
    if request.has(feature.SNAPSHOTS_BY_DEFAULT):
        extra_specs = {specs.SNAPSHOT: "True"} | extra_specs
    return operations.create(
        request.runtime,
        request.ctx,
        name=name,
        specs=extra_specs,
        description=description,
        is_public=is_public,
    )


@share_types.put(
    "/{id}",
    since="2.50",
    policy=UPDATE,
    body=CHANGES,
    answer=One("share_type", TYPE, also="volume_type"),
)
def update(
    request: Request,
    id: str,
    name: str | None = None,
    description: str | None = None,
    is_public: bool | None = None,
) -> Any:
    """Change name, description or openness of a share type; at least one of them.

    An empty description takes the description away.
    """
    given = {"name": name, "description": description, "is_public": is_public}
    values: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if not values:
        raise errors.InvalidInput(field="share_type", reason=f"give one of {', '.join(given)}")
    if name is not None and not name.strip():
        raise errors.InvalidInput(field="name", reason="it must not be blank")
    if description == "":
        values["description"] = None
    return operations.update(request.runtime, request.ctx, id, values)


@share_types.delete("/{id}", policy=DELETE)
def delete(request: Request, id: str) -> None:
    """Remove a share type that no share is of."""
    operations.delete(request.runtime, request.ctx, id)
