"""Lists: scope, declared filters, sort keys and pages, the same for every aggregate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import char_length

from fileshare import errors
from fileshare.context import Context
from fileshare.domain.listing import Page
from fileshare.domain.statuses import OUT_OF_SIGHT

Select = sa.Select[Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose rows a caller may see; *project_id* None: everybody's."""

    project_id: str | None

    @classmethod
    def of(cls, ctx: Context) -> Scope:
        """An administrator sees all, others what is their project's."""
        return ALL if ctx.is_admin else cls(ctx.project_id or "")

    def clause(self, column: Any) -> sa.ColumnElement[bool]:
        return sa.true() if self.project_id is None else column == self.project_id

    def in_sight(self, column: Any) -> sa.ColumnElement[bool]:
        """Whether a share of the status in *column* is there for the caller."""
        return sa.true() if self.project_id is None else column.not_in(OUT_OF_SIGHT)

    def sees(self, status: str) -> bool:
        """The same of one share."""
        return self.project_id is None or status not in OUT_OF_SIGHT


ALL = Scope(None)


def paginate(statement: Select, page: Page, keys: Mapping[str, Any], id_column: Any) -> Select:
    """*statement* in the page's order and bounds.

    *keys* are the sort keys of the list by name.  The id is the last key, so that the order is
    total and a marker names one place in it.  Raises InvalidInput for an unknown key.
    """
    if page.sort_key not in keys:
        raise errors.InvalidInput(field="sort_key", reason=f"{page.sort_key!r} is no sort key.")
    column = keys[page.sort_key]
    if page.marker:
        statement = statement.where(_beyond(column, id_column, page))
    ascending = page.sort_dir == "asc"
    statement = statement.order_by(
        _Ordered(column, ascending) if _may_be_null(column) else _directed(column, ascending),
        _directed(id_column, ascending),
    )
    if page.limit is not None:
        statement = statement.limit(page.limit)
    if page.offset and not page.marker:
        statement = statement.limit(page.limit if page.limit is not None else ALL_ROWS)
        statement = statement.offset(page.offset)
    return statement


ALL_ROWS = 2**31 - 1
"""The LIMIT of a list without one, for an OFFSET needs one on MySQL and SQLite."""


def _directed(column: Any, ascending: bool) -> sa.ColumnElement[Any]:
    directed: sa.ColumnElement[Any] = sa.asc(column) if ascending else sa.desc(column)
    return directed


def _may_be_null(column: Any) -> bool:
    return bool(getattr(getattr(column, "expression", column), "nullable", True))


class _Ordered(sa.ColumnElement[Any]):
    """A sort key in which nothing is lower than everything, on each kind of server."""

    inherit_cache = True
    _traverse_internals = [  # noqa: RUF012  (SQLAlchemy's protocol)
        ("column", sa.sql.visitors.InternalTraversal.dp_clauseelement),
        ("ascending", sa.sql.visitors.InternalTraversal.dp_boolean),
    ]

    def __init__(self, column: Any, ascending: bool) -> None:
        self.column = sa.type_coerce(column, column.type)
        self.ascending = ascending


@compiles(_Ordered)
def _ordered(element: _Ordered, compiler: SQLCompiler, **kw: Any) -> str:
    return f"{compiler.process(element.column, **kw)} {'ASC' if element.ascending else 'DESC'}"


@compiles(_Ordered, "postgresql")
def _ordered_postgresql(element: _Ordered, compiler: SQLCompiler, **kw: Any) -> str:
    nulls = "FIRST" if element.ascending else "LAST"
    return f"{_ordered(element, compiler, **kw)} NULLS {nulls}"


def _beyond(column: Any, id_column: Any, page: Page) -> sa.ColumnElement[bool]:
    """Rows after the marker: as a range of (key, id), which an index answers.

    The bound that says nothing new is for servers that find no range in an «or».
    """
    table = id_column.table.alias("marker")
    same = table.c[id_column.name] == page.marker
    edge = sa.select(table.c[column.name]).where(same).scalar_subquery()
    ascending = page.sort_dir == "asc"
    further = column > edge if ascending else column < edge
    tie = id_column > page.marker if ascending else id_column < page.marker
    bound = column >= edge if ascending else column <= edge
    beyond = sa.and_(bound, sa.or_(further, sa.and_(column == edge, tie)))
    if not _may_be_null(column):
        return beyond
    there = sa.exists(sa.select(sa.literal(1)).where(same))
    if ascending:
        nothing = sa.and_(edge.is_(None), sa.or_(column.is_not(None), tie))
    else:
        nothing = sa.and_(column.is_(None), sa.or_(edge.is_not(None), tie))
    return sa.and_(there, sa.or_(beyond, nothing))


def same(column: Any, text: str) -> sa.ColumnElement[bool]:
    """The column holds just this text: for MariaDB's collations blanks at an end do not count."""
    return sa.and_(column == text, char_length(column) == len(text))


@compiles(char_length, "sqlite")
def _length(element: char_length, compiler: SQLCompiler, **kw: Any) -> str:
    return f"length({compiler.process(element.clauses, **kw)})"


def matches(column: Any, pattern: str) -> sa.ColumnElement[bool]:
    """The column has something that *pattern* matches, by the server's regular expressions."""
    return cast("sa.ColumnElement[bool]", column.regexp_match(pattern))


# MariaDB and MySQL, PostgreSQL, SQLite.
_OF_PATTERN = re.compile("regex|regular expression|user-defined function", re.IGNORECASE)


def is_of_pattern(error: Exception) -> bool:
    """Whether the server refused a pattern of :func:`matches`."""
    inner = getattr(error, "inner_exception", None) or error
    return bool(_OF_PATTERN.search(str(getattr(inner, "orig", inner))))


def like(column: Any, text: str) -> sa.ColumnElement[bool]:
    """*text* anywhere in the column, with no character of it having a meaning of its own."""
    return cast("sa.ColumnElement[bool]", column.contains(text, autoescape=True))


def one_of(column: Any, name: str, number: int) -> sa.ColumnElement[bool]:
    """The column is one of *number* values, which :func:`values_of` gives.

    For statements that are built once: a list of any length is written anew at each run.
    """
    among = [sa.bindparam(f"{name}_{place}", type_=column.type) for place in range(number)]
    return cast("sa.ColumnElement[bool]", column.in_(among))


def values_of(name: str, values: Sequence[Any]) -> dict[str, Any]:
    """The parameters of :func:`one_of`."""
    return {f"{name}_{place}": value for place, value in enumerate(values)}


def chunks(ids: Sequence[str], size: int = 500) -> list[Sequence[str]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]
