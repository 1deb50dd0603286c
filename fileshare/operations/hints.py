"""Scheduler hints of a new share: what of them is kept with it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from fileshare import errors
from fileshare.db import shares
from fileshare.intents.unit import Unit

_KEPT = {
    "same_host": "__affinity_same_host",
    "different_host": "__affinity_different_host",
}
_LONGEST = 1023


def kept(unit: Unit, hints: Mapping[str, str]) -> dict[str, str]:
    """The hints that name other shares, as metadata that a later placement finds.

    Raises InvalidInput for what is no list of ids, and NotFound for a share that the caller
    cannot see.
    """
    named = {name: _ids(name, hints[name]) for name in _KEPT if name in hints}
    wanted = [id for ids in named.values() for id in ids]
    there = shares.present(unit.session, unit.scope, wanted) if wanted else set()
    for share_id in wanted:
        if share_id not in there:
            raise errors.NotFound(resource="Share", id=share_id)
    return {_KEPT[name]: ",".join(ids) for name, ids in named.items() if ids}


def _ids(name: str, text: str) -> list[str]:
    ids = [item.strip() for item in text.split(",") if item.strip()]
    try:
        ids = [str(uuid.UUID(item)) for item in ids]
    except ValueError:
        raise _refuse(name, "It must be a list of ids of shares with commas between.") from None
    if len(",".join(ids)) > _LONGEST:
        raise _refuse(name, f"It may have {_LONGEST} characters.")
    return ids


def _refuse(name: str, reason: str) -> errors.InvalidInput:
    return errors.InvalidInput(field=f"scheduler_hints.{name}", reason=reason)
