"""What an operator's request on share instances decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.db import exports, instances, shares, transitions
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import RESETTABLE
from fileshare.intents import changes, holding
from fileshare.intents.kinds import ForceDeleteShare
from fileshare.intents.unit import Unit, operation


class Shown(NamedTuple):
    """An instance as views show it: its columns and its export locations."""

    instance: Any
    exports: Sequence[Any]


def _show(unit: Unit, rows: Sequence[Any], *, with_exports: bool) -> list[Shown]:
    ids = [row.id for row in rows]
    paths = exports.of_instances(unit.session, ids) if with_exports else {}
    return [Shown(row, paths.get(row.id, ())) for row in rows]


@operation
def find(unit: Unit, filters: Mapping[str, Any], *, with_exports: bool = False) -> list[Shown]:
    """The instances that pass *filters*."""
    return _show(unit, instances.find(unit.session, filters), with_exports=with_exports)


@operation
def of_share(unit: Unit, share_id: str, *, with_exports: bool = False) -> list[Shown]:
    """The instances of a share; raises NotFound for the share."""
    shares.get(unit.session, unit.scope, share_id)
    return _show(unit, instances.of_share(unit.session, share_id), with_exports=with_exports)


@operation
def get(unit: Unit, instance_id: str, *, with_exports: bool = False) -> Shown:
    """One instance; raises NotFound."""
    rows = [instances.get(unit.session, instance_id)]
    return _show(unit, rows, with_exports=with_exports)[0]


@operation
def export_locations(unit: Unit, instance_id: str) -> Sequence[Any]:
    """Where an instance is mounted from; raises NotFound for the instance."""
    instances.get(unit.session, instance_id)
    return exports.of_instances(unit.session, [instance_id]).get(instance_id, [])


@operation
def export_location(unit: Unit, instance_id: str, export_id: str) -> Any:
    """One export location of an instance; raises NotFound."""
    instances.get(unit.session, instance_id)
    for row in exports.of_instances(unit.session, [instance_id]).get(instance_id, []):
        if row.id == export_id:
            return row
    raise errors.NotFound(resource="Export location", id=export_id)


@operation
def reset_status(unit: Unit, instance_id: str, status: str) -> None:
    """Set an instance to *status*, whatever works on it; its share shows what follows."""
    if status not in RESETTABLE:
        reason = f"{status!r} is not one of {', '.join(RESETTABLE)}."
        raise errors.InvalidInput(field="status", reason=reason)
    held = transitions.reset_instance(unit.session, instance_id, status)
    holding.supersede(unit, held, f"superseded by reset_status of an instance to {status}")
    holding.charge_again(unit, held)
    facts = {"share_instance_id": instance_id, "instance_status": status}
    changes.tell_of_share(unit, "share_instance.reset_status", held.share.id, **facts)


@operation
def force_delete(unit: Unit, instance_id: str) -> None:
    """Remove an instance whatever its status is and its back end says.

    With its only instance the share is gone.  Raises NotFound, and Conflict where the share has
    replicas, which are removed as such.
    """
    row = instances.get(unit.session, instance_id)
    held, intent_id = holding.take(unit, SHARE["force_delete"], row.share_id, busy=True)
    if instance_id not in {instance.id for instance in held.instances}:
        raise errors.NotFound(resource="Share instance", id=instance_id)
    if len(held.instances) > 1:
        raise errors.Conflict(reason=f"Share {held.share.id} has more than one instance.")
    holding.supersede(unit, held, "superseded by force_delete of its instance")
    holding.remove(unit, held, intent_id, ForceDeleteShare())
