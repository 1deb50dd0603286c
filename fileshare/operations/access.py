"""What a request on the access rules of a share decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.db import access, shares, transitions
from fileshare.db.models import AccessRule, new_id
from fileshare.db.transitions import Held
from fileshare.domain import access as domain_access
from fileshare.domain import aggregate
from fileshare.domain.statuses import RulesStatus, RuleState
from fileshare.intents import destinations
from fileshare.intents.kinds import SyncAccess
from fileshare.intents.unit import Unit, operation


class Rule(NamedTuple):
    """A rule as views show it; *state* is worked out over the instances."""

    id: str
    share_id: str
    access_type: str
    access_to: str
    access_level: str
    access_key: str | None
    metadata: Mapping[str, str]
    created_at: Any
    updated_at: Any
    state: str | None
    share_rules_status: str


def _rules(rows: Sequence[Any], share: Any) -> list[Rule]:
    """One rule for all its rows, which differ in the state on an instance."""
    states: dict[str, list[str | None]] = {}
    for row in rows:
        states.setdefault(row.id, []).append(row.state)
    firsts = {row.id: row for row in reversed(rows)}
    return [_rule(firsts[id], found, share) for id, found in states.items()]


def _rule(row: Any, states: Sequence[str | None], share: Any) -> Rule:
    state = aggregate.rule_state(state for state in states if state)
    facts = {name: getattr(row, name) for name in Rule._fields[:-2]}
    return Rule(**facts, state=state, share_rules_status=share.access_rules_status)


@operation
def find(unit: Unit, share_id: str, filters: Mapping[str, Any] | None = None) -> list[Rule]:
    """The rules of a share; raises NotFound for the share."""
    share = shares.get(unit.session, unit.scope, share_id)
    filters = dict(filters or {})
    wanted = filters.pop("metadata", {})
    rules = _rules(access.find(unit.session, share_id, filters), share)
    return [rule for rule in rules if wanted.items() <= rule.metadata.items()]


@operation
def get(unit: Unit, access_id: str) -> Rule:
    """One rule; raises NotFound, also where the caller may not see its share."""
    return _get(unit, access_id)


def _get(unit: Unit, access_id: str) -> Rule:
    rows = access.get(unit.session, access_id)
    try:
        share = shares.get(unit.session, unit.scope, rows[0].share_id)
    except errors.NotFound:
        raise errors.NotFound(resource="Access rule", id=access_id) from None
    return _rules(rows, share)[0]


def _change(unit: Unit, share_id: str, *, allow_error: bool) -> Held:
    """Announce a change of the rules and promise that it will be applied.

    The rules of an instance are applied as a set by one intent at a time: where one is open
    already, it sees the change.
    """
    share = shares.get(unit.session, unit.scope, share_id)
    if unit.scope.project_id not in {None, share.project_id}:
        raise errors.Forbidden(rule="share:update")
    if share.is_soft_deleted:
        raise errors.Refused(reason=f"Share {share_id} has been soft deleted.")
    intent_id = new_id()
    held = transitions.change_rules(unit.session, share_id, intent_id, allow_error=allow_error)
    for instance in held.instances:
        if instance.access_intent_id == intent_id:
            unit.promise(
                SyncAccess(),
                destinations.share(instance.host or ""),
                intent_id=intent_id,
                resource_id=instance.id,
                share_id=share_id,
                project_id=share.project_id,
            )
    return held


@operation
def allow(
    unit: Unit,
    share_id: str,
    access_type: str,
    access_to: str,
    *,
    access_level: str | None = None,
    metadata: Mapping[str, str] | None = None,
    ipv6: bool = True,
    cephx: bool = True,
    allow_error: bool = True,
    in_error: bool = True,
) -> Rule:
    """A new rule, queued for the back end.

    *in_error* False refuses while the rules of the share are in error (microversions before
    2.28).  Raises InvalidInput for a malformed rule, or one that is there.
    """
    access_to = domain_access.validate(access_type, access_to, ipv6=ipv6, cephx=cephx)
    held = _change(unit, share_id, allow_error=allow_error)
    if not in_error and held.share.access_rules_status == RulesStatus.ERROR:
        reason = "the access rules of the share are in error"
        raise errors.Busy(resource="Share", id=share_id, reason=reason)
    rule = AccessRule(
        id=new_id(),
        share_id=share_id,
        access_type=access_type,
        access_to=access_to,
        canonical=domain_access.canonical(access_type, access_to),
        access_level=access_level or domain_access.READ_WRITE,
        extra=dict(metadata or {}),
    )
    access.add(unit.session, rule, [instance.id for instance in held.instances])
    return _get(unit, rule.id)


def _of_share(unit: Unit, share_id: str, access_id: str) -> Any:
    row = access.get(unit.session, access_id)[0]
    if row.share_id != share_id:
        raise errors.NotFound(resource="Access rule", id=access_id)
    return row


@operation
def deny(unit: Unit, share_id: str, access_id: str, *, allow_error: bool = True) -> None:
    """Queue the removal of a rule; raises NotFound where it is not the share's."""
    shares.get(unit.session, unit.scope, share_id)
    _of_share(unit, share_id, access_id)
    _change(unit, share_id, allow_error=allow_error)
    access.queue(unit.session, access_id, RuleState.QUEUED_TO_DENY)


@operation
def set_level(unit: Unit, access_id: str, access_level: str) -> Rule:
    """Queue another level for a rule; nothing happens where it has it."""
    rule = _get(unit, access_id)
    if rule.access_level == access_level:
        return rule
    _change(unit, rule.share_id, allow_error=True)
    access.set_level(unit.session, access_id, access_level)
    access.queue(unit.session, access_id, RuleState.QUEUED_TO_UPDATE)
    return _get(unit, access_id)


@operation
def update_metadata(unit: Unit, access_id: str, metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Set each pair; others stay."""
    rule = _get(unit, access_id)
    access.set_metadata(unit.session, access_id, {**rule.metadata, **metadata})
    return metadata


@operation
def delete_metadata(unit: Unit, access_id: str, key: str) -> None:
    """Remove one key; raises NotFound where it is not there."""
    rule = _get(unit, access_id)
    if key not in rule.metadata:
        raise errors.NotFound(resource="Metadata item", id=key)
    left = {name: value for name, value in rule.metadata.items() if name != key}
    access.set_metadata(unit.session, access_id, left)
