"""Extra specs of a share type: what its shares need of a back end."""

from __future__ import annotations

from collections.abc import Mapping

from fileshare.api import feature
from fileshare.api.fields import FREE, Body, Field, View
from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.rules import ADMIN, Rule
from fileshare.api.shapes import TEXT, Shape
from fileshare.domain import specs
from fileshare.operations import offers
from fileshare.operations import types as operations
from fileshare.operations.types import OFFER

INDEX = Rule("share_types_extra_spec:index", ADMIN, "List the extra specs of a share type.")
SHOW = Rule("share_types_extra_spec:show", ADMIN, "See an extra spec.")
CREATE = Rule("share_types_extra_spec:create", ADMIN, "Set extra specs of a share type.")
UPDATE = Rule("share_types_extra_spec:update", ADMIN, "Set one extra spec.")
DELETE = Rule("share_types_extra_spec:delete", ADMIN, "Remove an extra spec.")

# Kept as it was given until the answer, which repeats it.
GIVEN = Shape({"type": ["string", "boolean"], "minLength": 1, "maxLength": 255})

extra_specs = Resource("extra_specs", "/types/{type_id}/extra_specs")


@extra_specs.get(policy=INDEX, answer=One("extra_specs", View((Field(FREE, TEXT),))))
def index(request: Request, type_id: str) -> Mapping[str, str]:
    """List the extra specs of a share type."""
    return offers.specs(request.runtime, request.ctx, OFFER, type_id)


@extra_specs.post(
    policy=CREATE,
    body=Body("extra_specs", (Field(FREE, GIVEN, to="given"),)),
    answer=One("extra_specs", View((Field(FREE, GIVEN),))),
)
def create(request: Request, type_id: str, given: dict[str, str | bool]) -> dict[str, str | bool]:
    """Set extra specs of a share type; others stay as they are."""
    texts = {key: str(value) for key, value in given.items()}
    operations.set_specs(request.runtime, request.ctx, type_id, texts)
    return given


@extra_specs.get("/{id}", policy=SHOW, answer=One(None, View((Field("{id}", TEXT),))))
def show(request: Request, type_id: str, id: str) -> dict[str, str]:
    """Show one extra spec."""
    return {id: offers.spec(request.runtime, request.ctx, OFFER, type_id, id)}


@extra_specs.put(
    "/{id}",
    policy=UPDATE,
    body=Body(None, (Field("{id}", GIVEN, to="given"),)),
    answer=One(None, View((Field("{id}", TEXT),))),
)
def update(
    request: Request, type_id: str, id: str, given: dict[str, str | bool]
) -> dict[str, str]:
    """Set one extra spec; the body holds the key of the path alone."""
    texts = {key: str(value) for key, value in given.items()}
    operations.set_specs(request.runtime, request.ctx, type_id, texts, event="update")
    return texts


@extra_specs.delete("/{id}", policy=DELETE)
def delete(request: Request, type_id: str, id: str) -> None:
    """Remove an extra spec that the type can do without."""
    kept = (specs.SNAPSHOT,) if request.has(feature.SNAPSHOTS_BY_DEFAULT) else ()
    operations.delete_spec(request.runtime, request.ctx, type_id, id, kept=kept)
