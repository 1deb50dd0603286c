"""What a request on the metadata of a share decides."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fileshare.db import intents, messages, share_metadata, shares
from fileshare.db.models import new_id
from fileshare.domain import metadata as domain
from fileshare.domain.lifecycle import METADATA
from fileshare.intents import changes, destinations
from fileshare.intents.kinds import UpdateMetadata
from fileshare.intents.unit import Unit, operation


def _all(unit: Unit, share_id: str) -> dict[str, str]:
    shares.get(unit.session, unit.scope, share_id)
    return share_metadata.of(unit.session, share_id)


@operation
def find(unit: Unit, share_id: str) -> dict[str, str]:
    """All metadata of a share; raises NotFound."""
    return _all(unit, share_id)


@operation
def get(unit: Unit, share_id: str, key: str) -> dict[str, str]:
    """One key with its value; raises NotFound."""
    return domain.item(_all(unit, share_id), key)


def _locked(unit: Unit, *, all_keys: bool) -> frozenset[str]:
    return frozenset(() if all_keys else unit.runtime.conf.admin_only_metadata)


def _hold(unit: Unit, share_id: str) -> tuple[Any, dict[str, str]]:
    """A share that the caller may change, and its metadata, which nobody else changes meanwhile.

    The share is read when it is held: of one that finds its place until then, the back end has
    read the metadata already and must be told.
    """
    old = share_metadata.hold(unit.session, share_id)
    return shares.own(unit.session, unit.scope, share_id), old


@operation
def merge(
    unit: Unit, share_id: str, pairs: Mapping[str, str], *, all_keys: bool
) -> dict[str, str]:
    """Set each of *pairs*, and return all that there is then.

    Without *all_keys*, the keys of admin_only_metadata are refused.
    """
    share, old = _hold(unit, share_id)
    domain.refuse(pairs, _locked(unit, all_keys=all_keys))
    return _change(unit, share, old, {**old, **pairs}, pairs)


@operation
def replace(
    unit: Unit, share_id: str, pairs: Mapping[str, str], *, all_keys: bool
) -> dict[str, str]:
    """Make the metadata equal to *pairs*; without *all_keys*, keys of operators stay."""
    share, old = _hold(unit, share_id)
    locked = _locked(unit, all_keys=all_keys)
    domain.refuse(pairs, locked)
    return _change(unit, share, old, domain.replaced(old, pairs, locked), pairs)


@operation
def remove(unit: Unit, share_id: str, key: str, *, all_keys: bool) -> None:
    """Remove one key; raises NotFound, and Refused for an operator's."""
    share, old = _hold(unit, share_id)
    domain.item(old, key)
    domain.refuse([key], _locked(unit, all_keys=all_keys))
    _change(unit, share, old, domain.without(old, key), ())


def _change(
    unit: Unit,
    share: Any,
    old: Mapping[str, str],
    new: dict[str, str],
    given: Collection[str],
) -> dict[str, str]:
    domain.refuse_twins(new)
    share_metadata.change(unit.session, share.id, old, new)
    changes.tell_of_share(unit, "share_metadata.update", share.id, metadata=new)
    keys = set(unit.runtime.conf.driver_updatable_metadata)
    if keys.intersection(given) and share.host:
        _promise(unit, share)
    if keys.intersection(old) - set(new):
        messages.add(
            unit.session,
            action="UPDATE_METADATA",
            detail="UPDATE_METADATA_NOT_DELETED",
            project_id=share.project_id,
            resource_id=share.id,
            request_id=unit.ctx.request_id,
            ttl=unit.runtime.conf.message_ttl,
        )
    return new


def _promise(unit: Unit, share: Any) -> None:
    """Let the back end be told; what it is being told already is out of date."""
    intents.supersede(unit.session, METADATA.resource, share.id, "The metadata changed again.")
    unit.promise(
        UpdateMetadata(),
        destinations.share(share.host),
        intent_id=new_id(),
        resource_id=share.id,
        share_id=share.id,
        project_id=share.project_id,
    )
