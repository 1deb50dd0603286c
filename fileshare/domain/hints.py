"""Scheduler hints that name other shares, and how both sides keep them as metadata."""

from __future__ import annotations

from typing import Final

SAME_HOST, DIFFERENT_HOST = "same_host", "different_host"
METADATA: Final = {
    SAME_HOST: "__affinity_same_host",
    DIFFERENT_HOST: "__affinity_different_host",
}
"""Keys under which a share keeps whom it names and who names it, for placements later on
(replicas, moves)."""

LONGEST: Final = 1023
"""Characters that the value of a metadata key may have."""


def ids(text: str) -> list[str]:
    """The ids of a list with commas between."""
    return [item.strip() for item in text.split(",") if item.strip()]


def naming(text: str, share_id: str) -> str:
    """The list with *share_id*; unchanged where that would be too long.

    The share that is left out names this one all the same.
    """
    longer = ",".join([*ids(text), share_id])
    return longer if len(longer) <= LONGEST else text


def without(text: str, share_id: str) -> str:
    """The list without *share_id*; empty where it was the only one."""
    return ",".join(id for id in ids(text) if id != share_id)
