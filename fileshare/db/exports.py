"""Export locations: the paths under which instances are mounted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from fileshare.db.clock import NOW, now
from fileshare.db.models import ExportLocation, ShareInstance, new_id
from fileshare.db.session import Session, count

_COLUMNS = (
    ShareInstance.share_id,
    ShareInstance.replica_state,
    ExportLocation.id,
    ExportLocation.path,
    ExportLocation.preferred,
    ExportLocation.is_admin_only,
    ExportLocation.share_instance_id,
    ExportLocation.extra,
    ExportLocation.created_at,
    ExportLocation.updated_at,
)


def _select(where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return (
        sa.select(*_COLUMNS)
        .join(ExportLocation, ExportLocation.share_instance_id == ShareInstance.id)
        .where(where, ShareInstance.deleted_at.is_(None))
        .order_by(ShareInstance.created_at, ExportLocation.position, ExportLocation.id)
    )


def of_shares(session: Session, share_ids: Sequence[str]) -> dict[str, list[Any]]:
    """Export locations by share id, in the back end's order."""
    found: dict[str, list[Any]] = {}
    if share_ids:
        for row in session.execute(_select(ShareInstance.share_id.in_(share_ids))):
            found.setdefault(row.share_id, []).append(row)
    return found


def of_instances(session: Session, instance_ids: Sequence[str]) -> dict[str, list[Any]]:
    """Export locations by instance id, in the back end's order."""
    found: dict[str, list[Any]] = {}
    if instance_ids:
        for row in session.execute(_select(ShareInstance.id.in_(instance_ids))):
            found.setdefault(row.share_instance_id, []).append(row)
    return found


def hold(session: Session, export_id: str) -> None:
    """Let nobody else change an export location until the transaction ends."""
    session.execute(
        sa.select(ExportLocation.id).where(ExportLocation.id == export_id).with_for_update()
    )


def update(session: Session, export_id: str, values: Mapping[str, Any]) -> None:
    """Write columns of an export location."""
    count(
        session,
        sa.update(ExportLocation)
        .where(ExportLocation.id == export_id)
        .values(**values, updated_at=now()),
    )


def replace(
    session: Session,
    instance_id: str,
    exports: Sequence[Mapping[str, Any]],
    *,
    flags: bool = True,
) -> bool:
    """Make the export locations of an instance equal to *exports*; whether they were different.

    A path keeps its id and its metadata; with *flags*, also which paths are preferred and for
    administrators is made equal.
    """
    rows = session.execute(
        sa.select(
            ExportLocation.id,
            ExportLocation.path,
            ExportLocation.preferred,
            ExportLocation.is_admin_only,
        ).where(ExportLocation.share_instance_id == instance_id)
    )
    known = {row.path: row for row in rows}
    wanted = {export["path"]: place for place, export in enumerate(exports)}
    gone = [row.id for path, row in known.items() if path not in wanted]
    if gone:
        count(session, sa.delete(ExportLocation).where(ExportLocation.id.in_(gone)))
    changed = bool(gone)
    for path, place in wanted.items():
        export = exports[place]
        row = known.get(path)
        if row is None:
            add(session, instance_id, [{"position": place, **export}])
            changed = True
        elif flags and any(getattr(row, name) != export[name] for name in _FLAGS):
            kept = {name: export[name] for name in _FLAGS}
            update(session, row.id, {**kept, "position": place})
            changed = True
    return changed


_FLAGS = ("preferred", "is_admin_only")


def add(session: Session, instance_id: str, exports: Sequence[Mapping[str, Any]]) -> None:
    """New export locations of an instance.

    They count as updated when they are made: clients parse the moment without asking whether
    there is one.
    """
    if exports:
        session.connection().execute(
            _NEW,
            [
                {"id": new_id(), "share_instance_id": instance_id, "position": place, **export}
                for place, export in enumerate(exports)
            ],
        )


_NEW = sa.insert(ExportLocation).values(updated_at=NOW)
