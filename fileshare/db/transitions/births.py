"""How shares come, and how they go where no back end has to remove anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import guards
from fileshare.db.clock import now
from fileshare.db.models import Share, ShareInstance
from fileshare.db.session import Session, count
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import Status

_SHARES = cast("sa.Table", Share.__table__)
_INSTANCES = cast("sa.Table", ShareInstance.__table__)


def _is_plain(column: sa.Column[Any]) -> bool:
    return column.default is not None and column.default.is_scalar


def birth(
    session: Session, share: Mapping[str, Any], instance: Mapping[str, Any], intent_id: str
) -> Mapping[str, Any]:
    """Insert a share that is being created, held by its intent; returns its columns."""
    status = SHARE["create"].during
    columns = {**share, "status": status, "intent_id": intent_id}
    try:
        created_at = _insert_share(session, columns)
    except db_exception.DBReferenceError:
        # Its foreign key keeps a type from being deleted once the share is there.
        raise errors.NotFound(resource="Share type", id=share["share_type_id"]) from None
    session.connection().execute(_NEW_INSTANCE, {**instance, "status": status})
    return {**_UNSET, **columns, "created_at": created_at}


# What the columns of a share hold where nothing is said.
_UNSET: Mapping[str, Any] = {
    column.name: getattr(column.default, "arg", None) if _is_plain(column) else None
    for column in _SHARES.c
}
_NEW_SHARE = sa.insert(_SHARES)
_NEW_SHARE_RETURNING = _NEW_SHARE.returning(_SHARES.c.created_at)
_NEW_INSTANCE = sa.insert(_INSTANCES)
_BORN_AT = sa.select(_SHARES.c.created_at).where(_SHARES.c.id == sa.bindparam("share"))


def _insert_share(session: Session, columns: Mapping[str, Any]) -> Any:
    connection = session.connection()
    if connection.dialect.insert_returning:
        return connection.execute(_NEW_SHARE_RETURNING, columns).scalar_one()
    connection.execute(_NEW_SHARE, columns)
    return connection.execute(_BORN_AT, {"share": columns["id"]}).scalar_one()


def vanish(session: Session, share_id: str) -> None:
    """Delete a share that no back end holds; the caller has begun its deletion."""
    gone = {"status": Status.DELETED, "deleted_at": now(), "updated_at": now()}
    count(session, sa.update(Share).where(Share.id == share_id).values(**gone, intent_id=None))
    count(session, guards.instances(share_id).values(**gone))


def mark_charged(session: Session, share_id: str, *, charged: bool = True) -> None:
    """Note that the quota of the share is booked (again), or no more."""
    count(session, sa.update(Share).where(Share.id == share_id).values(is_charged=charged))
