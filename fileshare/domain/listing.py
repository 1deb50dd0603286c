"""Which part of a list a caller wants, and in which order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a list.

    *marker* is the id of the last row seen; *offset* rows are passed over where there is none.
    *limit* None: no limit.
    """

    limit: int | None = None
    offset: int = 0
    marker: str | None = None
    sort_key: str = "created_at"
    sort_dir: str = "desc"
    with_count: bool = False
