"""Scheduler hints of a new share: what of them is kept, and with whom."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from fileshare import errors
from fileshare.db import share_metadata, shares
from fileshare.domain import hints as domain
from fileshare.intents.unit import Unit


def keep(unit: Unit, share_id: str, hints: Mapping[str, str]) -> dict[str, str]:
    """The hints that name other shares, as metadata of the new share *share_id*.

    The named shares are told: each keeps that the new one is to be with it, or away from it.
    Those of other projects, which the caller may see but not change, are not.  To be called
    before quota is charged: every verb takes its share first and the quota after it.

    Raises InvalidInput for what is no list of ids, and NotFound for a share that the caller
    cannot see.
    """
    named = {name: _ids(name, hints[name]) for name in domain.METADATA if name in hints}
    wanted = {id for ids in named.values() for id in ids}
    there = shares.present(unit.session, unit.scope, wanted) if wanted else {}
    for ids in named.values():
        for other in ids:
            if other not in there:
                raise errors.NotFound(resource="Share", id=other)
    kept = {domain.METADATA[name]: ids for name, ids in named.items() if ids}
    # In one order for everybody, so that no two wait for each other.
    for other in sorted(there):
        if unit.scope.project_id in {None, there[other]}:
            _tell(unit, other, share_id, [key for key, ids in kept.items() if other in ids])
    return {key: ",".join(ids) for key, ids in kept.items()}


def _tell(unit: Unit, other: str, share_id: str, keys: list[str]) -> None:
    old = share_metadata.hold(unit.session, other)
    new = {key: domain.naming(old.get(key, ""), share_id) for key in keys}
    share_metadata.change(unit.session, other, old, {**old, **new})


def _ids(name: str, text: str) -> list[str]:
    try:
        ids = [str(uuid.UUID(item)) for item in domain.ids(text)]
    except ValueError:
        raise _refuse(name, "It must be a list of ids of shares with commas between.") from None
    if len(",".join(ids)) > domain.LONGEST:
        raise _refuse(name, f"It may have {domain.LONGEST} characters.")
    return ids


def _refuse(name: str, reason: str) -> errors.InvalidInput:
    return errors.InvalidInput(field=f"scheduler_hints.{name}", reason=reason)
