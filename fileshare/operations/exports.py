"""What a request on the export locations of a share asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fileshare import errors
from fileshare.db import exports, shares
from fileshare.domain import metadata as domain
from fileshare.domain.statuses import ReplicaState
from fileshare.intents import changes
from fileshare.intents.unit import Unit, operation

PREFERRED = "preferred"


@operation
def find(unit: Unit, share_id: str, *, serving: bool = False) -> list[Any]:
    """Export locations of a share in its back end's order, as far as the caller may see them.

    With *serving*, those of replicas that only follow are left out.  Raises NotFound.
    """
    rows = [row for row in _rows(unit, share_id) if unit.ctx.is_admin or not row.is_admin_only]
    active = [row for row in rows if row.replica_state == ReplicaState.ACTIVE]
    return active if serving and active else rows


@operation
def get(unit: Unit, share_id: str, export_id: str) -> Any:
    """One export location; raises NotFound, and Refused for an operator's."""
    row = _row(unit, share_id, export_id)
    if row.is_admin_only and not unit.ctx.is_admin:
        raise errors.Refused(reason="This export location is for administrators.")
    return row


def _rows(unit: Unit, share_id: str) -> list[Any]:
    shares.get(unit.session, unit.scope, share_id)
    return exports.of_shares(unit.session, [share_id]).get(share_id, [])


def _row(unit: Unit, share_id: str, export_id: str) -> Any:
    for row in _rows(unit, share_id):
        if row.id == export_id:
            return row
    raise errors.NotFound(resource="Export location", id=export_id)


def _visible(unit: Unit, share_id: str, export_id: str) -> Any:
    row = _row(unit, share_id, export_id)
    if row.is_admin_only and not unit.ctx.is_admin:
        raise errors.NotFound(resource="Export location", id=export_id)
    return row


def _pairs(row: Any) -> dict[str, str]:
    """The metadata of a location; that it is preferred is one of its pairs."""
    return {**row.extra, PREFERRED: str(bool(row.preferred))}


@operation
def metadata(unit: Unit, share_id: str, export_id: str) -> dict[str, str]:
    """All metadata of an export location."""
    return _pairs(_visible(unit, share_id, export_id))


@operation
def metadata_item(unit: Unit, share_id: str, export_id: str, key: str) -> dict[str, str]:
    """One key with its value; raises NotFound."""
    return domain.item(_pairs(_visible(unit, share_id, export_id)), key)


@operation
def merge_metadata(
    unit: Unit, share_id: str, export_id: str, pairs: Mapping[str, str], *, all_keys: bool
) -> dict[str, str]:
    """Set each of *pairs*, and return all that there is then.

    Without *all_keys*, keys of operators are refused.
    """
    domain.refuse(pairs, _locked(unit, all_keys=all_keys))
    old = _hold(unit, share_id, export_id)
    return _write(unit, share_id, export_id, {**old, **pairs})


@operation
def replace_metadata(
    unit: Unit, share_id: str, export_id: str, pairs: Mapping[str, str], *, all_keys: bool
) -> dict[str, str]:
    """Make the metadata equal to *pairs*; without *all_keys*, keys of operators stay."""
    locked = _locked(unit, all_keys=all_keys)
    domain.refuse(pairs, locked)
    old = _hold(unit, share_id, export_id)
    return _write(unit, share_id, export_id, domain.replaced(old, pairs, locked))


@operation
def remove_metadata(
    unit: Unit, share_id: str, export_id: str, key: str, *, all_keys: bool
) -> None:
    """Remove one key; raises NotFound, and Refused for an operator's."""
    old = _hold(unit, share_id, export_id)
    domain.item(old, key)
    domain.refuse([key], _locked(unit, all_keys=all_keys))
    _write(unit, share_id, export_id, domain.without(old, key))


def _locked(unit: Unit, *, all_keys: bool) -> frozenset[str]:
    return frozenset(() if all_keys else unit.runtime.conf.admin_only_el_metadata)


def _hold(unit: Unit, share_id: str, export_id: str) -> dict[str, str]:
    exports.hold(unit.session, export_id)
    shares.own(unit.session, unit.scope, share_id)
    return _pairs(_visible(unit, share_id, export_id))


def _write(unit: Unit, share_id: str, export_id: str, pairs: Mapping[str, str]) -> dict[str, str]:
    text = pairs.get(PREFERRED, "False")
    if text.lower() not in {"true", "false"}:
        raise errors.InvalidInput(field=PREFERRED, reason="It is True or False.")
    preferred = text.lower() == "true"
    extra = domain.without(pairs, PREFERRED)
    exports.update(unit.session, export_id, {"extra": extra, PREFERRED: preferred})
    new = {**extra, PREFERRED: str(preferred)}
    facts = {"export_location_id": export_id, "metadata": new}
    changes.tell_of_share(unit, "export_location_metadata.update", share_id, **facts)
    return new
