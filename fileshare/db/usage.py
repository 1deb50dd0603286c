"""What notifications and the usage audit say of shares and their rules, deleted ones included."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from fileshare.db import access
from fileshare.db.models import (
    AccessMapping,
    AccessRule,
    AvailabilityZone,
    ResourceLock,
    Share,
    ShareType,
)
from fileshare.db.session import Session, Sessions

BATCH = 500

_COLUMNS: tuple[Any, ...] = (
    Share.id,
    Share.user_id,
    Share.project_id,
    Share.snapshot_id,
    Share.share_group_id,
    Share.size,
    Share.display_name,
    Share.display_description,
    Share.share_proto,
    Share.is_public,
    Share.is_charged,
    Share.host,
    Share.status,
    Share.share_type_id,
    Share.created_at,
    Share.deleted_at,
    AvailabilityZone.name.label("availability_zone"),
    ShareType.name.label("share_type_name"),
)
_SHARES = (
    sa.select(*_COLUMNS)
    .outerjoin(AvailabilityZone, AvailabilityZone.id == Share.availability_zone_id)
    .outerjoin(ShareType, ShareType.id == Share.share_type_id)
)
_SHARE = _SHARES.where(Share.id == sa.bindparam("share"))


def of_share(session: Session, share_id: str) -> Any | None:
    """The facts of one share as they are now; None where it was purged."""
    return session.execute(_SHARE, {"share": share_id}).one_or_none()


def of_shares(session: Session, share_ids: Collection[str]) -> Sequence[Any]:
    """The facts of several shares."""
    return session.execute(_SHARES.where(Share.id.in_(share_ids))).all()


def between(sessions: Sessions, begin: dt.datetime, end: dt.datetime) -> Iterator[Any]:
    """The facts of every share that existed in [*begin*, *end*), in the order of their ids.

    They are read in batches, each in a transaction of its own: nothing waits for the reader.
    """
    last = ""
    while rows := sessions.run(lambda session: _batch(session, begin, end, last)):  # noqa: B023
        yield from rows
        last = rows[-1].id


def _batch(session: Session, begin: dt.datetime, end: dt.datetime, after_id: str) -> Sequence[Any]:
    existed = (
        Share.created_at < end,
        sa.or_(Share.deleted_at.is_(None), Share.deleted_at > begin),
    )
    statement = _SHARES.where(Share.id > after_id, *existed).order_by(Share.id).limit(BATCH)
    return session.execute(statement).all()


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """A rule on one instance; *is_hidden*: its client is a secret."""

    mapping_id: str
    share_instance_id: str
    access_id: str
    access_type: str
    access_to: str
    access_level: str
    state: str
    error: str | None
    is_denied: bool
    is_hidden: bool


_RULES = access.select_on_instance(
    AccessMapping.id,
    AccessMapping.share_instance_id,
    AccessRule.id,
    AccessRule.access_type,
    AccessRule.access_to,
    AccessRule.access_level,
    AccessMapping.state,
    AccessMapping.error,
    AccessRule.denied_at.is_not(None),
    ResourceLock.id.is_not(None),
)


def of_rules(session: Session, instance_id: str) -> dict[str, RuleFacts]:
    """The rules of an instance by the id of their mapping."""
    rows: Any = session.execute(_RULES, {"instance": instance_id})
    return {row[0]: RuleFacts(*row) for row in rows}
