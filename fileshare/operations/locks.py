"""What a request on resource locks decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.context import Context
from fileshare.db import access, locks, shares
from fileshare.db.locks import Found
from fileshare.db.models import ResourceLock
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session
from fileshare.domain import locks as domain_locks
from fileshare.domain.access import LOCK_TOO_LATE
from fileshare.domain.listing import Page
from fileshare.domain.locks import ACCESS_RULE, ACTIONS_OF, DELETE, SHARE, SHOW
from fileshare.intents import changes
from fileshare.intents.unit import Unit, operation


class Target(NamedTuple):
    """What shall be locked: whose it is, and whether everybody sees it."""

    id: str
    project_id: str
    user_id: str | None
    is_public: bool


@operation
def find(unit: Unit, filters: Mapping[str, Any], page: Page, *, everybodys: bool = False) -> Found:
    """Locks of the caller's project, or with *everybodys* of all, that pass *filters*."""
    scope = ALL if everybodys else Scope(unit.ctx.project_id or "")
    return locks.find(unit.session, scope, filters, page)


@operation
def get(unit: Unit, lock_id: str) -> Any:
    """One lock, whoever's it is: policy says who sees it; raises NotFound."""
    return locks.get(unit.session, lock_id)


@operation
def target(unit: Unit, resource_type: str, resource_id: str) -> Target:
    """What shall be locked, whoever's it is, if it is not out of the caller's sight.

    Raises NotFound.
    """
    share_id = resource_id
    if resource_type == ACCESS_RULE:
        share_id = access.get(unit.session, resource_id)[0].share_id
    share = shares.get(unit.session, ALL, share_id)
    if not unit.scope.sees(share.status):
        name = "Access rule" if resource_type == ACCESS_RULE else "Share"
        raise errors.NotFound(resource=name, id=resource_id)
    return Target(resource_id, share.project_id, share.user_id, share.is_public)


@operation
def create(
    unit: Unit, resource_type: str, resource_id: str, action: str, reason: str | None = None
) -> Any:
    """A new lock of the caller.

    Raises InvalidInput for an action that the type has not, and Conflict where it is too late
    for a lock, or a rule is hidden already.
    """
    _check_action(resource_type, action)
    _touch(unit.session, resource_type, resource_id, action)
    lock_id = place(unit.session, unit.ctx, resource_type, resource_id, action, reason)
    lock = locks.get(unit.session, unit.inserts(ResourceLock, lock_id))
    _tell(unit, "create", lock)
    return lock


def _check_action(resource_type: str, action: str) -> None:
    if action not in ACTIONS_OF[resource_type]:
        reason = f"A lock on a resource of the type {resource_type} cannot be against {action}."
        raise errors.InvalidInput(field="resource_action", reason=reason)


def _touch(session: Session, resource_type: str, resource_id: str, action: str) -> None:
    if resource_type == SHARE:
        if not locks.touch_share(session, resource_id):
            raise errors.Conflict(reason=f"Share {resource_id} is being removed.")
        return
    if not locks.touch_rule(session, resource_id):
        raise errors.Conflict(reason=f"Access rule {resource_id} is being removed.")
    if action == SHOW and locks.on(session, resource_id, SHOW):
        raise errors.Conflict(reason=f"The visibility of access rule {resource_id} is locked.")
    if action == DELETE and locks.states_of(session, resource_id) & LOCK_TOO_LATE:
        raise errors.Conflict(reason=f"Access rule {resource_id} is not in force.")


def place(
    session: Session,
    ctx: Context,
    resource_type: str,
    resource_id: str,
    action: str,
    reason: str | None,
    *,
    cause_id: str | None = None,
) -> str:
    """Insert a lock of the caller on what was touched before; its id."""
    return locks.add(
        session,
        user_id=ctx.user_id or "",
        project_id=ctx.project_id or "",
        lock_context=domain_locks.context_of(ctx),
        resource_type=resource_type,
        resource_id=resource_id,
        resource_action=action,
        lock_reason=reason,
        cause_id=cause_id,
    )


def _mine(unit: Unit, lock_id: str) -> Any:
    lock = locks.get(unit.session, lock_id)
    if not domain_locks.may_touch(unit.ctx, lock.lock_context):
        reason = (
            f"Lock {lock_id} was placed by {lock.lock_context} and is not the caller's to touch."
        )
        raise errors.Refused(reason=reason)
    return lock


@operation
def update(unit: Unit, lock_id: str, values: Mapping[str, Any]) -> Any:
    """Change the action or the reason of a lock.

    Raises Refused where it was placed by somebody of more weight, InvalidInput and Conflict as
    for a new lock.
    """
    lock = _mine(unit, lock_id)
    values = dict(values)
    action = values.get("resource_action")
    if action in {None, lock.resource_action}:
        values.pop("resource_action", None)
    else:
        _check_action(lock.resource_type, action)
        _touch(unit.session, lock.resource_type, lock.resource_id, action)
    if values:
        locks.update(unit.session, lock_id, values)
    changed = locks.get(unit.session, lock_id)
    _tell(unit, "update", changed)
    return changed


@operation
def delete(unit: Unit, lock_id: str) -> None:
    """Lift a lock; raises Refused where it was placed by somebody of more weight."""
    lock = _mine(unit, lock_id)
    locks.delete(unit.session, lock_id)
    _tell(unit, "delete", lock)


def _tell(unit: Unit, what: str, lock: Any) -> None:
    changes.tell(
        unit,
        f"resource_lock.{what}",
        project_id=lock.project_id,
        resource_lock_id=lock.id,
        resource_type=lock.resource_type,
        resource_id=lock.resource_id,
        resource_action=lock.resource_action,
        lock_context=lock.lock_context,
    )
