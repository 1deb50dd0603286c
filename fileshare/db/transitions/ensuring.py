"""Statuses of shares while their back end ensures them, and of those that it lost."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from fileshare.db import guards
from fileshare.db.chores import Candidate
from fileshare.db.clock import now
from fileshare.db.instances import is_on
from fileshare.db.models import Intent, Share, ShareInstance
from fileshare.db.session import Session, count, swap
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import Status

_ENSURE = SHARE["ensure"]


def release(session: Session, intent: Intent) -> None:
    """Let go of all shares that an intent holds to ensure them."""
    here = is_on(intent.destination.partition(".")[2])
    held = session.scalars(
        sa.select(Share.id)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .where(here, ShareInstance.status == _ENSURE.during, Share.intent_id == intent.id)
        .distinct()
    ).all()
    for share_id in held:
        finish(session, intent.id, share_id, _ENSURE.done)


def take(session: Session, intent_id: str, wanted: Sequence[Candidate]) -> None:
    """Hold those shares of *wanted* for *intent_id* that are free, and show them as ensuring."""
    share_ids = [item.share_id for item in wanted]
    if not share_ids:
        return
    count(
        session,
        sa.update(Share)
        .where(
            Share.id.in_(share_ids),
            Share.status.in_(_ENSURE.sources),
            Share.intent_id.is_(None),
            Share.deleted_at.is_(None),
        )
        .values(status=_ENSURE.during, intent_id=intent_id, updated_at=now()),
    )
    mine = sa.select(Share.id).where(Share.id.in_(share_ids), Share.intent_id == intent_id)
    count(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.id.in_([item.id for item in wanted]),
            ShareInstance.share_id.in_(mine),
            ShareInstance.status.in_(_ENSURE.sources),
        )
        .values(status=_ENSURE.during, updated_at=now()),
    )


def finish(session: Session, intent_id: str, share_id: str, status: str) -> bool:
    """Settle a share that *intent_id* holds in *status*; False where it holds it no more."""
    mine = swap(
        session,
        sa.update(Share)
        .where(Share.id == share_id, Share.intent_id == intent_id)
        .values(status=status, intent_id=None, updated_at=now()),
    )
    if mine:
        _set_instances(session, share_id, _ENSURE.during, status)
    return mine


def lose(session: Session, share_id: str) -> bool:
    """Put a share that nothing works on in error, because its back end lost it."""
    lost = swap(
        session,
        guards.share(share_id, Share.status == Status.AVAILABLE, Share.intent_id.is_(None)).values(
            status=_ENSURE.failed, updated_at=now()
        ),
    )
    if lost:
        _set_instances(session, share_id, Status.AVAILABLE, _ENSURE.failed)
    return lost


def _set_instances(session: Session, share_id: str, old: str, new: str) -> None:
    changed = guards.instances(share_id, ShareInstance.status == old)
    count(session, changed.values(status=new, updated_at=now()))
