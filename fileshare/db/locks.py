"""Resource locks.

A lock is made by touching what it locks: an update of the parent's row, in the same transaction.
Whoever is about to remove the parent updates that row too, and looks for locks afterwards with
a locking read.  So of the two one comes first, and the other sees what it did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa

from fileshare import errors
from fileshare.db import guards
from fileshare.db.clock import now
from fileshare.db.models import AccessMapping, AccessRule, ResourceLock, Share, new_id
from fileshare.db.query import Scope, like, paginate
from fileshare.db.session import Session, count, swap
from fileshare.domain.listing import Page
from fileshare.domain.locks import DELETE, SHOW, UNLOCKABLE

COLUMNS: tuple[Any, ...] = tuple(ResourceLock.__table__.columns)

SORT_KEYS: Mapping[str, Any] = {
    name: getattr(ResourceLock, name)
    for name in (
        "id",
        "user_id",
        "project_id",
        "lock_context",
        "resource_type",
        "resource_id",
        "resource_action",
        "lock_reason",
        "created_at",
        "updated_at",
    )
}

_FILTERS: Mapping[str, Callable[[Any], Any]] = {
    "user_id": lambda value: ResourceLock.user_id == value,
    "project_id": lambda value: ResourceLock.project_id == value,
    "resource_id": lambda value: ResourceLock.resource_id == value,
    "resource_action": lambda value: ResourceLock.resource_action == value,
    "resource_type": lambda value: ResourceLock.resource_type == value,
    "lock_context": lambda value: ResourceLock.lock_context == value,
    "lock_reason": lambda value: ResourceLock.lock_reason == value,
    "created_since": lambda value: ResourceLock.created_at >= value,
    "created_before": lambda value: ResourceLock.created_at <= value,
}


@dataclass(frozen=True, slots=True)
class Found:
    """One page of locks; *total* is the number on all pages, where it was asked for."""

    rows: Sequence[Any]
    total: int | None = None


def _filter(name: str, value: Any) -> sa.ColumnElement[bool]:
    if name == "lock_reason~":
        return like(ResourceLock.lock_reason, value)
    return cast("sa.ColumnElement[bool]", _FILTERS[name](value))


def find(session: Session, scope: Scope, filters: Mapping[str, Any], page: Page) -> Found:
    """Locks of *scope* that pass *filters*; raises InvalidInput for an unknown sort key."""
    clauses = [
        scope.clause(ResourceLock.project_id),
        *(_filter(name, value) for name, value in filters.items()),
    ]
    statement = paginate(sa.select(*COLUMNS).where(*clauses), page, SORT_KEYS, ResourceLock.id)
    rows = session.execute(statement).all()
    if not page.with_count:
        return Found(rows)
    counted = sa.select(sa.func.count()).select_from(ResourceLock).where(*clauses)
    return Found(rows, session.scalars(counted).one())


def get(session: Session, lock_id: str) -> Any:
    """One lock, whoever's it is; raises NotFound."""
    row = session.execute(sa.select(*COLUMNS).where(ResourceLock.id == lock_id)).one_or_none()
    if row is None:
        raise errors.NotFound(resource="Resource lock", id=lock_id)
    return row


def add(session: Session, **columns: Any) -> str:
    """A new lock on what the caller has touched; its id."""
    lock_id = new_id()
    session.execute(sa.insert(ResourceLock).values(id=lock_id, **columns))
    return lock_id


def update(session: Session, lock_id: str, values: Mapping[str, Any]) -> None:
    """Change a lock; raises NotFound."""
    statement = sa.update(ResourceLock).where(ResourceLock.id == lock_id)
    if not swap(session, statement.values(**values, updated_at=now())):
        raise errors.NotFound(resource="Resource lock", id=lock_id)


def delete(session: Session, lock_id: str) -> None:
    """Lift a lock; raises NotFound."""
    if not swap(session, sa.delete(ResourceLock).where(ResourceLock.id == lock_id)):
        raise errors.NotFound(resource="Resource lock", id=lock_id)


def lift(session: Session, lock_ids: Collection[str]) -> None:
    """Lift those of *lock_ids* that are still there."""
    if lock_ids:
        count(session, sa.delete(ResourceLock).where(ResourceLock.id.in_(lock_ids)))


def touch_share(session: Session, share_id: str) -> bool:
    """Hold the row of a share that a lock is made for; False where it is on its way out."""
    return swap(
        session,
        guards.share_in_use(share_id, Share.status.not_in(UNLOCKABLE)).values(id=Share.id),
    )


def touch_rule(session: Session, rule_id: str) -> bool:
    """Hold the row of a rule that a lock is made for; False where it is on its way out."""
    return swap(
        session,
        sa.update(AccessRule)
        .where(AccessRule.id == rule_id, AccessRule.denied_at.is_(None))
        .values(id=AccessRule.id),
    )


def states_of(session: Session, rule_id: str) -> set[str]:
    """The states of a rule on its instances."""
    return set(
        session.scalars(sa.select(AccessMapping.state).where(AccessMapping.access_id == rule_id))
    )


def on(session: Session, resource_id: str, action: str) -> Sequence[Any]:
    """Locks on a resource that the caller has touched."""
    return session.execute(
        sa.select(*COLUMNS)
        .where(ResourceLock.resource_id == resource_id, ResourceLock.resource_action == action)
        .with_for_update()
    ).all()


def on_rule_or_caused(session: Session, rule_id: str) -> Sequence[Any]:
    """Locks on the deletion of a rule that the caller has touched, and of shares for its sake."""
    return session.execute(
        sa.select(*COLUMNS)
        .where(
            sa.or_(
                sa.and_(
                    ResourceLock.resource_id == rule_id,
                    ResourceLock.resource_action == DELETE,
                ),
                ResourceLock.cause_id == rule_id,
            )
        )
        .with_for_update()
    ).all()


def refuse_removal(session: Session, share_id: str) -> None:
    """A guard: raises Locked where somebody keeps the share that the caller has taken."""
    found = session.scalars(
        sa.select(ResourceLock.id)
        .where(ResourceLock.resource_id == share_id, ResourceLock.resource_action == DELETE)
        .limit(1)
        .with_for_update()
    ).first()
    if found is not None:
        raise errors.Locked(
            reason=f"Share {share_id} is locked. The lock (such as {found}) must be lifted first."
        )


def forget_rules(session: Session, rule_ids: Collection[str]) -> None:
    """Lift the locks on those of *rule_ids* that are gone."""
    if rule_ids:
        there = sa.exists(
            sa.select(AccessRule.id).where(AccessRule.id == ResourceLock.resource_id)
        )
        count(
            session,
            sa.delete(ResourceLock).where(ResourceLock.resource_id.in_(rule_ids), ~there),
        )


def forget_share(session: Session, share_id: str) -> None:
    """Lift the locks on a share that is gone, and on its rules; before the rules go."""
    # Looked for first: a deletion by such a condition reads, and locks, the whole table on MySQL.
    of_share = sa.select(ResourceLock.id).where(ResourceLock.resource_id == share_id)
    of_rules = (
        sa.select(ResourceLock.id)
        .join(AccessRule, AccessRule.id == ResourceLock.resource_id)
        .where(AccessRule.share_id == share_id)
    )
    lift(session, session.scalars(sa.union_all(of_share, of_rules)).all())


def hides(rule_id: Any, lock: Any = ResourceLock) -> sa.ColumnElement[bool]:
    """The condition of a join from rules to the one lock that hides each."""
    return sa.and_(lock.resource_id == rule_id, lock.resource_action == SHOW)
