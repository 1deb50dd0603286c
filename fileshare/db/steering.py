"""Which index a list reads on MariaDB and MySQL: said where the list may be long.

Left to itself the server takes half of a table for as dear as all of it.  It then finds a page in
the middle of a long list by reading everything before it, and for a project's page in an order
that no index of the project has it walks through the whole cloud's.  Where all rows must be
sorted, it fetches them one by one in the order of some index.

PostgreSQL has no such words.  It sorts what the filters leave, because it does not see that rows
without a deletion lie in the order of the columns after that one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

Select = sa.Select[Any]

_PRESENT = frozenset({"deleted_at", "is_soft_deleted"})
_LOOSE = _PRESENT | {"status"}
"""Columns that lists compare, and that by themselves may leave nearly everything."""


def steered(statement: Select, model: Any, equal: Collection[str], key: str) -> Select:
    """*statement* with a word on the index of *model*, where one is sure to be right.

    *equal* are the columns that the statement compares with one value each, *key* is the column
    that it sorts by, and then by the id.  Nothing is said where another column that has an index
    is among *equal*: only the server knows which of them leaves less.
    """
    index = _index(model.__table__, frozenset(equal), key)
    if index is not None:
        word = f"FORCE INDEX ({index.name})"
    elif _PRESENT.issuperset(equal):
        word = "USE INDEX ()"
    else:
        return statement
    return statement.with_hint(model, word, "mysql").with_hint(model, word, "mariadb")


def _index(table: sa.Table, equal: frozenset[str], key: str) -> sa.Index | None:
    leading = {index: _leading(index, equal, key) for index in _sorted(table)}
    if "project_id" in equal and not any("project_id" in names for names in leading.values()):
        # In no index's order: sorted are the project's rows and not the cloud's.
        leading = {index: _leading(index, equal, "created_at") for index in leading}
    best = max(leading, key=lambda index: _worth(leading[index]))
    narrowing = {column.name for index in leading for column in index.columns} - _LOOSE
    if not leading[best] or (equal & narrowing) - leading[best]:
        return None
    return best


def _sorted(table: sa.Table) -> list[sa.Index]:
    return sorted(table.indexes, key=lambda index: str(index.name))


def _leading(index: sa.Index, equal: frozenset[str], key: str) -> frozenset[str]:
    """The columns before *key*, where the rows that have one value in each are in its order."""
    names = [column.name for column in index.columns]
    before, found, after = _split(names, key)
    # The servers append the id to an index that does not end with it.
    in_order = found and after[:1] in ([], ["id"]) and equal.issuperset(before)
    return frozenset(before) if in_order else frozenset()


def _split(names: list[str], key: str) -> tuple[list[str], bool, list[str]]:
    place = names.index(key) if key in names else len(names)
    return names[:place], key in names, names[place + 1 :]


def _worth(leading: frozenset[str]) -> tuple[int, int]:
    """How far an index narrows a list: what all living rows have in common counts last."""
    return len(leading - _PRESENT), len(leading)
