"""Quotas: what the limits are, what is used of them, and who may change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fileshare import errors
from fileshare.context import Context
from fileshare.db import quotas, types
from fileshare.db.query import Scope
from fileshare.domain.quotas import (
    NOT_SET_BY_TYPE,
    PROJECT,
    RESOURCES,
    UNLIMITED,
    check_limit,
    promised,
    type_scope,
    user_scope,
)
from fileshare.intents import changes
from fileshare.intents.unit import Unit, operation

_LONGEST_OWNER = 240  # what fits with the words before it into a column


@dataclass(frozen=True, slots=True)
class Standing:
    """One quota of one scope: its limit, what is in use, and what open work has booked on top."""

    limit: int
    in_use: int
    reserved: int

    @property
    def booked(self) -> int:
        return self.in_use + self.reserved


@operation
def find(
    unit: Unit, project_id: str, *, user_id: str | None = None, share_type: str | None = None
) -> dict[str, Standing]:
    """The quotas of a project, or those that hold for a user or a share type in it.

    *share_type* is a name or an id.  Raises Forbidden for another project, NotFound for a type
    that is not there (or not for the caller).
    """
    _check_owner(unit.ctx, project_id)
    scope = _scope_of(unit, user_id, share_type)
    return _standings(unit, project_id, scope)


@operation
def defaults(unit: Unit) -> dict[str, int]:
    """What holds for a project without limits of its own."""
    limits = quotas.class_limits(unit.session, quotas.DEFAULT_CLASS)
    return {**unit.runtime.quota_defaults, **limits}


@operation
def update(
    unit: Unit,
    project_id: str,
    limits: Mapping[str, int],
    *,
    user_id: str | None = None,
    share_type: str | None = None,
    force: bool = False,
) -> dict[str, Standing]:
    """Set *limits* of a project, or of a user or a share type in it.

    Raises InvalidInput for a limit below what is used, and for a user's or a type's limit above
    the project's (*force* allows both), and for one that a share type cannot have.
    """
    _check_owner(unit.ctx, project_id)
    if not limits:
        raise errors.InvalidInput(field="quota_set", reason="it names no quota")
    scope = _scope_of(unit, user_id, share_type, for_update=True)
    if share_type:
        _refuse_for_types(limits)
    booked = _hold(unit, project_id, scope, limits)
    if not force:
        _check(unit, project_id, scope, limits, booked)
    quotas.set_limits(unit.session, project_id, scope, limits)
    changes.tell(unit, "quota.update", project_id=project_id, scope=scope, limits=dict(limits))
    return _standings(unit, project_id, scope)


@operation
def delete(
    unit: Unit, project_id: str, *, user_id: str | None = None, share_type: str | None = None
) -> None:
    """Forget the limits that were set: those of a user or a type, or all in the project."""
    _check_owner(unit.ctx, project_id)
    scope = _scope_of(unit, user_id, share_type)
    quotas.clear_limits(unit.session, project_id, None if scope == PROJECT else scope)
    changes.tell(unit, "quota.delete", project_id=project_id, scope=scope)


@operation
def find_class(unit: Unit, name: str) -> dict[str, int]:
    """The limits of a quota class; the configured ones where it has none."""
    if not unit.ctx.is_admin and unit.ctx.quota_class != name:
        raise errors.Refused(reason="The quota class is not the caller's.")
    return {**unit.runtime.quota_defaults, **quotas.class_limits(unit.session, name)}


@operation
def update_class(unit: Unit, name: str, limits: Mapping[str, int]) -> dict[str, int]:
    """Set limits of a quota class; the class ``default`` holds for all projects."""
    _check_name("id", name)
    quotas.set_limits(unit.session, quotas.class_id(name), PROJECT, limits)
    changes.tell(unit, "quota_class.update", name=name, limits=dict(limits))
    return {**unit.runtime.quota_defaults, **quotas.class_limits(unit.session, name)}


def _check_owner(ctx: Context, project_id: str) -> None:
    if not ctx.is_admin and ctx.project_id != project_id:
        raise errors.Refused(reason="The project is not the caller's.")
    _check_name("id", project_id)
    if project_id.startswith(quotas.class_id("")):
        raise errors.InvalidInput(field="id", reason="it is no project's")


def _check_name(field: str, text: str) -> None:
    """Refuse what no column holds, and what some databases do not tell apart."""
    if len(text) > _LONGEST_OWNER:
        raise errors.InvalidInput(field=field, reason="it is too long")
    if text != text.strip():
        raise errors.InvalidInput(field=field, reason="there are blanks around it")


def _scope_of(
    unit: Unit, user_id: str | None, share_type: str | None, *, for_update: bool = False
) -> str:
    if user_id and share_type:
        raise errors.InvalidInput(
            field="user_id", reason="it cannot be given together with share_type"
        )
    if user_id:
        _check_name("user_id", user_id)
        return user_scope(user_id)
    if not share_type:
        return PROJECT
    found = types.get(unit.session, Scope.of(unit.ctx), share_type)
    if for_update:
        # A type that goes away takes its limits along: no new one may come in between.
        types.lock(unit.session, found.id, shared=True)
    return type_scope(found.id)


def _refuse_for_types(limits: Iterable[str]) -> None:
    for name in limits:
        if name in NOT_SET_BY_TYPE:
            raise errors.InvalidInput(field=name, reason="a share type has no such quota")


def _standings(unit: Unit, project_id: str, scope: str) -> dict[str, Standing]:
    """By resource; a user or a type without a limit of its own is held to the project's."""
    account = quotas.account(unit.session, project_id, (scope,), unit.runtime.quota_defaults)
    open_work = quotas.reserved(unit.session, project_id)
    found = {}
    for name in (resource.name for resource in RESOURCES):
        limit = account.limits.get((scope, name), account.limit(PROJECT, name))
        used = account.used.get((scope, name), 0)
        reserved = min(max(open_work.get((scope, name), 0), 0), used)
        found[name] = Standing(limit, used - reserved, reserved)
    return found


def _hold(
    unit: Unit, project_id: str, scope: str, limits: Iterable[str]
) -> dict[tuple[str, str], int]:
    """What is booked; from here on neither it nor another limit of the project changes."""
    scopes = sorted({PROJECT, scope})
    rows = [(owner, name, 0) for owner in scopes for name in sorted(limits)]
    return quotas.hold(unit.session, project_id, rows)


def _check(
    unit: Unit,
    project_id: str,
    scope: str,
    limits: Mapping[str, int],
    booked: Mapping[tuple[str, str], int],
) -> None:
    if scope == PROJECT:
        parts = quotas.parts(unit.session, project_id)
        least, most = promised(parts), dict.fromkeys(limits, UNLIMITED)
    else:
        account = quotas.account(unit.session, project_id, (), unit.runtime.quota_defaults)
        least, most = {}, {name: account.limit(PROJECT, name) for name in limits}
    for name, limit in limits.items():
        reason = check_limit(limit, max(booked[scope, name], least.get(name, 0)), most[name])
        if reason is not None:
            raise errors.InvalidInput(field=name, reason=reason)
