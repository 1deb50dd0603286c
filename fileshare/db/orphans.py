"""Rows whose owner is gone: none should be, and an operator can have them found and removed.

What a foreign key holds together is not looked at; but shares and instances stay as rows after
their deletion, and some things are named by no key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sqlalchemy as sa

from fileshare.db.intents import UNSETTLED
from fileshare.db.models import (
    AccessMapping,
    AccessRule,
    ExportLocation,
    Intent,
    PoolReport,
    QuotaLimit,
    ResourceLock,
    Service,
    Share,
    ShareInstance,
    ShareType,
)
from fileshare.db.query import chunks
from fileshare.db.session import Session, count
from fileshare.domain.quotas import type_scope


class Orphan(NamedTuple):
    """A row that belongs to nothing: its table, what it is known by, and what is missing."""

    table: str
    id: str
    missing: str
    removable: bool


class _Kind(NamedTuple):
    """Rows of *model* of which *alone* is true; work or a verb ends what is not *removable*."""

    model: Any
    key: Any
    alone: sa.ColumnElement[bool]
    missing: str
    removable: bool = True


def _none(id_column: Any, value: Any, *clauses: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return ~sa.exists(sa.select(sa.literal(1)).where(id_column == value, *clauses))


def _no_share(id: Any) -> sa.ColumnElement[bool]:
    return _none(Share.id, id, Share.deleted_at.is_(None))


def _no_instance(id: Any) -> sa.ColumnElement[bool]:
    return _none(ShareInstance.id, id, ShareInstance.deleted_at.is_(None))


# Children before those whose children they are.
_KINDS = (
    _Kind(
        ResourceLock,
        ResourceLock.id,
        sa.and_(
            _no_share(ResourceLock.resource_id), _none(AccessRule.id, ResourceLock.resource_id)
        ),
        "what it locks",
    ),
    _Kind(
        ExportLocation,
        ExportLocation.id,
        _no_instance(ExportLocation.share_instance_id),
        "its instance",
    ),
    _Kind(
        AccessMapping,
        AccessMapping.id,
        sa.or_(
            _no_instance(AccessMapping.share_instance_id),
            _none(AccessRule.id, AccessMapping.access_id, ~_no_share(AccessRule.share_id)),
        ),
        "its instance, or the share of its rule,",
    ),
    _Kind(AccessRule, AccessRule.id, _no_share(AccessRule.share_id), "its share"),
    _Kind(
        ShareInstance,
        ShareInstance.id,
        sa.and_(ShareInstance.deleted_at.is_(None), _no_share(ShareInstance.share_id)),
        "its share",
        removable=False,
    ),
    _Kind(
        QuotaLimit,
        QuotaLimit.scope,
        sa.and_(
            QuotaLimit.scope.startswith(type_scope(""), autoescape=True),
            _none(sa.literal(type_scope("")) + ShareType.id, QuotaLimit.scope),
        ),
        "its share type",
    ),
    _Kind(PoolReport, PoolReport.host, _none(Service.host, PoolReport.backend), "its service"),
    _Kind(
        Intent,
        Intent.id,
        sa.and_(
            Intent.state.in_(UNSETTLED), Intent.share_id.is_not(None), _no_share(Intent.share_id)
        ),
        "its share",
        removable=False,
    ),
)


def find(session: Session) -> list[Orphan]:
    """All of them."""
    return [
        Orphan(kind.model.__tablename__, id, kind.missing, kind.removable)
        for kind in _KINDS
        for id in session.scalars(sa.select(kind.key).where(kind.alone).order_by(kind.key))
    ]


def remove(session: Session) -> None:
    """Remove those that may just go; what has come by an owner meanwhile stays."""
    for kind in _KINDS:
        if kind.removable:
            # Looked for first: MySQL deletes from no table that the condition reads.
            keys = session.scalars(sa.select(kind.key).where(kind.alone)).all()
            # A server takes only so many values in one statement.
            for page in chunks(keys):
                count(session, sa.delete(kind.model).where(kind.key.in_(page)))
