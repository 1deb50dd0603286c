"""What is told of promised work: that it starts, and what became of it.

The notices of a transaction are made in it and sent after its commit.  Each piece of work has
one start and one end or error.  A process that is killed between commit and sending takes its
notices along; and a worker that takes over the rules of an instance says again that they start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fileshare import errors
from fileshare.db import usage
from fileshare.db.models import Intent
from fileshare.db.session import Session
from fileshare.db.usage import RuleFacts
from fileshare.domain import notices
from fileshare.domain.lifecycle import ACCESS, SHARE, verb_of
from fileshare.domain.notices import Notice, Phase, Priority, share_payload
from fileshare.domain.statuses import RuleState
from fileshare.intents import destinations
from fileshare.intents.job import Job
from fileshare.intents.outcomes import Done, Failed, Outcome, describe
from fileshare.intents.runtime import Runtime

Rules = Mapping[str, RuleFacts]

_SETTLED = (RuleState.ACTIVE, RuleState.ERROR)
_UPDATES = (RuleState.QUEUED_TO_UPDATE, RuleState.UPDATING)
_MOST_BEGUN = 10_000


class Begun:
    """The rules whose start this process has told of, until their end is told."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, ...]] = set()

    def __contains__(self, key: tuple[str, ...]) -> bool:
        return key in self._keys

    def note(self, told: Iterable[Notice]) -> None:
        """Learn from notices that have been sent."""
        for notice in told:
            change, _, phase = notice.event.rpartition(".")
            if not change.startswith(f"{ACCESS.resource}."):
                continue
            facts = notice.payload
            key = (facts["share_instance_id"], facts["access_id"], change)
            if phase != Phase.START:
                self._keys.discard(key)
                continue
            if len(self._keys) >= _MOST_BEGUN:
                self._keys.clear()
            self._keys.add(key)


def api(runtime: Runtime) -> str:
    """The publisher of what the API does by itself."""
    return f"api.{runtime.conf.host}"


def worker(job: Job[Any]) -> str:
    """The publisher of a job: its service, and the host or back end that this is."""
    if job.backend is not None:
        return f"share.{job.backend.host}"
    return f"{job.intent.destination.partition('.')[0]}.{job.runtime.conf.host}"


def at_start(session: Session, job: Job[Any], begun: Begun) -> list[Notice]:
    """What is told when a worker has claimed a job."""
    if not job.runtime.notifier.is_on:
        return []
    if job.intent.resource_type == ACCESS.resource:
        rules = usage.of_rules(session, job.resource_id)
        return _of_rules(session, job, begun, rules)
    if job.backend is None or job.intent.begun != 1:
        return []
    return of_work(session, worker(job), job.intent, Phase.START)


def look(session: Session, job: Job[Any], outcome: Outcome) -> Rules:
    """What must be known from before the outcome is written."""
    wanted = job.runtime.notifier.is_on and job.intent.resource_type == ACCESS.resource
    ends = isinstance(outcome, Done | Failed)
    return usage.of_rules(session, job.resource_id) if wanted and ends else {}


def at_end(
    session: Session, job: Job[Any], outcome: Outcome, before: Rules, begun: Begun
) -> list[Notice]:
    """What is told when the outcome of a job has been written."""
    if not job.runtime.notifier.is_on or not isinstance(outcome, Done | Failed):
        return []
    if job.intent.resource_type == ACCESS.resource:
        after = usage.of_rules(session, job.resource_id)
        return _of_rules(session, job, begun, before, after) if before else []
    by, error, verb = worker(job), outcome.error, job.work.verb()
    if error is None or verb.failed == verb.done:
        return of_work(session, by, job.intent, Phase.END)
    told = of_work(session, by, job.intent, Phase.ERROR, describe(error))
    return [*told, *_refusal(session, job, error)]


def of_work(
    session: Session, publisher: str, intent: Intent, phase: Phase, reason: str | None = None
) -> list[Notice]:
    """A phase of the work on a share; an end without a start brings its start along."""
    if verb_of(intent.event).resource != SHARE.resource:
        return []
    phases = [phase] if phase is Phase.START or intent.begun else [Phase.START, phase]
    row = usage.of_share(session, intent.share_id or intent.resource_id)
    if row is None:
        return []
    verb = verb_of(intent.event)
    found = []
    for one in phases:
        why = {"reason": reason} if one is Phase.ERROR else {}
        event = notices.name(verb, one)
        found.append(_notice(publisher, event, one, intent, share_payload(row, **why)))
    return found


def _notice(
    publisher: str, event: str, phase: Phase, intent: Intent, payload: dict[str, Any]
) -> Notice:
    return Notice(
        publisher,
        event,
        {**payload, "request_id": intent.request_id, "payload_version": notices.VERSION},
        Priority.ERROR if phase is Phase.ERROR else Priority.INFO,
        intent.request_id,
        intent.user_id,
        intent.project_id,
    )


def _refusal(session: Session, job: Job[Any], error: Exception) -> list[Notice]:
    """What a scheduler says of a share for which it found no room."""
    verb = job.work.verb()
    method = _REFUSALS.get(verb.event)
    if job.intent.destination != destinations.SCHEDULER or method is None:
        return []
    if verb is SHARE["extend"] and not isinstance(error, errors.NoValidHost):
        return []
    row = usage.of_share(session, job.resource_id)
    if row is None:
        return []
    properties = share_payload(row)
    payload = {
        "request_spec": {
            "share_id": row.id,
            "share_proto": row.share_proto,
            "snapshot_id": row.snapshot_id,
            "share_properties": properties,
            "share_type": {"id": row.share_type_id, "name": row.share_type_name},
            **job.work.dump(),
        },
        "share_properties": properties,
        "share_id": row.id,
        "state": {"status": row.status},
        "method": method,
        "reason": describe(error),
    }
    event = f"scheduler.{method}"
    return [_notice(worker(job), event, Phase.ERROR, job.intent, payload)]


_REFUSALS = {SHARE["create"].event: "create_share", SHARE["extend"].event: "extend_share"}


def _of_rules(
    session: Session, job: Job[Any], begun: Begun, before: Rules, after: Rules | None = None
) -> list[Notice]:
    """The news of each rule: those that wait start; with *after*, those that settled end."""
    news: list[tuple[RuleFacts, Phase]] = []
    for rule in before.values():
        phase = Phase.START if after is None else _fate(rule, after.get(rule.mapping_id))
        if phase is None:
            continue
        key = (rule.share_instance_id, rule.access_id, _change(rule))
        if rule.state not in _SETTLED and key not in begun:
            news.append((rule, Phase.START))
        if after is not None:
            news.append((after.get(rule.mapping_id, rule), phase))
    row = usage.of_share(session, job.intent.share_id or "") if news else None
    if row is None:
        return []
    return [
        _notice(
            worker(job),
            f"{_change(before[rule.mapping_id])}.{phase}",
            phase,
            job.intent,
            share_payload(row, **_rule_payload(rule, phase)),
        )
        for rule, phase in news
    ]


def _fate(rule: RuleFacts, now: RuleFacts | None) -> Phase | None:
    """What became of a rule; None where nothing did."""
    if now is None:
        return Phase.END if rule.is_denied else None
    if now.state == rule.state:
        return None
    return {RuleState.ACTIVE: Phase.END, RuleState.ERROR: Phase.ERROR}.get(now.state)


def _change(rule: RuleFacts) -> str:
    """What is done about a rule, as the first words of an event."""
    if rule.is_denied:
        return f"{ACCESS.resource}.deny"
    return f"{ACCESS.resource}.{'update' if rule.state in _UPDATES else 'allow'}"


def _rule_payload(rule: RuleFacts, phase: Phase) -> dict[str, Any]:
    """What is told of a rule: never its key, and of a hidden one nothing about its client."""
    payload: dict[str, Any] = {
        "access_id": rule.access_id,
        "access_type": rule.access_type,
        "access_level": rule.access_level,
        "share_instance_id": rule.share_instance_id,
    }
    if not rule.is_hidden:
        payload["access_to"] = rule.access_to
    if phase is Phase.ERROR:
        payload["reason"] = None if rule.is_hidden else rule.error
    return payload
