"""Removing for good what was deleted long ago: with its children, in small steps.

Each step is a transaction of its own, so that nobody waits for long, and a purge that was
interrupted is simply begun again.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from fileshare.db import intents
from fileshare.db.clock import after
from fileshare.db.models import Base, Intent, Message
from fileshare.db.session import Session, count
from fileshare.domain.statuses import IntentState

DAY = 86400.0
_CLOSED = (IntentState.DONE, IntentState.FAILED)

Counts = collections.Counter[str]


def tables() -> list[sa.Table]:
    """The tables whose rows are kept for a while after their deletion, children first."""
    return [table for table in reversed(Base.metadata.sorted_tables) if "deleted_at" in table.c]


def _children(table: sa.Table) -> Iterator[sa.Column[Any]]:
    """The columns of other tables that refer to a row of *table*."""
    for child in Base.metadata.sorted_tables:
        for key in child.foreign_keys:
            if key.column.table is table and child is not table:
                yield key.parent


def _old(table: sa.Table, days: float) -> sa.ColumnElement[bool]:
    """Rows that were deleted *days* ago, and on which nothing hangs that is alive."""
    alive = [
        sa.exists(
            sa.select(column).where(column == table.c.id, column.table.c.deleted_at.is_(None))
        )
        for column in _children(table)
        if "deleted_at" in column.table.c
    ]
    old = table.c.deleted_at <= after(-days * DAY)
    return sa.and_(old, *(~child for child in alive))


def counted(session: Session, days: float) -> Counts:
    """How many rows of each table a purge would begin with; children are not counted."""
    found: Counts = collections.Counter()
    wanted: list[tuple[Any, sa.ColumnElement[bool]]] = [
        (table, _old(table, days)) for table in tables()
    ]
    wanted.append((Intent.__table__, _closed(days)))
    wanted.append((Message.__table__, Message.expires_at <= after(0)))
    for table, where in wanted:
        statement = sa.select(sa.func.count()).select_from(table).where(where)
        found[table.name] = session.scalars(statement).one()
    return found


def _closed(days: float) -> sa.ColumnElement[bool]:
    return sa.and_(Intent.state.in_(_CLOSED), Intent.closed_at <= after(-days * DAY))


def step(session: Session, table: sa.Table, days: float, limit: int) -> Counts:
    """Remove up to *limit* rows of *table* that were deleted *days* ago, with their children."""
    found: Counts = collections.Counter()
    statement = sa.select(table.c.id).where(_old(table, days)).order_by(table.c.id).limit(limit)
    ids = session.scalars(statement).all()
    if ids:
        _remove(session, table, ids, found)
    return found


def _remove(session: Session, table: sa.Table, ids: Sequence[Any], found: Counts) -> None:
    for column in _children(table):
        child = column.table
        if any(True for _ in _children(child)):
            theirs = session.scalars(sa.select(child.c.id).where(column.in_(ids))).all()
            if theirs:
                _remove(session, child, theirs, found)
        else:
            found[child.name] += count(session, sa.delete(child).where(column.in_(ids)))
    found[table.name] += count(session, sa.delete(table).where(table.c.id.in_(ids)))


def closed_intents(session: Session, days: float, limit: int) -> Counts:
    """Remove up to *limit* intents that were closed *days* ago."""
    return collections.Counter({Intent.__tablename__: intents.purge(session, days, limit)})
