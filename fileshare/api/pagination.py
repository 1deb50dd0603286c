"""Paging of lists: the common query parameters, the slice they mean, the link to the next page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from fileshare.api.fields import Field
from fileshare.api.shapes import PAGE_NUMBER, TEXT, choice, integer

LIMIT = Field("limit", integer(0, 2**63 - 1), about="How many objects the page holds at most.")
OFFSET = Field("offset", integer(0, 2**63 - 1), about="How many objects are skipped before it.")
SORT_KEY = Field("sort_key", TEXT, about="The field that the list is sorted by.")
SORT_DIR = Field("sort_dir", choice("asc", "desc", any_case=True), about="The direction of it.")
PAGING = (LIMIT, OFFSET)
CHECKED_PAGING = (replace(LIMIT, shape=PAGE_NUMBER), replace(OFFSET, shape=PAGE_NUMBER))
SORTED_PAGING = (LIMIT, OFFSET, SORT_KEY, SORT_DIR)


@dataclass(frozen=True, slots=True)
class Slice:
    """The part of a list that a request asks for; no limit means all."""

    limit: int | None
    offset: int


def clipped(query: dict[str, Any], most: int, *, zero_is_most: bool = False) -> Slice:
    """The slice of a query, never longer than *most*; with *zero_is_most* zero means no limit."""
    limit = query.get("limit")
    if limit is None or (zero_is_most and limit == 0):
        limit = most
    return Slice(min(int(limit), most), int(query.get("offset") or 0))


def next_link(
    path: str, given: Sequence[tuple[str, str]], rows: Sequence[dict[str, Any]]
) -> list[dict[str, str]]:
    """The link to the next page, where the request had a limit and the page holds just as many."""
    limit = dict(given).get("limit", "").strip()
    if not rows or limit.lstrip("0") != str(len(rows)):
        return []
    repeated = [pair for pair in given if pair[0] != "marker"]
    query = urlencode([*repeated, ("marker", str(rows[-1].get("id")))])
    return [{"rel": "next", "href": f"{path}?{query}"}]
