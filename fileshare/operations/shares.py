"""What a request on a share decides: one transaction, then one ring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.db import exports as db_exports
from fileshare.db import quotas, recycle_bin, shares, transitions, types
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session
from fileshare.domain import quotas as domain_quotas
from fileshare.domain import specs
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.listing import Page
from fileshare.domain.quotas import Charge
from fileshare.domain.statuses import OUT_OF_SIGHT, RESETTABLE
from fileshare.intents import changes, destinations
from fileshare.intents.holding import (
    charge_again,
    charge_of,
    promise,
    refuse_busy,
    remove,
    remove_later,
    supersede,
    take,
)
from fileshare.intents.kinds import (
    CheckExtend,
    DeleteShare,
    ExtendShare,
    ForceDeleteShare,
    ShrinkShare,
    Work,
)
from fileshare.intents.unit import Unit, operation


class Shown(NamedTuple):
    """A share as views show it: its columns, and its export locations where they are asked for."""

    share: Any
    exports: Sequence[Any] = ()

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
    """*rows* with what hangs on them."""
    if not exports:
        return [Shown(row) for row in rows]
    paths = db_exports.of_shares(session, [row.id for row in rows])
    return [Shown(row, paths.get(row.id, ())) for row in rows]


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
        filters = {**filters, "status_not_in": OUT_OF_SIGHT}
    columns = shares.COLUMNS if detail else shares.BRIEF
    found = shares.find(unit.session, scope, filters, page, public=public, columns=columns)
    return Listing(show(unit.session, found.rows, exports=exports), found.total)


@operation
def get(unit: Unit, share_id: str, *, deferred: bool = True, exports: bool = False) -> Shown:
    """One share; raises NotFound."""
    row = shares.get(unit.session, unit.scope, share_id, deferred=deferred)
    if row.status in OUT_OF_SIGHT and not deferred:
        raise errors.NotFound(resource="Share", id=share_id)
    return show(unit.session, [row], exports=exports)[0]


@operation
def update(unit: Unit, share_id: str, values: Mapping[str, Any]) -> Shown:
    """Change name, description or visibility."""
    shares.update(unit.session, unit.scope, share_id, values)
    changes.tell_of_share(unit, "share.update", share_id, changed=sorted(values))
    row = shares.get(unit.session, unit.scope, share_id)
    return show(unit.session, [row], exports=True)[0]


@operation
def extend(
    unit: Unit, share_id: str, new_size: int, *, force: bool = False, beyond_type: bool = False
) -> None:
    """Make a share larger; with *force* the scheduler is not asked whether there is room.

    Raises InvalidInput, OverQuota, and Refused where the project's gigabytes do not suffice.
    """
    held, intent_id = take(unit, SHARE["extend"], share_id)
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
        promise(unit, held, intent_id, work, destinations.share(share.host), charge)
    else:
        promise(unit, held, intent_id, CheckExtend(new_size), destinations.SCHEDULER, charge)


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
    held, intent_id = take(unit, SHARE["shrink"], share_id)
    share = held.share
    if not share.host:
        # Declared good although it was never made: nobody would ever take the work.
        raise errors.Busy(resource="Share", id=share_id, reason="no back end holds it")
    if not 0 < new_size < share.size:
        reason = f"It must be greater than 0 and less than the current size of {share.size} GiB."
        raise errors.InvalidInput(field="new_size", reason=reason)
    limits = specs.size_limits(types.specs_of(unit.session, share.share_type_id))
    if limits.least is not None and new_size < limits.least:
        reason = f"The share type needs at least {limits.least} GiB."
        raise errors.InvalidInput(field="new_size", reason=reason)
    work = ShrinkShare(new_size)
    promise(unit, held, intent_id, work, destinations.share(share.host))


@operation
def delete(unit: Unit, share_id: str, share_group_id: str | None = None) -> None:
    """Remove a share; where deletions are deferred, it is out of sight and free of charge now."""
    deferred = unit.runtime.conf.is_deferred_deletion_enabled
    held, intent_id = take(unit, SHARE["deferred_delete" if deferred else "delete"], share_id)
    if held.share.share_group_id and held.share.share_group_id != share_group_id:
        reason = "It must name the group that the share is in."
        raise errors.InvalidInput(field="share_group_id", reason=reason)
    if deferred:
        remove_later(unit, held, intent_id)
    else:
        remove(unit, held, intent_id, DeleteShare())


@operation
def force_delete(unit: Unit, share_id: str) -> None:
    """Remove a share in whatever status it is, and whatever its back end says."""
    held, intent_id = take(unit, SHARE["force_delete"], share_id)
    supersede(unit, held, "superseded by force_delete")
    remove(unit, held, intent_id, ForceDeleteShare())


@operation
def reset_status(unit: Unit, share_id: str, status: str) -> None:
    """Set a share to *status*, whatever works on it; raises InvalidInput for other statuses."""
    if status not in RESETTABLE:
        reason = f"{status!r} is not one of {', '.join(RESETTABLE)}."
        raise errors.InvalidInput(field="status", reason=reason)
    held = transitions.reset(unit.session, share_id, status, unit.scope)
    supersede(unit, held, f"superseded by reset_status to {status}")
    charge_again(unit, held)
    changes.tell_of_share(unit, "share.reset_status", share_id)


@operation
def reset_task_state(unit: Unit, share_id: str, task_state: str | None) -> None:
    """Set what a share says of its migration; raises NotFound, and Refused in the bin."""
    transitions.reset_task_state(unit.session, share_id, task_state, unit.scope)
    changes.tell_of_share(unit, "share.reset_task_state", share_id, task_state=task_state)


@operation
def soft_delete(unit: Unit, share_id: str) -> None:
    """Put a share into the recycle bin, where it stays for soft_deleted_share_retention_time.

    Raises Refused for one that is there, WrongStatus, Busy, and Conflict where it has replicas.
    """
    seconds = unit.runtime.conf.soft_deleted_share_retention_time
    held = recycle_bin.put(unit.session, share_id, unit.scope, seconds)
    refuse_busy(held)
    if held.share.has_replicas:
        raise errors.Conflict(reason=f"Share {share_id} has replicas.")
    changes.tell_of_share(unit, "share.soft_delete", share_id)


@operation
def restore(unit: Unit, share_id: str) -> bool:
    """Take a share out of the recycle bin; False where it was not there.

    Raises WrongStatus for one that is being removed.
    """
    restored = recycle_bin.take_out(unit.session, share_id, unit.scope)
    if restored:
        changes.tell_of_share(unit, "share.restore", share_id)
    return restored
