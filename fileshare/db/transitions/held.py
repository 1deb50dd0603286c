"""Shares as verbs hold them, and what keeps a verb from taking one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from fileshare import errors
from fileshare.db.models import Share, ShareInstance
from fileshare.db.query import Scope
from fileshare.db.session import Session


@dataclass(frozen=True, slots=True)
class Held:
    """A share that an intent holds, and its instances."""

    share: Share
    instances: tuple[ShareInstance, ...]

    @property
    def instance(self) -> ShareInstance:
        return self.instances[0]


def read(session: Session, share_id: str) -> Held:
    rows = session.execute(
        sa.select(Share, ShareInstance)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .where(Share.id == share_id, ShareInstance.deleted_at.is_(None))
        .order_by(ShareInstance.created_at, ShareInstance.id)
        .execution_options(populate_existing=True)
    ).all()
    if not rows:
        raise errors.NotFound(resource="Share", id=share_id)
    return Held(rows[0][0], tuple(instance for _, instance in rows))


def hold(session: Session, share_id: str) -> None:
    """Lock the share's row before its instances', as every verb does: two never cross."""
    row = sa.select(Share.id).where(Share.id == share_id)
    session.execute(row.with_for_update(key_share=True))


def own(session: Session, share_id: str, scope: Scope, *, rule: str) -> Share:
    """A share of *scope*; raises NotFound, and Forbidden for a public one of somebody else."""
    share = session.get(Share, share_id, populate_existing=True)
    if share is None or share.deleted_at is not None:
        raise errors.NotFound(resource="Share", id=share_id)
    refuse_foreign(share, scope, rule=rule)
    return share


def refuse_foreign(share: Share, scope: Scope, *, rule: str) -> None:
    """Raise NotFound for a share of another project, Forbidden where it is public.

    One that is out of sight is nobody's but an administrator's.
    """
    if scope.sees(share.status):
        if scope.project_id in {None, share.project_id}:
            return
        if share.is_public:
            raise errors.Forbidden(rule=rule)
    raise errors.NotFound(resource="Share", id=share.id)


def wrong_status(share: Share, sources: Iterable[str], verb: str) -> errors.WrongStatus:
    return errors.WrongStatus(
        resource="Share",
        id=share.id,
        status=share.status,
        sources=", ".join(sorted(sources)),
        verb=verb,
    )


def in_the_bin(share_id: str) -> errors.Refused:
    return errors.Refused(reason=f"Share {share_id} has been soft deleted.")
