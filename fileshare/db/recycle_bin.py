"""The recycle bin: shares that their users deleted, and can have back for a while."""

from __future__ import annotations

import sqlalchemy as sa

from fileshare import errors
from fileshare.db import guards, locks, transitions
from fileshare.db.clock import after, now
from fileshare.db.models import Share
from fileshare.db.query import Scope
from fileshare.db.session import Session, swap
from fileshare.db.transitions import Held
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import Status

_GOING = (
    Status.DELETING,
    Status.ERROR_DELETING,
    Status.DEFERRED_DELETING,
    Status.ERROR_DEFERRED_DELETING,
)


def put(session: Session, share_id: str, scope: Scope, seconds: float) -> Held:
    """Put a settled share into the bin for *seconds*, then read it.

    Raises NotFound, Forbidden, Refused for one that is there, WrongStatus, and Locked.
    """
    verb = SHARE["delete"]
    swapped = swap(
        session,
        guards.share_in_use(
            share_id, Share.status.in_(verb.sources), Share.intent_id.is_(None), scope=scope
        ).values(
            is_soft_deleted=True, scheduled_to_be_deleted_at=after(seconds), updated_at=now()
        ),
    )
    if not swapped:
        share = transitions.own(session, share_id, scope, rule="share:soft_delete")
        if share.is_soft_deleted:
            raise transitions.in_the_bin(share_id)
        raise transitions.wrong_status(share, verb.sources, "soft_delete")
    locks.refuse_removal(session, share_id)
    return transitions.read(session, share_id)


def take_out(session: Session, share_id: str, scope: Scope) -> bool:
    """Take a share out of the bin; False where it was not there.

    Raises NotFound, Forbidden, and WrongStatus for one that is being removed.
    """
    swapped = swap(
        session,
        guards.share(
            share_id, Share.is_soft_deleted.is_(True), Share.status.not_in(_GOING), scope=scope
        ).values(is_soft_deleted=False, scheduled_to_be_deleted_at=None, updated_at=now()),
    )
    if swapped:
        return True
    share = transitions.own(session, share_id, scope, rule="share:restore")
    if not share.is_soft_deleted:
        return False
    raise errors.WrongStatus(
        resource="Share",
        id=share_id,
        status=share.status,
        sources="none of " + ", ".join(_GOING),
        verb="restore",
    )


def _is_over() -> sa.ColumnElement[bool]:
    return sa.and_(Share.is_soft_deleted.is_(True), Share.scheduled_to_be_deleted_at <= now())


def is_expired(session: Session, share_id: str) -> bool:
    """Whether the time of a share in the bin is over; asked of a share that was taken."""
    found = session.scalar(sa.select(Share.id).where(Share.id == share_id, _is_over()))
    return found is not None


def expired(session: Session, limit: int = 100, after_id: str = "") -> list[str]:
    """Ids of shares whose time in the bin is over, and that nothing works on; by id."""
    over = sa.and_(_is_over(), Share.status != Status.ERROR_DEFERRED_DELETING)
    return _free(session, over, limit, after_id)


def unfinished(session: Session, limit: int = 100, after_id: str = "") -> list[str]:
    """Ids of shares whose deferred deletion failed, and that nothing works on; by id."""
    return _free(session, Share.status == Status.ERROR_DEFERRED_DELETING, limit, after_id)


def _free(session: Session, where: sa.ColumnElement[bool], limit: int, after_id: str) -> list[str]:
    return list(
        session.scalars(
            sa.select(Share.id)
            .where(
                where,
                Share.deleted_at.is_(None),
                Share.intent_id.is_(None),
                Share.id > after_id,
            )
            .order_by(Share.id)
            .limit(limit)
        )
    )
