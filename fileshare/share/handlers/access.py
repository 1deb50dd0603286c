"""Bringing the rules that a back end enforces in line with those of an instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from oslo_log import log as logging

from fileshare import errors
from fileshare.db import access
from fileshare.db.access import RuleOnInstance
from fileshare.db.session import Session
from fileshare.db.transitions import Settlement, rule_states
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import RuleState
from fileshare.drivers.model import AccessChange, AccessResult, AccessRule
from fileshare.intents.consumer import Handlers
from fileshare.intents.job import Job
from fileshare.intents.kinds import SyncAccess
from fileshare.intents.outcomes import Again, Done, Outcome, describe
from fileshare.intents.record import tell
from fileshare.share import references
from fileshare.share.references import Subject

LOG = logging.getLogger(__name__)

handlers = Handlers()

_PAUSE = 1.0
"""Seconds that the rules of a share that is being removed wait for its end."""
_GOING = frozenset(verb.during for verb in SHARE if verb.removes)


class Plan(NamedTuple):
    """The rules of an instance by what shall become of them."""

    keep: list[RuleOnInstance]
    deny: list[RuleOnInstance]

    @property
    def unsettled(self) -> list[RuleOnInstance]:
        """Rules to keep that the back end has still to do something about."""
        return [rule for rule in self.keep if rule.state != RuleState.ACTIVE]


def _read(session: Session, instance_id: str) -> tuple[Subject, Plan]:
    # The version is read with the instance, before the rules: a rule that is queued in between
    # is applied now, and looked at once more.
    subject = references.of_instance(session, instance_id)
    rules = access.on_instance(session, instance_id)
    # What was denied goes, whatever became of an earlier try: never is it granted again.
    deny = [rule for rule in rules if rule.is_denied]
    return subject, Plan([rule for rule in rules if not rule.is_denied], deny)


def _change(subject: Subject, plan: Plan) -> AccessChange:
    def those(rules: Sequence[RuleOnInstance], *states: str) -> tuple[AccessRule, ...]:
        return tuple(
            references.access_rule(rule, subject.instance)
            for rule in rules
            if not states or rule.state in states
        )

    return AccessChange(
        rules=those(plan.keep),
        added=those(plan.keep, RuleState.QUEUED_TO_APPLY, RuleState.APPLYING, RuleState.ERROR),
        removed=those(plan.deny),
        changed=those(plan.keep, RuleState.QUEUED_TO_UPDATE, RuleState.UPDATING),
    )


@handlers.handles(SyncAccess)
def sync(job: Job[SyncAccess]) -> Outcome:
    """Apply all rules of the instance as a set; one bad rule does not spoil the others.

    The rules are read when nobody else makes a call about the instance: of what was denied
    while another one was awaited, nothing is granted again.
    """
    try:
        with job.driving(job.resource_id) as driver:
            subject, plan = job.read(_read, job.resource_id)
            result = driver.apply_access(subject.ref, _change(subject, plan))
    except errors.NotFound:
        return Done()  # deleted meanwhile, with its rules
    except errors.DriverError as error:
        if error.transient and job.intent.attempts < job.runtime.conf.intents.max_attempts:
            raise
        if subject.instance.status in _GOING:
            return Again(_PAUSE)  # gone from the back end already, and soon from here
        if isinstance(error, errors.ShareLost):
            return _lost(job, subject, plan, error)
        return _failed(job, subject, plan, error)
    return _outcome(job, subject, plan, result)


def _outcome(job: Job[SyncAccess], subject: Subject, plan: Plan, result: AccessResult) -> Outcome:
    refused = {
        id: errors.storable(found.error) for id, found in result.rules.items() if found.error
    }
    forbidden = {id for id, found in result.rules.items() if found.forbidden}
    keys = {id: found.key for id, found in result.rules.items() if found.key}
    failed = {rule.mapping_id: refused[rule.id] for rule in plan.keep if rule.id in refused}
    news = [rule for rule in plan.keep if rule.id in refused and rule.state != RuleState.ERROR]

    def write(session: Session) -> None:
        access.record(
            session,
            applied=[rule for rule in plan.keep if rule.id not in refused],
            denied=plan.deny,
            failed=failed,
            keys=keys,
        )
        for rule in news:
            kind = errors.ForbiddenAccess if rule.id in forbidden else errors.InvalidAccess
            tell(session, job, kind(_complaint(rule, refused)))
        _forgive(session, subject, bool(news) or not refused)

    return Done(
        Settlement(access_version=subject.instance.access_version),
        writes=[write],
        failed_partly=bool(refused),
    )


def _complaint(rule: RuleOnInstance, refused: Mapping[str, str]) -> str:
    """What is told of a bad rule; of a hidden one nothing that could hold its client."""
    if rule.is_hidden:
        return f"Access rule {rule.id} was refused."
    return f"Access rule {rule.id} ({rule.access_type} {rule.access_to}): {refused[rule.id]}"


def _failed(
    job: Job[SyncAccess], subject: Subject, plan: Plan, error: errors.DriverError
) -> Outcome:
    """Nothing was done: what waited is in error until it is tried again, the rest stands."""
    LOG.error("Access rules of instance %s: %s", job.resource_id, error.operator_text)
    waiting = [*plan.deny, *plan.unsettled]
    news = any(rule.state != RuleState.ERROR for rule in waiting)
    text = describe(error)

    def write(session: Session) -> None:
        rule_states.fail(session, {rule.mapping_id: text for rule in plan.unsettled})
        rule_states.fail(session, {rule.mapping_id: text for rule in plan.deny}, denials=True)
        if news:
            tell(session, job, error)
        _forgive(session, subject, news)

    return _seen(subject, write, error)


def _lost(job: Job[SyncAccess], subject: Subject, plan: Plan, error: errors.ShareLost) -> Outcome:
    """Nobody is let in to a share that is not there: what was denied is gone with it.

    The other rules are in error, which ends when the share is found again.
    """
    LOG.error("Access rules of instance %s: %s", job.resource_id, error.operator_text)
    news = any(rule.state != RuleState.ERROR for rule in plan.keep)
    text = describe(error)

    def write(session: Session) -> None:
        failed = {rule.mapping_id: text for rule in plan.keep}
        access.record(session, applied=[], denied=plan.deny, failed=failed, keys={})
        if news:
            tell(session, job, error)
        _forgive(session, subject, news)

    return _seen(subject, write, error if plan.keep else None)


def _seen(
    subject: Subject, write: Callable[[Session], None], error: errors.DriverError | None
) -> Outcome:
    """The rules of this version are settled, with *error* some of them not as they were asked."""
    return Done(
        Settlement(access_version=subject.instance.access_version),
        writes=[write],
        failed_partly=error is not None,
        error=error,
    )


def _forgive(session: Session, subject: Subject, news: bool) -> None:
    if news and subject.instance.access_failures is not None:
        access.forgive(session, subject.instance.id)
