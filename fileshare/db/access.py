"""Access rules, and their state on each instance."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import locks
from fileshare.db.clock import after, now
from fileshare.db.instances import is_on
from fileshare.db.models import (
    AccessMapping,
    AccessRule,
    ResourceLock,
    Share,
    ShareInstance,
)
from fileshare.db.session import Session, count, swap
from fileshare.db.transitions import rule_states
from fileshare.domain.statuses import TRANSITIONAL, RulesStatus, RuleState


@dataclass(frozen=True, slots=True)
class RuleOnInstance:
    """A rule and its state on one instance.

    *is_denied*: it goes, whatever its state; *is_hidden*: its client is a secret.
    """

    mapping_id: str
    id: str
    access_type: str
    access_to: str
    access_level: str
    access_key: str | None = field(repr=False)
    state: str
    is_denied: bool
    is_hidden: bool


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
    rule_states.queue(session, rule.id, instance_ids)
    return rule


def deny(session: Session, access_id: str) -> None:
    """Mark a rule as going and hold its row; raises NotFound."""
    statement = sa.update(AccessRule).where(AccessRule.id == access_id)
    if not swap(
        session, statement.values(denied_at=sa.func.coalesce(AccessRule.denied_at, now()))
    ):
        raise _absent(access_id)


def set_level(session: Session, access_id: str, level: str) -> None:
    """Write the wanted level of a rule and queue the update; raises Busy where it is going.

    Where the rule may not be in force yet it is queued to be applied.
    """
    swapped = swap(
        session,
        sa.update(AccessRule)
        .where(AccessRule.id == access_id, AccessRule.denied_at.is_(None))
        .values(access_level=level, updated_at=now()),
    )
    if not swapped:
        raise errors.Busy(resource="Access rule", id=access_id, reason="it is being removed")
    rule_states.queue_update(session, access_id)


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
    Share.project_id,
    Share.status.label("share_status"),
    Share.access_rules_status.label("share_rules_status"),
    ResourceLock.user_id.label("hidden_by_user"),
    ResourceLock.project_id.label("hidden_by_project"),
    AccessMapping.state,
)


def _select() -> sa.Select[Any]:
    return (
        sa.select(*_COLUMNS)
        .join(Share, Share.id == AccessRule.share_id)
        .outerjoin(AccessMapping, AccessMapping.access_id == AccessRule.id)
        .outerjoin(ResourceLock, locks.hides(AccessRule.id))
        .order_by(AccessRule.created_at, AccessRule.id)
    )


def find(
    session: Session, share_id: str, filters: Mapping[str, Any] | None = None
) -> Sequence[Any]:
    """Rows of (rule, state on one instance) of a share, oldest rule first."""
    statement = _select().where(AccessRule.share_id == share_id)
    for name, value in (filters or {}).items():
        statement = statement.where(getattr(AccessRule, name) == value)
    return session.execute(statement).all()


def get(session: Session, access_id: str) -> Sequence[Any]:
    """Rows of (rule, state on one instance) of one rule; raises NotFound."""
    rows = session.execute(_select().where(AccessRule.id == access_id)).all()
    if not rows:
        raise _absent(access_id)
    return rows


def _absent(access_id: str) -> errors.NotFound:
    return errors.NotFound(resource="Access rule", id=access_id)


def hold(session: Session, access_id: str) -> None:
    """Keep others from writing to a rule in this transaction; raises NotFound."""
    statement = sa.update(AccessRule).where(AccessRule.id == access_id)
    if not swap(session, statement.values(updated_at=now())):
        raise _absent(access_id)


def set_metadata(session: Session, access_id: str, metadata: Mapping[str, str]) -> None:
    """Write the whole metadata of a rule that the caller holds."""
    count(
        session,
        sa.update(AccessRule).where(AccessRule.id == access_id).values(extra=dict(metadata)),
    )


def select_on_instance(*columns: Any) -> sa.Select[Any]:
    """*columns* of the rules on the instance that the parameter ``instance`` names, by age.

    A row of ResourceLock is there where the rule's client is a secret.
    """
    return (
        sa.select(*columns)
        .select_from(AccessMapping)
        .join(AccessRule, AccessRule.id == AccessMapping.access_id)
        .outerjoin(ResourceLock, locks.hides(AccessRule.id))
        .where(AccessMapping.share_instance_id == sa.bindparam("instance"))
        .order_by(AccessRule.created_at, AccessRule.id)
    )


_ON_INSTANCE = select_on_instance(
    AccessMapping.id,
    AccessRule.id,
    AccessRule.access_type,
    AccessRule.access_to,
    AccessRule.access_level,
    AccessRule.access_key,
    AccessMapping.state,
    AccessRule.denied_at.is_not(None),
    ResourceLock.id.is_not(None),
)


def on_instance(session: Session, instance_id: str) -> list[RuleOnInstance]:
    """All rules of an instance with their states."""
    return [
        RuleOnInstance(*row) for row in session.execute(_ON_INSTANCE, {"instance": instance_id})
    ]


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
    state and the level that the driver was told of.  *failed* are texts by mapping id, *keys*
    secrets by rule id.
    """
    by_state: dict[tuple[str, str], list[str]] = {}
    for rule in applied:
        if rule.state != RuleState.ACTIVE:
            by_state.setdefault((rule.state, rule.access_level), []).append(rule.mapping_id)
    for (state, level), ids in by_state.items():
        rule_states.activate(session, ids, state, level)
    rule_states.fail(session, failed)
    for access_id, key in keys.items():
        swap(
            session,
            sa.update(AccessRule).where(AccessRule.id == access_id).values(access_key=key),
        )
    _remove(session, denied)


def _remove(session: Session, denied: Collection[RuleOnInstance]) -> None:
    """Forget rules on an instance; a rule goes with the last of its instances, and its locks."""
    if not denied:
        return
    # The caller holds the share: of two instances that let go the second one sees the first.
    ids = {rule.id for rule in denied}
    mapping_ids = [rule.mapping_id for rule in denied]
    count(session, sa.delete(AccessMapping).where(AccessMapping.id.in_(mapping_ids)))
    left = sa.exists(sa.select(AccessMapping.id).where(AccessMapping.access_id == AccessRule.id))
    count(
        session,
        sa.delete(AccessRule).where(AccessRule.id.in_(ids), ~left),
    )
    # Locks on its deletion were lifted when it was denied, and no lock was made since.
    locks.forget_rules(session, {rule.id for rule in denied if rule.is_hidden})


@dataclass(frozen=True, slots=True)
class Failing:
    """An instance whose rules are in error, and how often they were tried again in vain."""

    instance_id: str
    share_id: str
    project_id: str
    host: str
    failures: int


def failing(session: Session, backend: str, limit: int = 100) -> list[Failing]:
    """Instances on any pool of a back end whose rules should be tried again now."""
    rows = session.execute(
        sa.select(
            ShareInstance.id,
            ShareInstance.share_id,
            Share.project_id,
            sa.func.coalesce(ShareInstance.host, backend),
            sa.func.coalesce(ShareInstance.access_failures, 0),
        )
        .join(Share, Share.id == ShareInstance.share_id)
        .where(
            is_on(backend),
            *_waits(),
        )
        .limit(limit)
    )
    return [Failing(*row) for row in rows]


def _waits() -> tuple[sa.ColumnElement[bool], ...]:
    due = ShareInstance.access_retry_at
    return (
        ShareInstance.access_rules_status == RulesStatus.ERROR,
        ShareInstance.access_intent_id.is_(None),
        ShareInstance.deleted_at.is_(None),
        ShareInstance.status.not_in(TRANSITIONAL),
        sa.or_(due.is_(None), due <= now()),
    )


def retry(session: Session, instance_id: str, intent_id: str, wait: float) -> bool:
    """Let *intent_id* try the rules of an instance again, the next one *wait* seconds later.

    False where somebody else does already.
    """
    return swap(
        session,
        sa.update(ShareInstance)
        .where(ShareInstance.id == instance_id, *_waits())
        .values(
            access_intent_id=intent_id,
            access_failures=sa.func.coalesce(ShareInstance.access_failures, 0) + 1,
            access_retry_at=after(wait),
        ),
    )


def forgive(session: Session, instance_id: str) -> None:
    """Let the next try come soon: there is news about the rules of an instance."""
    count(
        session,
        sa.update(ShareInstance)
        .where(ShareInstance.id == instance_id)
        .values(access_failures=None, access_retry_at=None),
    )
