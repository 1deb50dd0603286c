"""What a request on the access rules of a share decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.db import access, locks, shares
from fileshare.db.models import AccessRule, new_id
from fileshare.db.transitions import Held, rule_states
from fileshare.domain import access as domain_access
from fileshare.domain import aggregate
from fileshare.domain.locks import ACCESS_RULE, DELETE, SHARE, SHOW, may_touch
from fileshare.domain.statuses import RulesStatus
from fileshare.intents import changes
from fileshare.intents.holding import promise_rules
from fileshare.intents.unit import Unit, operation
from fileshare.operations.locks import place


class Keeper(NamedTuple):
    """Who locked the visibility of a rule."""

    user_id: str
    project_id: str


class Rule(NamedTuple):
    """A rule as views show it; *state* is worked out over the instances.

    With a *keeper* its client and its key are for those only whom policy lets past the lock.
    """

    id: str
    share_id: str
    project_id: str
    access_type: str
    access_to: str
    access_level: str
    access_key: str | None
    metadata: Mapping[str, str]
    created_at: Any
    updated_at: Any
    share_status: str
    share_rules_status: str
    state: str | None
    keeper: Keeper | None

    def __repr__(self) -> str:
        return f"Rule(id={self.id!r})"  # what is logged must not hold the key

    def redacted(self) -> Rule:
        """The rule as those see it from whom it is hidden."""
        return self._replace(access_to=domain_access.HIDDEN, access_key=domain_access.HIDDEN)


_AS_READ = Rule._fields[:-2]


@dataclass(frozen=True, slots=True)
class Locks:
    """The locks that a new rule is made with."""

    visibility: bool = False
    deletion: bool = False
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.visibility or self.deletion


NO_LOCKS = Locks()


def _rules(rows: Sequence[Any]) -> list[Rule]:
    """One rule for all its rows, which differ in the state on an instance."""
    states: dict[str, list[str | None]] = {}
    for row in rows:
        states.setdefault(row.id, []).append(row.state)
    firsts = {row.id: row for row in reversed(rows)}
    return [_rule(firsts[id], found) for id, found in states.items()]


def _rule(row: Any, states: Sequence[str | None]) -> Rule:
    state = aggregate.rule_state(state for state in states if state)
    hidden = row.hidden_by_user is not None
    keeper = Keeper(row.hidden_by_user, row.hidden_by_project) if hidden else None
    facts = {name: getattr(row, name) for name in _AS_READ}
    return Rule(**facts, state=state, keeper=keeper)


@operation
def find(unit: Unit, share_id: str, filters: Mapping[str, Any] | None = None) -> list[Rule]:
    """The rules of a share; raises NotFound, and Forbidden for another project's public share."""
    share = shares.get(unit.session, unit.scope, share_id)
    if unit.scope.project_id not in {None, share.project_id}:
        raise errors.Forbidden(rule="share:access_get_all")
    filters = dict(filters or {})
    wanted = filters.pop("metadata", {})
    rules = _rules(access.find(unit.session, share_id, filters))
    return [rule for rule in rules if wanted.items() <= rule.metadata.items()]


@operation
def get(unit: Unit, access_id: str) -> Rule:
    """One rule; raises NotFound, also for that of another project's public share."""
    return _get(unit, access_id)


def _get(unit: Unit, access_id: str) -> Rule:
    rule = _rules(access.get(unit.session, access_id))[0]
    mine = unit.scope.project_id in {None, rule.project_id}
    if not mine or not unit.scope.sees(rule.share_status):
        raise errors.NotFound(resource="Access rule", id=access_id)
    return rule


def _change(unit: Unit, share_id: str, *, allow_error: bool) -> Held:
    """Announce a change of the rules and promise that it will be applied.

    The rules of an instance are applied as a set by one intent at a time: where one is open
    already, it sees the change.
    """
    intent_id = new_id()
    held = rule_states.change(
        unit.session, share_id, intent_id, unit.scope, allow_error=allow_error
    )
    for instance in held.instances:
        if instance.access_intent_id == intent_id:
            promise_rules(
                unit,
                intent_id,
                instance.id,
                instance.host or "",
                share_id=share_id,
                project_id=held.share.project_id,
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
    with_locks: Locks = NO_LOCKS,
    ipv6: bool = True,
    cephx: bool = True,
    allow_error: bool = True,
    in_error: bool = True,
) -> Rule:
    """A new rule, queued for the back end.

    *in_error* False refuses while the rules of the share are in error (microversions before
    2.28).  Raises InvalidInput for a malformed rule, one that is there, or locks that cannot be.
    """
    access_to = domain_access.validate(access_type, access_to, ipv6=ipv6, cephx=cephx)
    if with_locks.reason is not None and not with_locks:
        reason = "It is taken with lock_visibility or lock_deletion only."
        raise errors.InvalidInput(field="lock_reason", reason=reason)
    if not in_error:
        _refuse_in_error(unit, share_id)
    held = _change(unit, share_id, allow_error=allow_error)
    rule = AccessRule(
        id=unit.inserts(AccessRule, new_id()),
        share_id=share_id,
        access_type=access_type,
        access_to=access_to,
        canonical=domain_access.canonical(access_type, access_to),
        access_level=access_level or domain_access.READ_WRITE,
        extra=dict(metadata or {}),
    )
    access.add(unit.session, rule, [instance.id for instance in held.instances])
    _lock(unit, share_id, rule.id, with_locks)
    return _get(unit, rule.id)


def _refuse_in_error(unit: Unit, share_id: str) -> None:
    share = shares.get(unit.session, unit.scope, share_id)
    if share.access_rules_status == RulesStatus.ERROR:
        reason = "the access rules of the share are in error"
        raise errors.Busy(resource="Share", id=share_id, reason=reason)


def _lock(unit: Unit, share_id: str, access_id: str, wanted: Locks) -> None:
    """Lock a rule that was made just now, and with its deletion that of the share."""
    new = (unit.session, unit.ctx)
    if wanted.visibility:
        place(*new, ACCESS_RULE, access_id, SHOW, wanted.reason)
    if wanted.deletion:
        if not locks.touch_share(unit.session, share_id):
            reason = f"Share {share_id} is being removed."
            raise errors.InvalidInput(field="lock_deletion", reason=reason)
        place(*new, ACCESS_RULE, access_id, DELETE, wanted.reason)
        place(*new, SHARE, share_id, DELETE, wanted.reason, cause_id=access_id)


def _nobody(_lock: Any) -> bool:
    return False


@operation
def deny(
    unit: Unit,
    share_id: str,
    access_id: str,
    *,
    unrestrict: bool = False,
    may_lift: Callable[[Any], bool] = _nobody,
    allow_error: bool = True,
) -> None:
    """Queue the removal of a rule.

    *unrestrict* lifts the locks that keep it, those that *may_lift* (what policy says) and their
    context leave to the caller.  Raises NotFound where it is not the share's, and Locked.
    """
    row = access.get(unit.session, access_id)[0]
    if row.share_id != share_id:
        shares.get(unit.session, unit.scope, share_id)
        raise errors.NotFound(resource="Access rule", id=access_id)
    _change(unit, share_id, allow_error=allow_error)
    access.deny(unit.session, access_id)
    found = locks.on_rule_or_caused(unit.session, access_id)
    if any(lock.resource_id == access_id for lock in found):
        _check_liftable(unit, share_id, found, unrestrict, may_lift)
    # The share's lock for the sake of the rule goes now, so that it can be deleted at once; the
    # one that hides the rule stays as long as the rule is to be seen.
    locks.lift(unit.session, [lock.id for lock in found])
    rule_states.queue_denial(unit.session, access_id)


def _check_liftable(
    unit: Unit,
    share_id: str,
    found: Sequence[Any],
    unrestrict: bool,
    may_lift: Callable[[Any], bool],
) -> None:
    if not unrestrict:
        reason = f"Access to share {share_id} cannot be denied: the rule is locked."
        raise errors.Locked(reason=reason)
    if not all(may_touch(unit.ctx, lock.lock_context) and may_lift(lock) for lock in found):
        raise errors.Locked(reason="The rule is locked by somebody else.")


@operation
def set_level(unit: Unit, access_id: str, access_level: str) -> Rule:
    """Queue another level for a rule; nothing happens where it has it."""
    rule = _get(unit, access_id)
    if rule.access_level == access_level:
        return rule
    _change(unit, rule.share_id, allow_error=True)
    access.set_level(unit.session, access_id, access_level)
    return _get(unit, access_id)


@operation
def update_metadata(unit: Unit, access_id: str, metadata: Mapping[str, str]) -> Mapping[str, str]:
    """Set each pair; others stay."""
    access.hold(unit.session, access_id)
    rule = _get(unit, access_id)
    access.set_metadata(unit.session, access_id, {**rule.metadata, **metadata})
    changes.tell_of_share(
        unit, "access_metadata.update", rule.share_id, access_id=access_id, metadata=dict(metadata)
    )
    return metadata


@operation
def delete_metadata(unit: Unit, access_id: str, key: str) -> None:
    """Remove one key; raises NotFound where it is not there."""
    access.hold(unit.session, access_id)
    rule = _get(unit, access_id)
    if key not in rule.metadata:
        raise errors.NotFound(resource="Metadata item", id=key, exception="MetadataItemNotFound")
    left = {name: value for name, value in rule.metadata.items() if name != key}
    access.set_metadata(unit.session, access_id, left)
    facts = {"access_id": access_id, "key": key}
    changes.tell_of_share(unit, "access_metadata.delete", rule.share_id, **facts)
