"""Recording an outcome: close or pass on the intent, settle its resource, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fileshare import errors
from fileshare.db import intents, messages, quotas, shares, transitions
from fileshare.db.models import Intent
from fileshare.db.session import Session
from fileshare.db.transitions import Settlement, rule_states
from fileshare.domain.lifecycle import ACCESS, SHARE, Verb
from fileshare.domain.notices import Notice
from fileshare.domain.statuses import IntentState, Status
from fileshare.intents import announcements, holding
from fileshare.intents.announcements import Begun
from fileshare.intents.job import Job
from fileshare.intents.outcomes import Again, Done, Failed, HandOn, Outcome, Park, describe


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is to be done after the commit: ring for the intent at once, and send notices."""

    ring: bool
    notices: Sequence[Notice]


def record(session: Session, job: Job[Any], outcome: Outcome, begun: Begun) -> Recorded:
    """Write *outcome*."""
    before = announcements.look(session, job, outcome)
    ring = _write(session, job, outcome)
    return Recorded(ring, announcements.at_end(session, job, outcome, before, begun))


def _write(session: Session, job: Job[Any], outcome: Outcome) -> bool:
    match outcome:
        case Done():
            return _done(session, job, outcome)
        case Again(seconds, work, failed):
            return _again(session, job, seconds, work.dump() if work else None, failed=failed)
        case HandOn():
            _hand_on(session, job, outcome)
            return True
        case Park(settlement):
            intents.park(session, job.intent)
            transitions.note(session, job.intent, settlement)
            return False
        case Failed():
            _failed(session, job, outcome)
            return False


def _done(session: Session, job: Job[Any], outcome: Done) -> bool:
    verb = job.work.verb()
    status = verb.failed if outcome.failed_partly else verb.done
    settled = transitions.settle(session, job.intent, status, outcome.settlement)
    for write in outcome.writes:
        write(session)
    if not settled:
        intents.again(session, job.intent, 0, failed=False)
        return True
    quotas.refund(session, outcome.refund)
    if outcome.error is None:
        intents.close(session, job.intent, IntentState.DONE)
    else:
        intents.close(session, job.intent, IntentState.FAILED, describe(outcome.error))
    return False


def _again(
    session: Session,
    job: Job[Any],
    seconds: float,
    payload: dict[str, Any] | None,
    *,
    failed: bool,
) -> bool:
    intents.again(session, job.intent, seconds, failed=failed, payload=payload)
    return seconds <= 0


def _hand_on(session: Session, job: Job[Any], outcome: HandOn) -> None:
    trace = {"trace": [*job.intent.trace, outcome.trace]} if outcome.trace else {}
    intents.hand_on(
        session,
        job.intent,
        kind=outcome.work.kind,
        version=outcome.work.version,
        payload=outcome.work.dump(),
        destination=outcome.destination,
        **trace,
    )
    transitions.note(session, job.intent, outcome.settlement)
    for write in outcome.writes:
        write(session)


def _failed(session: Session, job: Job[Any], outcome: Failed) -> None:
    verb = job.work.verb()
    error = outcome.error
    status = _failed_status(verb, error, job.intent)
    settlement = Settlement()
    if verb is SHARE["create"]:
        # A share that was never made takes no quota; deleting it gives nothing back.
        settlement = Settlement(share={"is_charged": False})
    if status == Status.DELETED:
        # By force: the share is gone although the work was given up.
        share = transitions.read(session, job.resource_id).share
        shares.drop_children(session, share.id)
        quotas.refund(session, holding.whole_charge(share) if share.is_charged else None)
    transitions.settle(session, job.intent, status, settlement)
    for write in outcome.writes:
        write(session)
    if verb.resource == ACCESS.resource:
        rule_states.fail_queued(session, job.resource_id, errors.storable(str(error)))
    quotas.refund(session, job.charge)
    trace = {"trace": [*job.intent.trace, outcome.trace]} if outcome.trace else {}
    intents.close(session, job.intent, IntentState.FAILED, describe(error), **trace)
    tell(session, job, error)


def _failed_status(verb: Verb, error: Exception, intent: Intent) -> str:
    declines = isinstance(error, errors.FileshareError) and error.declines
    # What no back end ever took up has changed nothing either, whyever it was given up.
    untouched = declines or not intent.begun
    return verb.declined if untouched and verb.declined else verb.failed


def tell(session: Session, job: Job[Any], error: Exception) -> None:
    """Write the user message of a failure."""
    intent = job.intent
    if not intent.project_id:
        return
    messages.write(
        session,
        event=intent.event,
        error=error,
        project_id=intent.project_id,
        resource_id=intent.share_id or intent.resource_id,
        request_id=intent.request_id,
        ttl=job.runtime.conf.message_ttl,
        reason=str(error) if isinstance(error, errors.FileshareError) else None,
    )
