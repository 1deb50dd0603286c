"""What a request on the metadata of a share decides."""

from __future__ import annotations

from collections.abc import Mapping

from fileshare.db import share_metadata, shares
from fileshare.domain import metadata as domain
from fileshare.intents.unit import Unit, operation


def _all(unit: Unit, share_id: str) -> dict[str, str]:
    shares.get(unit.session, unit.scope, share_id)
    return share_metadata.find(unit.session, [share_id]).get(share_id, {})


@operation
def find(unit: Unit, share_id: str) -> dict[str, str]:
    """All metadata of a share; raises NotFound."""
    return _all(unit, share_id)


@operation
def get(unit: Unit, share_id: str, key: str) -> dict[str, str]:
    """One key with its value; raises NotFound."""
    return domain.item(_all(unit, share_id), key)


def _hold(unit: Unit, share_id: str) -> dict[str, str]:
    shares.own(unit.session, unit.scope, share_id)
    return share_metadata.hold(unit.session, share_id)


def _locked(unit: Unit, *, all_keys: bool) -> frozenset[str]:
    return frozenset(() if all_keys else unit.runtime.conf.admin_only_metadata)


@operation
def merge(
    unit: Unit, share_id: str, pairs: Mapping[str, str], *, all_keys: bool
) -> dict[str, str]:
    """Set each of *pairs*, and return all that there is then.

    Without *all_keys*, the keys of admin_only_metadata are refused.
    """
    shares.own(unit.session, unit.scope, share_id)
    domain.refuse(pairs, _locked(unit, all_keys=all_keys))
    return share_metadata.merge(unit.session, share_id, pairs)


@operation
def replace(
    unit: Unit, share_id: str, pairs: Mapping[str, str], *, all_keys: bool
) -> dict[str, str]:
    """Make the metadata equal to *pairs*; without *all_keys*, keys of operators stay."""
    old = _hold(unit, share_id)
    locked = _locked(unit, all_keys=all_keys)
    domain.refuse(pairs, locked)
    new = domain.replaced(old, pairs, locked)
    share_metadata.change(unit.session, share_id, old, new)
    return new


@operation
def remove(unit: Unit, share_id: str, key: str, *, all_keys: bool) -> None:
    """Remove one key; raises NotFound, and Refused for an operator's."""
    old = _hold(unit, share_id)
    domain.item(old, key)
    domain.refuse([key], _locked(unit, all_keys=all_keys))
    share_metadata.remove(unit.session, share_id, [key])
