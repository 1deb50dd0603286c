"""Taking a share for a verb, and what the taking may end in.

Used by what decides for users, and by what the service decides on its own.
"""

from __future__ import annotations

from typing import Any

from fileshare import errors
from fileshare.db import intents, quotas, shares, transitions
from fileshare.db.models import Intent, new_id
from fileshare.db.transitions import Held
from fileshare.domain import quotas as domain
from fileshare.domain.lifecycle import SHARE, Verb
from fileshare.domain.notices import Phase
from fileshare.domain.quotas import Charge
from fileshare.domain.statuses import Status, TaskState
from fileshare.intents import announcements, destinations
from fileshare.intents.kinds import DeferredDeleteShare, SyncAccess, Work
from fileshare.intents.unit import Unit


def take(unit: Unit, verb: Verb, share_id: str, *, busy: bool = False) -> tuple[Held, str]:
    """Hold the share for *verb*; returns it with the id that its intent must get.

    Raises NotFound, Forbidden, WrongStatus, Refused for a share in the recycle bin, and Busy
    where a task runs on it, unless *busy* ones are taken too.
    """
    intent_id = new_id()
    held = transitions.begin(unit.session, verb, share_id, intent_id, unit.scope)
    if not busy:
        refuse_busy(held)
    return held, intent_id


def refuse_busy(held: Held) -> None:
    """Raise Busy where a migration works on the share."""
    if held.share.task_state in TaskState.BUSY:
        raise errors.Busy(resource="Share", id=held.share.id, reason=held.share.task_state)


def promise(
    unit: Unit,
    held: Held,
    intent_id: str,
    work: Work,
    destination: str,
    charge: Charge | None = None,
) -> None:
    """Promise *work* on a share that was taken."""
    unit.promise(
        work,
        destination,
        intent_id=intent_id,
        resource_id=held.share.id,
        share_id=held.share.id,
        project_id=held.share.project_id,
        charge=charge,
    )


def promise_rules(
    unit: Unit,
    intent_id: str,
    instance_id: str,
    host: str,
    *,
    share_id: str,
    project_id: str | None,
) -> Intent:
    """Promise that the rules of an instance, which *intent_id* is on, are applied at *host*."""
    return unit.promise(
        SyncAccess(),
        destinations.share(host),
        intent_id=intent_id,
        resource_id=instance_id,
        share_id=share_id,
        project_id=project_id,
    )


def charge_of(share: Any, amounts: dict[str, int]) -> Charge:
    """A charge of *amounts* on whoever the share is booked to."""
    return Charge(share.project_id, share.user_id, share.share_type_id, amounts)


def whole_charge(share: Any) -> Charge:
    """All that a share is booked with."""
    replicated = bool(share.replication_type)
    return charge_of(share, domain.share_amounts(share.size, replicated=replicated))


def remove(unit: Unit, held: Held, intent_id: str, work: Work) -> None:
    """Let the back end remove a share that was taken; raises Conflict where it has replicas."""
    if held.share.has_replicas:
        raise errors.Conflict(reason=f"Share {held.share.id} has replicas.")
    if held.share.host:
        promise(unit, held, intent_id, work, destinations.share(held.share.host))
        return
    # No back end ever held it: it is gone at once.
    shares.drop_children(unit.session, held.share.id)
    transitions.vanish(unit.session, held.share.id)
    gone = Intent(
        event=work.event,
        share_id=held.share.id,
        begun=0,
        project_id=held.share.project_id,
        user_id=unit.ctx.user_id,
        request_id=unit.ctx.request_id,
    )
    _tell(unit, gone, Phase.END)
    if held.share.is_charged:
        quotas.refund(unit.session, whole_charge(held.share))


def remove_later(unit: Unit, held: Held, intent_id: str) -> None:
    """Let the back end remove a share that was taken, and free its quota now; see `remove`."""
    remove(unit, held, intent_id, DeferredDeleteShare())
    if held.share.host and held.share.is_charged:
        quotas.refund(unit.session, whole_charge(held.share))
        transitions.mark_charged(unit.session, held.share.id, charged=False)


def supersede(unit: Unit, held: Held, reason: str) -> None:
    """Close what works on the share; a creation's charge stays with the share."""
    intent = intents.supersede(unit.session, SHARE.resource, held.share.id, reason)
    if intent is None:
        return
    if intent.event != SHARE["create"].event:
        quotas.refund(unit.session, Charge.load(intent.charges))
    _tell(unit, intent, Phase.ERROR, reason)


def _tell(unit: Unit, intent: Intent, phase: Phase, reason: str | None = None) -> None:
    """Announce the end of work that ended here and not at a worker."""
    if unit.runtime.notifier.is_on:
        by = announcements.api(unit.runtime)
        unit.notices += announcements.of_work(unit.session, by, intent, phase, reason)


def charge_again(unit: Unit, held: Held) -> None:
    """Book a share whose creation had failed, and that is declared good; raises OverQuota."""
    if held.share.status == Status.AVAILABLE and not held.share.is_charged:
        quotas.charge(unit.session, whole_charge(held.share), unit.runtime.quota_defaults)
        transitions.mark_charged(unit.session, held.share.id)
