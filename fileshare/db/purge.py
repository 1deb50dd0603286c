"""Removing for good what was deleted long ago, with all that hangs on it."""

from __future__ import annotations

import collections
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from fileshare.db import intents, messages, request_keys
from fileshare.db.models import AccessRule, Base, ResourceLock, Share
from fileshare.db.session import Session, count
from fileshare.db.sweeps import Counts, Sweep, along

DAY = 86400.0

_LOCKS = ResourceLock.__table__.c

# What names a row without a foreign key, because it may be one of two tables'.
_LOOSE: Mapping[str, tuple[Any, ...]] = {
    Share.__tablename__: (_LOCKS.resource_id,),
    AccessRule.__tablename__: (_LOCKS.resource_id, _LOCKS.cause_id),
}


def tables() -> list[sa.Table]:
    """The tables whose rows are kept for a while after their deletion.

    Parents first: they take their children along, and what is gone half is never seen.
    """
    return [table for table in Base.metadata.sorted_tables if "deleted_at" in table.c]


def sweeps(days: float, key_seconds: float) -> list[Sweep]:
    """What goes: rows that were deleted *days* ago, closed work of that age, expired messages.

    And keys of requests that are *key_seconds* old.
    """
    return [
        *(deleted(table, days * DAY) for table in tables()),
        *intents.closed(days * DAY),
        messages.expired(),
        request_keys.old(key_seconds),
    ]


def deleted(table: sa.Table, seconds: float) -> Sweep:
    """Rows that were deleted *seconds* ago, and on which nothing hangs that is alive."""
    living = tuple(column for column in children(table) if "deleted_at" in column.table.c)
    return Sweep(along(table.c.deleted_at), seconds, living=living, remove=_remove)


def children(table: Any) -> Iterator[sa.Column[Any]]:
    """The columns of other tables that refer to a row of *table*."""
    for child in Base.metadata.sorted_tables:
        for key in child.foreign_keys:
            if key.column.table is table and child is not table:
                yield key.parent
    yield from _LOOSE.get(table.name, ())


def _remove(session: Session, key: Any, ids: Sequence[Any]) -> Counts:
    """Remove rows by their ids, what hangs on them first."""
    found: Counts = collections.Counter()
    for column in children(key.table):
        child = column.table
        has_children = any(True for _ in children(child))
        # Looked for first: a deletion among few rows reads, and locks, all of them on MySQL.
        wanted = child.c.id if has_children else column
        theirs = session.scalars(sa.select(wanted).where(column.in_(ids)).distinct()).all()
        if theirs and has_children:
            found += _remove(session, wanted, theirs)
        elif theirs:
            found[child.name] += count(session, sa.delete(child).where(column.in_(theirs)))
    found[key.table.name] += count(session, sa.delete(key.table).where(key.in_(ids)))
    return found


def counted(session: Session, wanted: Sequence[Sweep]) -> Counts:
    """How many rows of each table sweeps would remove, with what hangs on them."""
    going: dict[str, list[sa.ColumnElement[bool]]] = collections.defaultdict(list)
    for sweep in wanted:
        going[sweep.table.name].append(_would_go(sweep, sweep.bound(session)))
    found: Counts = collections.Counter()
    for table in _parents_first():
        if clauses := going[table.name]:
            counting = sa.select(sa.func.count()).select_from(table).where(sa.or_(*clauses))
            found[table.name] = session.scalars(counting).one()
        for column in children(table) if clauses else ():
            theirs = sa.select(table.c.id).where(sa.or_(*clauses))
            going[column.table.name].append(column.in_(theirs))
    return +found


def _would_go(sweep: Sweep, bound: dt.datetime) -> sa.ColumnElement[bool]:
    alive = (
        sa.exists(
            sa.select(column)
            .where(column == sweep.way.key, column.table.c.deleted_at.is_(None))
            .correlate(sweep.table)
        )
        for column in sweep.living
    )
    return sa.and_(sweep.old(bound), *(~each for each in alive))


def _parents_first() -> list[sa.Table]:
    """All tables; last those that name their parents without a foreign key."""
    loose = {column.table for columns in _LOOSE.values() for column in columns}
    return sorted(Base.metadata.sorted_tables, key=loose.__contains__)
