"""Bringing the rules that a back end enforces in line with those of an instance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fileshare import errors
from fileshare.db import access
from fileshare.db.access import RuleOnInstance
from fileshare.db.session import Session
from fileshare.db.transitions import Settlement
from fileshare.domain.statuses import RuleState
from fileshare.drivers.model import AccessChange, AccessResult, AccessRule
from fileshare.intents.consumer import Handlers
from fileshare.intents.job import Job
from fileshare.intents.kinds import SyncAccess
from fileshare.intents.outcomes import Done, Outcome
from fileshare.intents.record import tell
from fileshare.share import references
from fileshare.share.references import Subject

handlers = Handlers()


class Plan(NamedTuple):
    """The rules of an instance by what shall become of them."""

    keep: list[RuleOnInstance]
    deny: list[RuleOnInstance]


def _read(session: Session, instance_id: str) -> tuple[Subject, Plan]:
    # The version is read with the instance, before the rules: a rule that is queued in between
    # is applied now, and looked at once more.
    subject = references.of_instance(session, instance_id)
    rules = access.on_instance(session, instance_id)
    deny = [rule for rule in rules if rule.state in access.GONE]
    return subject, Plan([rule for rule in rules if rule not in deny], deny)


def _rule(rule: RuleOnInstance, subject: Subject) -> AccessRule:
    level = "ro" if subject.instance.cast_rules_to_readonly else rule.access_level
    return AccessRule(rule.id, rule.access_type, rule.access_to, level, rule.access_key)


def _change(subject: Subject, plan: Plan) -> AccessChange:
    def those(rules: Sequence[RuleOnInstance], *states: str) -> tuple[AccessRule, ...]:
        return tuple(_rule(rule, subject) for rule in rules if not states or rule.state in states)

    return AccessChange(
        rules=those(plan.keep),
        added=those(plan.keep, RuleState.QUEUED_TO_APPLY, RuleState.APPLYING, RuleState.ERROR),
        removed=those(plan.deny),
        changed=those(plan.keep, RuleState.QUEUED_TO_UPDATE, RuleState.UPDATING),
    )


@handlers.handles(SyncAccess)
def sync(job: Job[SyncAccess]) -> Outcome:
    """Apply all rules of the instance as a set; one bad rule does not spoil the others."""
    try:
        subject, plan = job.read(_read, job.resource_id)
    except errors.NotFound:
        return Done()  # deleted meanwhile, with its rules
    with job.driving(subject.ref.id) as driver:
        result = driver.apply_access(subject.ref, _change(subject, plan))
    return _outcome(job, subject, plan, result)


def _outcome(job: Job[SyncAccess], subject: Subject, plan: Plan, result: AccessResult) -> Outcome:
    refused = {id: found.error for id, found in result.rules.items() if found.error}
    keys = {id: found.key for id, found in result.rules.items() if found.key}

    def write(session: Session) -> None:
        access.record(
            session,
            applied=[rule for rule in plan.keep if rule.id not in refused],
            denied=plan.deny,
            failed={
                rule.mapping_id: refused[rule.id] or "" for rule in plan.keep if rule.id in refused
            },
            keys=keys,
        )
        for rule in plan.keep:
            if rule.id in refused and rule.state != RuleState.ERROR:
                tell(session, job, errors.InvalidAccess(f"{rule.access_to}: {refused[rule.id]}"))

    return Done(
        Settlement(access_version=subject.instance.access_version),
        writes=[write],
        failed_partly=bool(refused),
    )
