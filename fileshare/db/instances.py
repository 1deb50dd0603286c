"""Share instances: where they are, and what operators see of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from fileshare import errors
from fileshare.db.models import AvailabilityZone, ExportLocation, Share, ShareInstance
from fileshare.db.query import Scope, paginate
from fileshare.db.session import Session
from fileshare.domain.listing import Page

COLUMNS: tuple[Any, ...] = (
    *(
        column
        for column in ShareInstance.__table__.columns
        if column.name not in {"access_intent_id", "access_version", "claimed_gb"}
    ),
    AvailabilityZone.name.label("availability_zone"),
)
"""What views of instances show."""


def is_on(backend: str) -> sa.ColumnElement[bool]:
    """Whether an instance is on any pool of *backend*; compared exactly, on every database."""
    prefix = f"{backend}#"
    # LIKE finds an index, but takes upper and lower case for the same on SQLite.
    like = ShareInstance.host.startswith(prefix, autoescape=True)
    same = sa.func.substr(ShareInstance.host, 1, len(prefix)) == prefix
    return sa.or_(ShareInstance.host == backend, sa.and_(like, same))


def _unsorted(*clauses: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(*COLUMNS)
        .outerjoin(AvailabilityZone, AvailabilityZone.id == ShareInstance.availability_zone_id)
        .where(ShareInstance.deleted_at.is_(None), *clauses)
    )


def _select(*clauses: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return _unsorted(*clauses).order_by(ShareInstance.created_at, ShareInstance.id)


def _with_export(where: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.exists(
        sa.select(ExportLocation.id).where(
            ExportLocation.share_instance_id == ShareInstance.id, where
        )
    )


def _in_the_bin(wanted: bool) -> sa.ColumnElement[bool]:
    return sa.exists(
        sa.select(Share.id).where(
            Share.id == ShareInstance.share_id, Share.is_soft_deleted.is_(wanted)
        )
    )


_FILTERS: Mapping[str, Any] = {
    "host": lambda value: ShareInstance.host == value,
    "status": lambda value: ShareInstance.status == value,
    "share_server_id": lambda value: ShareInstance.share_server_id == value,
    "export_location_id": lambda value: _with_export(ExportLocation.id == value),
    "export_location_path": lambda value: _with_export(ExportLocation.path == value),
    "is_soft_deleted": _in_the_bin,
}


def find(session: Session, filters: Mapping[str, Any]) -> Sequence[Any]:
    """The instances of all projects that pass *filters*, oldest first."""
    return session.execute(
        _select(*(_FILTERS[name](value) for name, value in filters.items()))
    ).all()


def of_share(session: Session, share_id: str) -> Sequence[Any]:
    """The instances of one share, oldest first."""
    return session.execute(_select(ShareInstance.share_id == share_id)).all()


def get(session: Session, instance_id: str) -> Any:
    """One instance; raises NotFound."""
    row = session.execute(_select(ShareInstance.id == instance_id)).one_or_none()
    if row is None:
        raise errors.NotFound(resource="Share instance", id=instance_id)
    return row


def _replicas(scope: Scope, *clauses: sa.ColumnElement[bool]) -> sa.Select[Any]:
    mine = sa.exists(
        sa.select(Share.id).where(
            Share.id == ShareInstance.share_id,
            scope.clause(Share.project_id),
            scope.in_sight(Share.status),
        )
    )
    return _unsorted(ShareInstance.replica_state.is_not(None), mine, *clauses)


def replicas(session: Session, scope: Scope, share_id: str | None, page: Page) -> Sequence[Any]:
    """The instances that are replicas, of one share or of all that the caller may see."""
    of_share = [ShareInstance.share_id == share_id] if share_id else []
    keys = {"created_at": ShareInstance.created_at}
    found = paginate(_replicas(scope, *of_share), page, keys, ShareInstance.id)
    return session.execute(found).all()


def replica(session: Session, scope: Scope, replica_id: str) -> Any:
    """One replica that the caller may see; raises NotFound."""
    row = session.execute(_replicas(scope, ShareInstance.id == replica_id)).one_or_none()
    if row is None:
        raise errors.NotFound(resource="Share replica", id=replica_id)
    return row
