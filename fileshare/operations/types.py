"""Share types: what operators offer, and to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fileshare.context import Context
from fileshare.db import quotas, types
from fileshare.db.models import ShareType
from fileshare.db.query import ALL
from fileshare.db.types import TypeAndSpecs
from fileshare.domain import specs as domain
from fileshare.domain.quotas import type_scope
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation
from fileshare.operations import offers

OFFER = types.OFFER


@operation
def find(
    unit: Unit, *, is_public: bool | None = True, specs: Mapping[str, str] | None = None
) -> Sequence[TypeAndSpecs]:
    """The types that have all of *specs*; for *is_public* see :func:`offers.asked`."""
    scope, kind = offers.asked(unit, is_public)
    found = types.find(unit.session, scope, is_public=kind)
    return [item for item in found if domain.has_all(item.specs, specs or {})]


@operation
def get(unit: Unit, share_type_id: str) -> TypeAndSpecs:
    """One type; raises NotFound, also for a private one that the project was not given."""
    return types.by_id(unit.session, unit.scope, share_type_id)


@operation
def default(unit: Unit) -> TypeAndSpecs:
    """The type of shares that are created without one; raises NotFound where there is none."""
    name = unit.runtime.conf.default_share_type
    return offers.default(unit, OFFER, types.by_name, name)


def create(
    runtime: Runtime,
    ctx: Context,
    *,
    name: str,
    specs: Mapping[str, str],
    description: str | None = None,
    is_public: bool = True,
) -> TypeAndSpecs:
    """Make a type; raises InvalidInput for its specs, Conflict where the name is taken."""
    with offers.telling_failure(runtime, ctx, "share_type.create", name=name):
        domain.validate_all(specs)
        found = _create(runtime, ctx, name, domain.normalized(specs), description, is_public)
    offers.tell(runtime, ctx, "share_type.create", share_types=_facts(found))
    return found


@operation
def _create(
    unit: Unit, name: str, specs: Mapping[str, str], description: str | None, is_public: bool
) -> TypeAndSpecs:
    found = types.create(
        unit.session, name=name, description=description, is_public=is_public, specs=specs
    )
    unit.inserts(ShareType, found.id)
    return found


def update(
    runtime: Runtime, ctx: Context, share_type_id: str, values: Mapping[str, Any]
) -> TypeAndSpecs:
    """Change name, description or openness; raises NotFound, Conflict where the name is taken."""
    with offers.telling_failure(runtime, ctx, "share_type.update", id=share_type_id):
        found = _update(runtime, ctx, share_type_id, values)
    offers.tell(runtime, ctx, "share_type.update", share_types=_facts(found))
    return found


@operation
def _update(unit: Unit, share_type_id: str, values: Mapping[str, Any]) -> TypeAndSpecs:
    types.update(unit.session, share_type_id, values)
    return types.by_id(unit.session, ALL, share_type_id)


def delete(runtime: Runtime, ctx: Context, share_type_id: str) -> None:
    """Remove a type with all that hangs on it; raises NotFound, InvalidInput while it is used."""
    with offers.telling_failure(runtime, ctx, "share_type.delete", id=share_type_id):
        found = _delete(runtime, ctx, share_type_id)
    offers.tell(runtime, ctx, "share_type.delete", share_types=_facts(found))


@operation
def _delete(unit: Unit, share_type_id: str) -> TypeAndSpecs:
    found = types.by_id(unit.session, unit.scope, share_type_id)
    types.delete(unit.session, share_type_id)
    quotas.purge(unit.session, type_scope(share_type_id))
    return found


def set_specs(
    runtime: Runtime,
    ctx: Context,
    share_type_id: str,
    given: Mapping[str, str],
    *,
    event: str = "create",
) -> None:
    """Set some of a type's extra specs; raises NotFound, and InvalidInput for key or value."""
    offers.set_specs(runtime, ctx, OFFER, share_type_id, given, event=event, kept=_kept)


def _kept(there: Mapping[str, str], given: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in given.items():
        domain.validate(key, value)
    kept = domain.normalized(given)
    domain.validate_sizes({**there, **kept})
    return kept


def delete_spec(
    runtime: Runtime, ctx: Context, share_type_id: str, key: str, *, kept: Sequence[str] = ()
) -> None:
    """Remove an extra spec.

    Raises NotFound, and Refused for one that every type must have, or is in *kept*.
    """
    offers.delete_spec(runtime, ctx, OFFER, share_type_id, key, kept=(*domain.REQUIRED, *kept))


def _facts(found: TypeAndSpecs) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "is_public": found.is_public,
        "extra_specs": dict(found.specs),
    }
