"""The database's clock as SQL expressions, so that leases of different hosts agree.

All times are UTC without zone, with microseconds (milliseconds on SQLite).
"""

from __future__ import annotations

import datetime as dt
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnElement


class _Later(ColumnElement[dt.datetime]):
    """The database's now, plus so many seconds."""

    inherit_cache = True
    type = sa.DateTime()

    def __init__(self, seconds: ColumnElement[Any] | None) -> None:
        self.seconds = seconds

    _traverse_internals = [("seconds", sa.sql.visitors.InternalTraversal.dp_clauseelement)]  # noqa: RUF012


NOW: ColumnElement[dt.datetime] = _Later(None)


def now() -> ColumnElement[dt.datetime]:
    """The moment at which the statement runs."""
    return NOW


def after(seconds: float | ColumnElement[Any]) -> ColumnElement[dt.datetime]:
    """*seconds* from now; negative for the past."""
    if isinstance(seconds, (int, float)):
        return _Later(sa.bindparam(None, float(seconds), sa.Float()))
    return _Later(sa.type_coerce(seconds, sa.Float()))  # a model's attribute, too


def moment(session: orm.Session) -> dt.datetime:
    """The moment by the database's clock."""
    found: dt.datetime = session.scalars(sa.select(sa.type_coerce(NOW, sa.DateTime()))).one()
    return found


def read(session: orm.Session) -> float:
    """The same in seconds since the epoch."""
    return moment(session).replace(tzinfo=dt.UTC).timestamp()


@compiles(_Later, "sqlite")
def _sqlite(element: _Later, compiler: SQLCompiler, **kw: Any) -> str:
    # Six digits as SQLAlchemy stores them: the strings are compared as text.
    if element.seconds is None:
        return "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"
    seconds = compiler.process(element.seconds, **kw)
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', ({seconds}) || ' seconds') || '000')"


@compiles(_Later, "mysql", "mariadb")
def _mysql(element: _Later, compiler: SQLCompiler, **kw: Any) -> str:
    if element.seconds is None:
        return "UTC_TIMESTAMP(6)"
    seconds = compiler.process(element.seconds, **kw)
    return f"TIMESTAMPADD(MICROSECOND, ROUND(({seconds}) * 1000000), UTC_TIMESTAMP(6))"


@compiles(_Later)
def _postgresql(element: _Later, compiler: SQLCompiler, **kw: Any) -> str:
    if element.seconds is None:
        return "timezone('utc', clock_timestamp())"
    seconds = compiler.process(element.seconds, **kw)
    return f"(timezone('utc', clock_timestamp()) + ({seconds}) * interval '1 second')"
