"""Specs of a share group type: what its groups need of a back end."""

from __future__ import annotations

from collections.abc import Mapping

from fileshare.api.fields import FREE, Body, Field, View
from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.resources.extra_specs import GIVEN
from fileshare.api.resources.group_types import EXPERIMENTAL, PATH, SINCE
from fileshare.api.rules import ADMIN, Rule
from fileshare.api.shapes import TEXT
from fileshare.operations import offers
from fileshare.operations.group_types import OFFER

INDEX = Rule("share_group_types_spec:index", ADMIN, "List the specs of a share group type.")
SHOW = Rule("share_group_types_spec:show", ADMIN, "See a group spec.")
CREATE = Rule("share_group_types_spec:create", ADMIN, "Set specs of a share group type.")
UPDATE = Rule("share_group_types_spec:update", ADMIN, "Set one group spec.")
DELETE = Rule("share_group_types_spec:delete", ADMIN, "Remove a group spec.")

ALL = View((Field(FREE, TEXT),))
ECHO = View((Field(FREE, GIVEN),))
SINGLE = View((Field("{key}", TEXT),))
SOME = Body("group_specs", (Field(FREE, GIVEN, to="given"),))
ONE = Body(None, (Field("{key}", GIVEN, to="given"),))

group_specs = Resource(
    "group_specs", f"{PATH}/{{id}}/group-specs", since=SINCE, experimental=EXPERIMENTAL
)


@group_specs.get(policy=INDEX, answer=One("group_specs", ALL))
def index(request: Request, id: str) -> Mapping[str, str]:
    """List the specs of a share group type."""
    return offers.specs(request.runtime, request.ctx, OFFER, id)


@group_specs.post(policy=CREATE, body=SOME, answer=One("group_specs", ECHO))
def create(request: Request, id: str, given: dict[str, str | bool]) -> dict[str, str | bool]:
    """Set specs of a share group type; others stay as they are."""
    _set(request, id, given, "create")
    return given


@group_specs.get("/{key}", policy=SHOW, answer=One(None, SINGLE))
def show(request: Request, id: str, key: str) -> dict[str, str]:
    """Show one group spec."""
    return {key: offers.spec(request.runtime, request.ctx, OFFER, id, key)}


@group_specs.put("/{key}", policy=UPDATE, body=ONE, answer=One(None, SINGLE))
def update(request: Request, id: str, key: str, given: dict[str, str | bool]) -> dict[str, str]:
    """Set one group spec; the body holds the key of the path alone."""
    return _set(request, id, given, "update")


def _set(request: Request, id: str, given: dict[str, str | bool], event: str) -> dict[str, str]:
    texts = {name: str(value) for name, value in given.items()}
    offers.set_specs(request.runtime, request.ctx, OFFER, id, texts, event=event)
    return texts


@group_specs.delete("/{key}", policy=DELETE, status=204)
def delete(request: Request, id: str, key: str) -> None:
    """Remove a group spec."""
    offers.delete_spec(request.runtime, request.ctx, OFFER, id, key)
