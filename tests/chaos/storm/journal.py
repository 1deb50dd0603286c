"""Judging what the back end did: its own journals, whatever the database says."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.chaos.storm.history import REFUSED, Call

Found = tuple[str | None, str]
"""A violation: the share or instance that it is about, and what it is."""


@dataclasses.dataclass
class Table:
    """The rules that the back end enforces for one instance, change after change."""

    rules: dict[str, dict]
    gone: dict[str, float]


def overlaps(notes: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    """Two calls at once on one instance."""
    for note in notes:
        yield note["id"], f"{note['operation']} began while another call was at work"


def capacity(records: Sequence[Mapping[str, Any]], pools: Mapping[str, int]) -> Iterator[Found]:
    """Moments at which a pool held more than it has."""
    held: dict[str, tuple[str, int]] = {}
    sums = dict.fromkeys(pools, 0)
    for note in records:
        pool, size = held.pop(note["id"], ("", 0))
        if pool:
            sums[pool] -= size
        record = note["record"]
        if record is None:
            continue
        pool, size = held[note["id"]] = record["pool"], record["size"]
        sums[pool] += size
        if sums[pool] > pools[pool]:
            text = f"pool {pool} held {sums[pool]} of {pools[pool]} GiB at {note['at']:.3f}"
            yield note["id"], text


def gaps(records: Sequence[Mapping[str, Any]], calls: Sequence[Call]) -> Iterator[Found]:
    """Rules that went without being denied, and such as came back after that."""
    denied: dict[str, list[Call]] = {}
    for call in calls:
        if call.kind == "deny" and call.key and call.outcome != REFUSED:
            denied.setdefault(call.key, []).append(call)
    tables: dict[str, Table] = {}
    for note in records:
        record = note["record"]
        if record is None:
            tables.pop(note["id"], None)
            continue
        table = tables.setdefault(note["id"], Table({}, {}))
        rules = {rule["id"]: rule for rule in record["rules"]}
        for id in table.rules.keys() - rules.keys():
            table.gone[id] = note["at"]
            if not any(call.start <= note["at"] for call in denied.get(id, ())):
                text = f"rule {id} ({table.rules[id]['to']}) went at {note['at']:.3f} undenied"
                yield note["id"], text
        for id in rules.keys() & table.gone.keys():
            went = table.gone.pop(id)
            yield note["id"], f"rule {id} went at {went:.3f} and was back at {note['at']:.3f}"
        table.rules = rules
