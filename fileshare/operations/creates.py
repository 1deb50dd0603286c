"""Creating a share: what is checked, charged and inserted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

from fileshare import errors
from fileshare.db import (
    quotas,
    request_keys,
    share_metadata,
    shares,
    transitions,
    types,
    zones,
)
from fileshare.db.models import AvailabilityZone, new_id
from fileshare.db.types import TypeAndSpecs
from fileshare.domain import specs
from fileshare.domain.metadata import refuse_twins
from fileshare.domain.quotas import Charge, share_amounts
from fileshare.domain.statuses import ReplicaState
from fileshare.intents import destinations
from fileshare.intents.kinds import PlaceShare
from fileshare.intents.unit import Unit, operation
from fileshare.operations import hints
from fileshare.operations.shares import Shown, show


@dataclass(frozen=True, slots=True)
class NewShare:
    """What a caller asks for; sizes are GiB, *share_type* and *availability_zone* name or id.

    Without *check_zones* the zones of the type do not count, neither here nor for the placement.
    """

    share_proto: str
    size: int
    name: str | None = None
    description: str | None = None
    share_type: str | None = None
    availability_zone: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    is_public: bool = False
    scheduler_hints: Mapping[str, str] = field(default_factory=dict)
    mount_point_name: str | None = None
    snapshot_id: str | None = None
    share_network_id: str | None = None
    share_group_id: str | None = None
    encryption_key_ref: str | None = None
    check_zones: bool = True


@operation
def create(unit: Unit, new: NewShare, key: str | None = None) -> Shown:
    """A share that is being created; with a *key*, the one that it has made before.

    Raises InvalidInput for what the type or the options do not allow, NotFound for what is
    named and not there, OverQuota, and Conflict for a key of another request.
    """
    share_id = new_id()
    if key is not None:
        made = _made_by(unit, new, key, share_id)
        if made is not None:
            return made
    protocol = _protocol(unit, new.share_proto)
    _refuse_absent(new)
    share_type = _share_type(unit, new.share_type)
    _check_type(share_type, new)
    zone = _zone(unit, share_type, new)
    replicated = share_type.specs.get(specs.REPLICATION_TYPE)
    charge = Charge(
        unit.ctx.project_id or "",
        unit.ctx.user_id,
        share_type.id,
        share_amounts(new.size, replicated=bool(replicated)),
    )
    metadata = {
        **_of_the_type(unit, share_type),
        **new.metadata,
        **hints.keep(unit, share_id, new.scheduler_hints),
    }
    refuse_twins(metadata)
    books = quotas.charge(unit.session, charge, unit.runtime.quota_defaults)
    quotas.check_size(books, charge.scopes(), new.size)
    columns = _insert(unit, share_id, new, protocol, share_type, zone, charge)
    share_metadata.add(unit.session, share_id, metadata)
    row = SimpleNamespace(
        **columns,
        metadata=metadata,
        availability_zone=zone.name if zone else None,
        share_type_name=share_type.name,
    )
    return Shown(row)


def _made_by(unit: Unit, new: NewShare, key: str, share_id: str) -> Shown | None:
    """The share that a request with this key has made; None where this is the first one."""
    ctx = unit.ctx
    text = json.dumps(asdict(new), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()
    whose = (ctx.project_id or "", ctx.user_id or "")
    made = request_keys.claim(unit.session, *whose, key, digest, share_id)
    if made == share_id:
        return None
    try:
        row = shares.get(unit.session, unit.scope, made)
    except errors.NotFound as error:
        reason = f"Share {made}, which the Idempotency-Key has made, is gone."
        raise errors.Conflict(reason=reason) from error
    return show(unit.session, [row], exports=True)[0]


def _protocol(unit: Unit, share_proto: str) -> str:
    protocol = share_proto.upper()
    enabled = unit.runtime.conf.enabled_share_protocols
    if protocol not in enabled:
        reason = f"{share_proto!r} is not one of the enabled protocols {', '.join(enabled)}."
        raise errors.InvalidInput(field="share_proto", reason=reason)
    return protocol


def _refuse_absent(new: NewShare) -> None:
    """Parents of kinds that a project cannot have made are not there."""
    for resource, parent_id in (
        ("Snapshot", new.snapshot_id),
        ("Share network", new.share_network_id),
        ("Share group", new.share_group_id),
    ):
        if parent_id:
            raise errors.NotFound(resource=resource, id=parent_id)


def _share_type(unit: Unit, name_or_id: str | None) -> TypeAndSpecs:
    wanted = name_or_id or unit.runtime.conf.default_share_type
    if not wanted:
        reason = "None was given, and no default share type is configured."
        raise errors.InvalidInput(field="share_type", reason=reason)
    return types.get(unit.session, unit.scope, wanted)


def _check_type(share_type: TypeAndSpecs, new: NewShare) -> None:
    if specs.flag(share_type.specs, specs.SHARE_SERVERS):
        reason = "The share type handles share servers and needs a share network."
        raise errors.InvalidInput(field="share_network_id", reason=reason)
    refusal = specs.size_limits(share_type.specs).refusal(new.size)
    if refusal:
        raise errors.InvalidInput(field="size", reason=refusal)
    if new.encryption_key_ref:
        reason = "The share type offers no encryption with own keys."
        raise errors.InvalidInput(field="encryption_key_ref", reason=reason)


def _of_the_type(unit: Unit, share_type: TypeAndSpecs) -> dict[str, str]:
    """Metadata that the type sets: its extra specs that are keys of driver_updatable_metadata."""
    keys = unit.runtime.conf.driver_updatable_metadata
    return {key: share_type.specs[key] for key in keys if key in share_type.specs}


def _zone(unit: Unit, share_type: TypeAndSpecs, new: NewShare) -> AvailabilityZone | None:
    if not new.availability_zone:
        return None
    zone = zones.get(unit.session, new.availability_zone)
    allowed = specs.zones(share_type.specs)
    if new.check_zones and allowed and zone.name not in allowed:
        reason = f"The share type is offered in {', '.join(allowed)} only."
        raise errors.InvalidInput(field="availability_zone", reason=reason)
    return zone


def _mount_point(unit: Unit, share_type: TypeAndSpecs, name: str | None) -> str | None:
    """The name under which the share is exported: a prefix and the caller's choice."""
    if not name:
        return None
    if not specs.flag(share_type.specs, specs.MOUNT_POINT_NAME):
        reason = "The share type does not support it."
        raise errors.InvalidInput(field="mount_point_name", reason=reason)
    own = share_type.specs.get(specs.MOUNT_POINT_PREFIX)
    general = unit.runtime.conf.default_mount_point_prefix
    prefix = f"{own}_" if own else general.replace("{project_id}", unit.ctx.project_id or "")
    whole = prefix + name
    if not specs.MOUNT_POINT.fullmatch(whole):
        reason = "It may hold letters, digits, underscores and hyphens, 255 with its prefix."
        raise errors.InvalidInput(field="mount_point_name", reason=reason)
    return whole


def _insert(
    unit: Unit,
    share_id: str,
    new: NewShare,
    protocol: str,
    share_type: TypeAndSpecs,
    zone: AvailabilityZone | None,
    charge: Charge,
) -> Mapping[str, Any]:
    intent_id = new_id()
    replication = share_type.specs.get(specs.REPLICATION_TYPE)
    placed = {
        "availability_zone_id": zone.id if zone else None,
        "share_type_id": share_type.id,
        "progress": "0%",
    }
    share = {
        "id": share_id,
        "project_id": charge.project_id,
        "user_id": unit.ctx.user_id,
        "display_name": new.name,
        "display_description": new.description,
        "size": new.size,
        "share_proto": protocol,
        "is_public": new.is_public,
        "mount_point_name": _mount_point(unit, share_type, new.mount_point_name),
        "replication_type": replication,
        **{name: specs.flag(share_type.specs, name) for name in _FLAGS},
        **placed,
    }
    instance = {
        "id": new_id(),
        "share_id": share_id,
        "replica_state": ReplicaState.ACTIVE if replication else None,
        **placed,
    }
    columns = transitions.birth(unit.session, share, instance, intent_id)
    unit.promise(
        PlaceShare(hints=dict(new.scheduler_hints), any_zone=not new.check_zones),
        destinations.SCHEDULER,
        intent_id=intent_id,
        resource_id=share_id,
        share_id=share_id,
        project_id=charge.project_id,
        charge=charge,
    )
    return columns


_FLAGS = (
    specs.SNAPSHOT,
    specs.CREATE_FROM_SNAPSHOT,
    specs.REVERT,
    specs.MOUNT_SNAPSHOT,
    specs.INHERIT_ACCESS,
)
