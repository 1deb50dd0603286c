"""How guarded writes begin: UPDATEs that meet a row only where it is there to be changed."""

from __future__ import annotations

import sqlalchemy as sa

from fileshare.db.models import Share, ShareInstance
from fileshare.db.query import ALL, Scope


def share(share_id: str, *expected: sa.ColumnElement[bool], scope: Scope = ALL) -> sa.Update:
    """An UPDATE of the share where it is not deleted, is of *scope*, and is as *expected*."""
    return sa.update(Share).where(
        Share.id == share_id,
        Share.deleted_at.is_(None),
        scope.clause(Share.project_id),
        scope.in_sight(Share.status),
        *expected,
    )


def share_in_use(
    share_id: str, *expected: sa.ColumnElement[bool], scope: Scope = ALL
) -> sa.Update:
    """The same where it is not in the recycle bin, either."""
    return share(share_id, Share.is_soft_deleted.is_(False), *expected, scope=scope)


def instance(instance_id: str, *expected: sa.ColumnElement[bool]) -> sa.Update:
    """An UPDATE of the instance where it is not deleted, and is as *expected*."""
    return sa.update(ShareInstance).where(
        ShareInstance.id == instance_id, ShareInstance.deleted_at.is_(None), *expected
    )


def instances(share_id: str, *expected: sa.ColumnElement[bool]) -> sa.Update:
    """An UPDATE of those instances of a share that are not deleted, and are as *expected*."""
    return sa.update(ShareInstance).where(
        ShareInstance.share_id == share_id, ShareInstance.deleted_at.is_(None), *expected
    )
