"""Access rules, and their state on each instance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db.clock import now
from fileshare.db.models import AccessMapping, AccessRule, new_id
from fileshare.db.session import Session, count, swap
from fileshare.domain.statuses import RuleState

GONE = (RuleState.QUEUED_TO_DENY, RuleState.DENYING)
PENDING = (
    RuleState.QUEUED_TO_APPLY,
    RuleState.QUEUED_TO_UPDATE,
    RuleState.APPLYING,
    RuleState.UPDATING,
)


@dataclass(frozen=True, slots=True)
class RuleOnInstance:
    """A rule and its state on one instance."""

    mapping_id: str
    id: str
    access_type: str
    access_to: str
    access_level: str
    access_key: str | None
    state: str


def add(session: Session, rule: AccessRule, instance_ids: Collection[str]) -> AccessRule:
    """A new rule, queued on each instance; raises InvalidInput where the same one exists."""
    try:
        session.add(rule)
        session.flush()
    except db_exception.DBDuplicateEntry:
        raise errors.InvalidInput(
            field="access_to",
            reason=f"Share access {rule.access_type}:{rule.access_to} exists.",
        ) from None
    session.execute(
        sa.insert(AccessMapping),
        [
            {
                "id": new_id(),
                "access_id": rule.id,
                "share_instance_id": instance_id,
                "state": RuleState.QUEUED_TO_APPLY,
            }
            for instance_id in instance_ids
        ],
    )
    return rule


def queue(session: Session, access_id: str, state: str) -> None:
    """Queue a change of a rule on all instances; a denial that waits is not undone."""
    keep = sa.false() if state in GONE else AccessMapping.state.in_(GONE)
    count(
        session,
        sa.update(AccessMapping)
        .where(AccessMapping.access_id == access_id, ~keep)
        .values(state=state, error=None),
    )


def set_level(session: Session, access_id: str, level: str) -> None:
    """Write the wanted level of a rule; the caller queues the update."""
    count(
        session,
        sa.update(AccessRule)
        .where(AccessRule.id == access_id)
        .values(access_level=level, updated_at=now()),
    )


_COLUMNS = (
    AccessRule.id,
    AccessRule.share_id,
    AccessRule.access_type,
    AccessRule.access_to,
    AccessRule.access_level,
    AccessRule.access_key,
    AccessRule.extra.label("metadata"),
    AccessRule.created_at,
    AccessRule.updated_at,
)


def find(
    session: Session, share_id: str, filters: Mapping[str, Any] | None = None
) -> Sequence[Any]:
    """Rows of (rule, state on one instance) of a share, oldest rule first."""
    statement = (
        sa.select(*_COLUMNS, AccessMapping.state)
        .outerjoin(AccessMapping, AccessMapping.access_id == AccessRule.id)
        .where(AccessRule.share_id == share_id)
        .order_by(AccessRule.created_at, AccessRule.id)
    )
    for name, value in (filters or {}).items():
        statement = statement.where(getattr(AccessRule, name) == value)
    return session.execute(statement).all()


def get(session: Session, access_id: str) -> Sequence[Any]:
    """Rows of (rule, state on one instance) of one rule; raises NotFound."""
    rows = session.execute(
        sa.select(*_COLUMNS, AccessMapping.state)
        .outerjoin(AccessMapping, AccessMapping.access_id == AccessRule.id)
        .where(AccessRule.id == access_id)
    ).all()
    if not rows:
        raise errors.NotFound(resource="Access rule", id=access_id)
    return rows


def set_metadata(session: Session, access_id: str, metadata: Mapping[str, str]) -> None:
    """Write the whole metadata of a rule."""
    count(
        session,
        sa.update(AccessRule)
        .where(AccessRule.id == access_id)
        .values(extra=dict(metadata), updated_at=now()),
    )


def on_instance(session: Session, instance_id: str) -> list[RuleOnInstance]:
    """All rules of an instance with their states."""
    rows = session.execute(
        sa.select(
            AccessMapping.id,
            AccessRule.id,
            AccessRule.access_type,
            AccessRule.access_to,
            AccessRule.access_level,
            AccessRule.access_key,
            AccessMapping.state,
        )
        .join(AccessRule, AccessRule.id == AccessMapping.access_id)
        .where(AccessMapping.share_instance_id == instance_id)
        .order_by(AccessRule.created_at, AccessRule.id)
    )
    return [RuleOnInstance(*row) for row in rows]


def record(
    session: Session,
    *,
    applied: Collection[RuleOnInstance],
    denied: Collection[RuleOnInstance],
    failed: Mapping[str, str],
    keys: Mapping[str, str],
) -> None:
    """Write what a driver made of the rules of one instance.

    A rule that was queued for something else meanwhile keeps that state: each write expects the
    state that the driver was told of.  *failed* are texts by mapping id, *keys* secrets by rule
    id.
    """
    by_state: dict[str, list[str]] = {}
    for rule in applied:
        if rule.state != RuleState.ACTIVE:
            by_state.setdefault(rule.state, []).append(rule.mapping_id)
    for state, ids in by_state.items():
        _move(session, ids, state, RuleState.ACTIVE)
    for mapping_id, text in failed.items():
        count(
            session,
            sa.update(AccessMapping)
            .where(AccessMapping.id == mapping_id, AccessMapping.state.not_in(GONE))
            .values(state=RuleState.ERROR, error=text),
        )
    for access_id, key in keys.items():
        swap(
            session,
            sa.update(AccessRule).where(AccessRule.id == access_id).values(access_key=key),
        )
    _remove(session, denied)


def _move(session: Session, mapping_ids: Sequence[str], old: str, new: str) -> None:
    count(
        session,
        sa.update(AccessMapping)
        .where(AccessMapping.id.in_(mapping_ids), AccessMapping.state == old)
        .values(state=new, error=None),
    )


def _remove(session: Session, denied: Collection[RuleOnInstance]) -> None:
    if not denied:
        return
    mapping_ids = [rule.mapping_id for rule in denied]
    count(session, sa.delete(AccessMapping).where(AccessMapping.id.in_(mapping_ids)))
    left = sa.exists(sa.select(AccessMapping.id).where(AccessMapping.access_id == AccessRule.id))
    count(
        session,
        sa.delete(AccessRule).where(AccessRule.id.in_({rule.id for rule in denied}), ~left),
    )


def fail_queued(session: Session, instance_id: str, text: str) -> None:
    """Put every rule of an instance that waits for the back end in error."""
    count(
        session,
        sa.update(AccessMapping)
        .where(
            AccessMapping.share_instance_id == instance_id,
            AccessMapping.state.in_((*PENDING, *GONE)),
        )
        .values(state=RuleState.ERROR, error=text),
    )
