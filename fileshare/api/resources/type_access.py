"""Which projects may use a private share type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fileshare.api.fields import ACTION, Body, Field, View
from fileshare.api.request import Request
from fileshare.api.resource import Many, Resource
from fileshare.api.rules import ADMIN, Rule
from fileshare.api.shapes import TEXT, UUID
from fileshare.operations import offers
from fileshare.operations.types import OFFER

LIST = Rule("share_type:list_project_access", ADMIN, "List who may use a private share type.")
GIVE = Rule("share_type:add_project_access", ADMIN, "Let a project use a private share type.")
TAKE = Rule(
    "share_type:remove_project_access", ADMIN, "Let a project use a private share type no more."
)

ACCESS = View((Field("share_type_id", UUID), Field("project_id", TEXT)))
PROJECT = Body(ACTION, (Field("project", UUID, required=True),))

type_access = Resource("share_types", "/types", listed=False)


@type_access.get(
    "/{id}/share_type_access",
    id="access",
    policy=LIST,
    answer=Many("share_type_access", ACCESS),
)
@type_access.get(
    "/{id}/os-share-type-access",
    id="access.legacy",
    policy=LIST,
    answer=Many("share_type_access", ACCESS),
)
def index(request: Request, id: str) -> Sequence[Any]:
    """List the projects that may use a private share type."""
    return offers.projects(request.runtime, request.ctx, OFFER, id)


@type_access.action("addProjectAccess", policy=GIVE, body=PROJECT)
def give(request: Request, id: str, project: str) -> None:
    """Let a project use a private share type."""
    offers.give(request.runtime, request.ctx, OFFER, id, project)


@type_access.action("removeProjectAccess", policy=TAKE, body=PROJECT)
def take(request: Request, id: str, project: str) -> None:
    """Let a project use a private share type no more; its shares stay."""
    offers.take(request.runtime, request.ctx, OFFER, id, project)
