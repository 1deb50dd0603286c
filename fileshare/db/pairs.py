"""Keys and values that hang on a row, as one mapping in that row's own statement."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from fileshare.db.session import from_json


class Mapping(sa.TypeDecorator[dict[str, str]]):
    """A JSON object of texts as a dictionary in the order of its keys; nothing as an empty one."""

    impl = sa.Text
    cache_ok = True

    def process_result_value(self, value: Any, _dialect: sa.Dialect) -> dict[str, str]:
        if not value:
            return {}
        # PostgreSQL's driver has read it already.
        pairs = from_json(value) if isinstance(value, str) else value
        return dict(sorted(pairs.items()))


class _Collected(FunctionElement[dict[str, str]]):
    """The aggregate that makes one JSON object of keys and values."""

    type = Mapping()
    inherit_cache = True


def _call(name: str, element: _Collected, compiler: SQLCompiler, kw: dict[str, Any]) -> str:
    return f"{name}({compiler.process(element.clauses, **kw)})"


@compiles(_Collected)
def _collected(element: _Collected, compiler: SQLCompiler, **kw: Any) -> str:
    return _call("json_objectagg", element, compiler, kw)


@compiles(_Collected, "postgresql")
def _collected_postgresql(element: _Collected, compiler: SQLCompiler, **kw: Any) -> str:
    return _call("json_object_agg", element, compiler, kw)


@compiles(_Collected, "sqlite")
def _collected_sqlite(element: _Collected, compiler: SQLCompiler, **kw: Any) -> str:
    return _call("json_group_object", element, compiler, kw)


def of(key: Any, value: Any, parent: sa.ColumnElement[bool], outer: Any) -> Any:
    """A column with the pairs of each row of *outer*; *parent* says whose they are."""
    return sa.select(_Collected(key, value)).where(parent).correlate(outer).scalar_subquery()
