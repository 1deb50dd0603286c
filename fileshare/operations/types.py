"""Share types: what operators offer, and to whom."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fileshare import errors
from fileshare.context import Context
from fileshare.db import quotas, types
from fileshare.db.models import ShareType
from fileshare.db.query import ALL, Scope
from fileshare.db.types import TypeAndSpecs
from fileshare.domain import specs as domain
from fileshare.domain.notices import Priority
from fileshare.domain.quotas import type_scope
from fileshare.intents import changes
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation

_KEY = re.compile(r"[\w.:-]+")


@operation
def find(
    unit: Unit, *, is_public: bool | None = True, specs: Mapping[str, str] | None = None
) -> Sequence[TypeAndSpecs]:
    """The types that have all of *specs*.

    *is_public* True: public ones, and private ones that the caller's project was given; False:
    private ones; None: all.  Callers who are no administrators have no other choice than True.
    """
    own = Scope(unit.ctx.project_id or "")
    if is_public or not unit.ctx.is_admin:
        found = types.find(unit.session, own)
    else:
        found = types.find(unit.session, ALL, is_public=is_public)
    return [item for item in found if domain.has_all(item.specs, specs or {})]


@operation
def get(unit: Unit, share_type_id: str) -> TypeAndSpecs:
    """One type; raises NotFound, also for a private one that the project was not given."""
    return types.by_id(unit.session, unit.scope, share_type_id)


@operation
def default(unit: Unit) -> TypeAndSpecs:
    """The type of shares that are created without one; raises NotFound where there is none."""
    name = unit.runtime.conf.default_share_type
    found = types.by_name(unit.session, unit.scope, name) if name else None
    if found is None:
        raise errors.NotFound(resource="Default share type", id=name or "(not configured)")
    return found


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
    with _telling_failure(runtime, ctx, "share_type.create", name=name):
        domain.validate_all(specs)
        found = _create(runtime, ctx, name, domain.normalized(specs), description, is_public)
    _tell(runtime, ctx, "share_type.create", share_types=_facts(found))
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
    with _telling_failure(runtime, ctx, "share_type.update", id=share_type_id):
        found = _update(runtime, ctx, share_type_id, values)
    _tell(runtime, ctx, "share_type.update", share_types=_facts(found))
    return found


@operation
def _update(unit: Unit, share_type_id: str, values: Mapping[str, Any]) -> TypeAndSpecs:
    types.update(unit.session, share_type_id, values)
    return types.by_id(unit.session, ALL, share_type_id)


def delete(runtime: Runtime, ctx: Context, share_type_id: str) -> None:
    """Remove a type with all that hangs on it; raises NotFound, InvalidInput while it is used."""
    with _telling_failure(runtime, ctx, "share_type.delete", id=share_type_id):
        found = _delete(runtime, ctx, share_type_id)
    _tell(runtime, ctx, "share_type.delete", share_types=_facts(found))


@operation
def _delete(unit: Unit, share_type_id: str) -> TypeAndSpecs:
    found = types.by_id(unit.session, unit.scope, share_type_id)
    types.delete(unit.session, share_type_id)
    quotas.purge(unit.session, type_scope(share_type_id))
    return found


@operation
def projects(unit: Unit, share_type_id: str) -> Sequence[Any]:
    """Who may use a private type; raises NotFound for a public one, which has no such list."""
    if types.by_id(unit.session, unit.scope, share_type_id).is_public:
        raise errors.NotFound(resource="Access list of the public share type", id=share_type_id)
    return types.projects(unit.session, share_type_id)


@operation
def give(unit: Unit, share_type_id: str, project_id: str) -> None:
    """Let a project use a private type.

    Raises NotFound, and Conflict for a public type or a project that may use it already.
    """
    _lock_private(unit, share_type_id)
    types.give(unit.session, share_type_id, project_id)
    changes.tell(unit, "share_type_access.add", type_id=share_type_id, project_id=project_id)


@operation
def take(unit: Unit, share_type_id: str, project_id: str) -> None:
    """Let a project use a private type no more; its shares stay.

    Raises NotFound for the type and for the access, Conflict for a public type.
    """
    _lock_private(unit, share_type_id)
    types.take(unit.session, share_type_id, project_id)
    changes.tell(unit, "share_type_access.remove", type_id=share_type_id, project_id=project_id)


def _lock_private(unit: Unit, share_type_id: str) -> None:
    types.lock(unit.session, share_type_id)
    if types.by_id(unit.session, ALL, share_type_id).is_public:
        raise errors.Conflict(
            reason=f"The share type {share_type_id} is public: every project may use it."
        )


@operation
def specs(unit: Unit, share_type_id: str) -> Mapping[str, str]:
    """All extra specs of a type; raises NotFound."""
    return types.by_id(unit.session, unit.scope, share_type_id).specs


@operation
def spec(unit: Unit, share_type_id: str, key: str) -> str:
    """One extra spec; raises NotFound for the type and for the key."""
    found = types.by_id(unit.session, unit.scope, share_type_id).specs
    if key not in found:
        raise _no_such_spec(share_type_id, key)
    return found[key]


def set_specs(
    runtime: Runtime,
    ctx: Context,
    share_type_id: str,
    given: Mapping[str, str],
    *,
    event: str = "create",
) -> None:
    """Set some of a type's extra specs; raises NotFound, and InvalidInput for key or value."""
    event, facts = f"share_type_extra_specs.{event}", {"specs": dict(given)}
    with _telling_failure(runtime, ctx, event, type_id=share_type_id, **facts):
        for key, value in given.items():
            _check_spec(key, value)
        _set_specs(runtime, ctx, share_type_id, domain.normalized(given))
    _tell(runtime, ctx, event, type_id=share_type_id, **facts)


def _check_spec(key: str, value: str) -> None:
    if not _KEY.fullmatch(key):
        raise errors.InvalidInput(
            field="extra_specs", reason=f"the key {key!r} is not of letters, digits and _.:-"
        )
    domain.validate(key, value)


@operation
def _set_specs(unit: Unit, share_type_id: str, given: Mapping[str, str]) -> None:
    types.lock(unit.session, share_type_id)
    domain.validate_sizes({**types.specs_of(unit.session, share_type_id), **given})
    types.set_specs(unit.session, share_type_id, given)


def delete_spec(
    runtime: Runtime, ctx: Context, share_type_id: str, key: str, *, kept: Sequence[str] = ()
) -> None:
    """Remove an extra spec.

    Raises NotFound, and Refused for one that every type must have, or is in *kept*.
    """
    event, facts = "share_type_extra_specs.delete", {"type_id": share_type_id, "id": key}
    with _telling_failure(runtime, ctx, event, **facts):
        _delete_spec(runtime, ctx, share_type_id, key, (*domain.REQUIRED, *kept))
    _tell(runtime, ctx, event, **facts)


@operation
def _delete_spec(unit: Unit, share_type_id: str, key: str, kept: Sequence[str]) -> None:
    types.lock(unit.session, share_type_id)
    if key in kept:
        raise errors.Refused(reason=f"The extra spec {key} cannot be deleted.")
    if not types.clear_specs(unit.session, share_type_id, [key]):
        raise _no_such_spec(share_type_id, key)


def _no_such_spec(share_type_id: str, key: str) -> errors.NotFound:
    return errors.NotFound(resource="Extra spec", id=f"{key} of share type {share_type_id}")


def _facts(found: TypeAndSpecs) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "description": found.description,
        "is_public": found.is_public,
        "extra_specs": dict(found.specs),
    }


def _tell(runtime: Runtime, ctx: Context, event: str, **facts: Any) -> None:
    runtime.notify(ctx, event, facts)


@contextlib.contextmanager
def _telling_failure(runtime: Runtime, ctx: Context, event: str, **about: Any) -> Iterator[None]:
    """Tell of what is refused inside, which stays refused."""
    try:
        yield
    except errors.FileshareError as error:
        facts = {**about, "error": str(error)}
        runtime.notify(ctx, event, facts, priority=Priority.ERROR)
        raise
