"""What a request on a share decides: one transaction, then one ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.context import Context
from fileshare.db import intents, quotas, shares, transitions, types
from fileshare.db.models import new_id
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session
from fileshare.db.transitions import Held
from fileshare.domain import quotas as domain_quotas
from fileshare.domain import specs
from fileshare.domain.lifecycle import SHARE, Verb
from fileshare.domain.listing import Page
from fileshare.domain.quotas import Charge
from fileshare.domain.statuses import RESETTABLE, Status, TaskState
from fileshare.intents import destinations
from fileshare.intents.kinds import (
    CheckExtend,
    DeleteShare,
    ExtendShare,
    ForceDeleteShare,
    ShrinkShare,
    Work,
)
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation

HIDDEN = (Status.DEFERRED_DELETING, Status.ERROR_DEFERRED_DELETING)


class Shown(NamedTuple):
    """A share as views show it: its columns, its metadata, its export locations."""

    share: Any
    metadata: Mapping[str, str]
    exports: Sequence[Any]

    @property
    def id(self) -> str:
        return str(self.share.id)

    @property
    def project_id(self) -> str:
        return str(self.share.project_id)


class Listing(NamedTuple):
    """A page of shares, and the number on all pages where it was asked for."""

    shares: list[Shown]
    total: int | None


def show(session: Session, rows: Sequence[Any], *, exports: bool = False) -> list[Shown]:
    """*rows* with what hangs on them: one or two statements for all."""
    ids = [row.id for row in rows]
    metadata = shares.metadata_of(session, ids)
    paths = shares.exports_of(session, ids) if exports else {}
    return [Shown(row, metadata.get(row.id, {}), paths.get(row.id, ())) for row in rows]


@operation
def find(
    unit: Unit,
    filters: Mapping[str, Any],
    page: Page,
    *,
    everybodys: bool = False,
    public: bool = False,
    deferred: bool = False,
    detail: bool = True,
    exports: bool = False,
) -> Listing:
    """The caller's shares, or with *everybodys* those of all projects, that pass *filters*."""
    scope = ALL if everybodys else Scope(unit.ctx.project_id or "")
    if not deferred:
        filters = {**filters, "status_not_in": HIDDEN}
    found = shares.find(unit.session, scope, filters, page, public=public)
    if not detail:
        return Listing([Shown(row, {}, ()) for row in found.rows], found.total)
    return Listing(show(unit.session, found.rows, exports=exports), found.total)


@operation
def get(unit: Unit, share_id: str, *, deferred: bool = True, exports: bool = False) -> Shown:
    """One share; raises NotFound."""
    row = shares.get(unit.session, unit.scope, share_id)
    if row.status in HIDDEN and not deferred:
        raise errors.NotFound(resource="Share", id=share_id)
    return show(unit.session, [row], exports=exports)[0]


@operation
def update(unit: Unit, share_id: str, values: Mapping[str, Any]) -> Shown:
    """Change name, description or visibility."""
    if values:
        shares.update(unit.session, unit.scope, share_id, values)
    row = shares.get(unit.session, unit.scope, share_id)
    return show(unit.session, [row], exports=True)[0]


def _take(unit: Unit, verb: Verb, share_id: str) -> tuple[Held, str]:
    """Hold the share for *verb*; what must be true of it whatever the verb is checked here."""
    intent_id = new_id()
    held = transitions.begin(unit.session, verb, share_id, intent_id, unit.scope)
    if held.share.is_soft_deleted and not verb.takes_over and verb is not SHARE["delete"]:
        raise errors.Refused(reason=f"Share {share_id} has been soft deleted.")
    if held.share.task_state in TaskState.BUSY:
        raise errors.Busy(resource="Share", id=share_id, reason=held.share.task_state)
    return held, intent_id


def _promise(
    unit: Unit, held: Held, intent_id: str, work: Work, destination: str, charge: Charge | None
) -> None:
    unit.promise(
        work,
        destination,
        intent_id=intent_id,
        resource_id=held.share.id,
        share_id=held.share.id,
        project_id=held.share.project_id,
        charge=charge,
    )


def charge_of(share: Any, amounts: Mapping[str, int]) -> Charge:
    """A charge of *amounts* on whoever the share is booked to."""
    return Charge(share.project_id, share.user_id, share.share_type_id, amounts)


def whole_charge(share: Any) -> Charge | None:
    """All that the share is booked with; None where its creation failed and gave it back."""
    if not share.is_charged:
        return None
    amounts = domain_quotas.share_amounts(share.size, replicated=bool(share.replication_type))
    return charge_of(share, amounts)


@operation
def extend(
    unit: Unit, share_id: str, new_size: int, *, force: bool = False, beyond_type: bool = False
) -> None:
    """Make a share larger; with *force* the scheduler is not asked whether there is room.

    Raises InvalidInput, OverQuota, and Refused where the project's gigabytes do not suffice.
    """
    held, intent_id = _take(unit, SHARE["extend"], share_id)
    share = held.share
    if new_size <= share.size:
        reason = f"It must be greater than the current size of {share.size} GiB."
        raise errors.InvalidInput(field="new_size", reason=reason)
    limits = specs.size_limits(types.specs_of(unit.session, share.share_type_id))
    refusal = None if beyond_type else limits.refusal(new_size, extend=True)
    if refusal:
        raise errors.InvalidInput(field="new_size", reason=refusal)
    replicas = len(held.instances) if share.replication_type else 0
    delta = new_size - share.size
    charge = charge_of(share, domain_quotas.resize_amounts(delta, replicas=replicas))
    _charge_extension(unit, charge, new_size)
    if force and share.host:
        work: Work = ExtendShare(new_size)
        _promise(unit, held, intent_id, work, destinations.share(share.host), charge)
    else:
        _promise(unit, held, intent_id, CheckExtend(new_size), destinations.SCHEDULER, charge)


def _charge_extension(unit: Unit, charge: Charge, new_size: int) -> None:
    try:
        books = quotas.charge(unit.session, charge, unit.runtime.quota_defaults)
    except errors.OverQuota as error:
        if error.facts["quota"] != "gigabytes":
            raise
        raise errors.Refused(reason=str(error)) from error
    quotas.check_size(books, charge.scopes(), new_size)


@operation
def shrink(unit: Unit, share_id: str, new_size: int) -> None:
    """Make a share smaller; what it gives back is free when the back end has done it."""
    held, intent_id = _take(unit, SHARE["shrink"], share_id)
    share = held.share
    if not 0 < new_size < share.size:
        reason = f"It must be greater than 0 and less than the current size of {share.size} GiB."
        raise errors.InvalidInput(field="new_size", reason=reason)
    limits = specs.size_limits(types.specs_of(unit.session, share.share_type_id))
    if limits.least is not None and new_size < limits.least:
        reason = f"The share type needs at least {limits.least} GiB."
        raise errors.InvalidInput(field="new_size", reason=reason)
    work = ShrinkShare(new_size)
    _promise(unit, held, intent_id, work, destinations.share(share.host or ""), None)


@operation
def delete(unit: Unit, share_id: str, share_group_id: str | None = None) -> None:
    """Remove a share."""
    held, intent_id = _take(unit, SHARE["delete"], share_id)
    if held.share.share_group_id and held.share.share_group_id != share_group_id:
        reason = "It must name the group that the share is in."
        raise errors.InvalidInput(field="share_group_id", reason=reason)
    _remove(unit, held, intent_id, DeleteShare())


@operation
def force_delete(unit: Unit, share_id: str) -> None:
    """Remove a share in whatever status it is, and whatever its back end says."""
    held, intent_id = _take(unit, SHARE["force_delete"], share_id)
    _supersede(unit, held, "superseded by force_delete")
    _remove(unit, held, intent_id, ForceDeleteShare())


def _remove(unit: Unit, held: Held, intent_id: str, work: Work) -> None:
    if held.share.has_replicas:
        raise errors.Conflict(reason=f"Share {held.share.id} has replicas.")
    if held.share.host:
        destination = destinations.share(held.share.host)
        _promise(unit, held, intent_id, work, destination, None)
        return
    # No back end ever held it: it is gone at once.
    shares.drop_children(unit.session, held.share.id)
    transitions.vanish(unit.session, held.share.id)
    quotas.refund(unit.session, whole_charge(held.share))


def _supersede(unit: Unit, held: Held, reason: str) -> None:
    """Close what works on the share; a creation's charge stays with the share."""
    intent = intents.supersede(unit.session, SHARE.resource, held.share.id, reason)
    if intent is not None and intent.event != SHARE["create"].event:
        quotas.refund(unit.session, Charge.load(intent.charges))


@operation
def reset_status(unit: Unit, share_id: str, status: str) -> None:
    """Set a share to *status*, whatever works on it; raises InvalidInput for other statuses."""
    if status not in RESETTABLE:
        reason = f"{status!r} is not one of {', '.join(RESETTABLE)}."
        raise errors.InvalidInput(field="status", reason=reason)
    held = transitions.reset(unit.session, share_id, status, unit.scope)
    _supersede(unit, held, f"superseded by reset_status to {status}")
    if status == Status.AVAILABLE and not held.share.is_charged:
        amounts = domain_quotas.share_amounts(
            held.share.size, replicated=bool(held.share.replication_type)
        )
        charge = charge_of(held.share, amounts)
        quotas.charge(unit.session, charge, unit.runtime.quota_defaults)
        transitions.mark_charged(unit.session, share_id)


def exports(runtime: Runtime, ctx: Context, share_id: str) -> list[Any]:
    """Export locations of a share, its back end's order; raises NotFound."""
    return list(get(runtime, ctx, share_id, exports=True).exports)


def export(runtime: Runtime, ctx: Context, share_id: str, export_id: str) -> Any:
    """One export location; raises NotFound, and Refused for an operator's that is not shown."""
    for row in exports(runtime, ctx, share_id):
        if row.id == export_id:
            if row.is_admin_only and not ctx.is_admin:
                raise errors.Refused(reason="This export location is for administrators.")
            return row
    raise errors.NotFound(resource="Export location", id=export_id)
