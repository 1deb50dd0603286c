"""What alembic finds different between the tables and the models, in words for an operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_THERE = {"add": "is missing", "remove": "is not of this release"}
_MODIFIED = {
    "modify_type": "has the type {found}, not {wanted}",
    "modify_nullable": "takes null: {found}, not {wanted}",
    "modify_default": "has the default {found}, not {wanted}",
    "modify_comment": "has the comment {found!r}, not {wanted!r}",
}


def sentences(found: list[Any]) -> list[str]:
    """A sentence for each of alembic's differences, tables first and by name."""
    return [_told(*change) for change in sorted(_flat(found), key=_place)]


def _flat(found: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Changes of one column come as a list of their own."""
    for change in found:
        if isinstance(change, list):
            yield from _flat(change)
        else:
            yield change


def _place(change: tuple[Any, ...]) -> tuple[bool, str]:
    return not change[0].endswith("_table"), _told(*change)


def _told(kind: str, *parts: Any) -> str:
    if kind in _MODIFIED:
        _schema, table, column, _known, found, wanted = parts
        return f"column {table}.{column} " + _MODIFIED[kind].format(found=found, wanted=wanted)
    verb, _, what = kind.partition("_")
    there = _THERE.get(verb, f"differs ({kind})")
    if what == "column":
        _schema, table, column = parts
        return f"column {table}.{column.name} {there}"
    item = parts[0]
    if what == "table":
        return f"table {item.name} {there}"
    name = {"fk": "foreign key"}.get(what, what)
    if not hasattr(item, "table"):
        return f"{name} {item} {there}"
    columns = ", ".join(column.name for column in item.columns)
    named = f" {item.name}" if item.name else ""
    return f"{name}{named} on {item.table.name} ({columns}) {there}"
