"""Share group types: what operators offer, and to whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fileshare.context import Context
from fileshare.db import group_types
from fileshare.db.group_types import GroupType
from fileshare.db.models import ShareGroupType
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation
from fileshare.operations import offers

OFFER = group_types.OFFER


@operation
def find(
    unit: Unit, *, is_public: bool | None = True, specs: Mapping[str, str] | None = None
) -> Sequence[GroupType]:
    """The group types that have all of *specs*; for *is_public* see :func:`offers.asked`."""
    scope, kind = offers.asked(unit, is_public)
    found = group_types.find(unit.session, scope, is_public=kind)
    return [item for item in found if (specs or {}).items() <= item.specs.items()]


@operation
def get(unit: Unit, id: str) -> GroupType:
    """One group type; raises NotFound, also for a private one that the project was not given."""
    return group_types.by_id(unit.session, unit.scope, id)


@operation
def default(unit: Unit) -> GroupType:
    """The type of groups that are created without one; raises NotFound where there is none."""
    name = unit.runtime.conf.default_share_group_type
    return offers.default(unit, OFFER, group_types.by_name, name)


def create(runtime: Runtime, ctx: Context, *, name: str, **values: Any) -> GroupType:
    """Make a group type of *share_types* (ids or names), with *specs*, *is_public* or not.

    Raises NotFound for an unknown share type, and Conflict where the name is taken.
    """
    with offers.telling_failure(runtime, ctx, "share_group_type.create", name=name):
        found = _create(runtime, ctx, name, **values)
    offers.tell(runtime, ctx, "share_group_type.create", share_group_types=_facts(found))
    return found


@operation
def _create(
    unit: Unit,
    name: str,
    *,
    share_types: Sequence[str],
    specs: Mapping[str, str],
    is_public: bool,
) -> GroupType:
    found = group_types.create(
        unit.session, name=name, is_public=is_public, specs=specs, share_types=share_types
    )
    unit.inserts(ShareGroupType, found.id)
    return found


def delete(runtime: Runtime, ctx: Context, id: str) -> None:
    """Remove a group type with all that hangs on it; raises NotFound."""
    with offers.telling_failure(runtime, ctx, "share_group_type.delete", id=id):
        found = _delete(runtime, ctx, id)
    offers.tell(runtime, ctx, "share_group_type.delete", share_group_types=_facts(found))


@operation
def _delete(unit: Unit, id: str) -> GroupType:
    found = group_types.by_id(unit.session, unit.scope, id)
    group_types.delete(unit.session, id)
    return found


def _facts(found: GroupType) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "is_public": found.is_public,
        "group_specs": dict(found.specs),
        "share_types": list(found.share_types),
    }
