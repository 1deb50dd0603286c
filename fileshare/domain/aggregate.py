"""What a share shows, worked out from its instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from fileshare.domain.statuses import TRANSITIONAL, ReplicaState, RuleState, Status


class Instance(Protocol):
    status: str
    replica_state: str | None


Leader = TypeVar("Leader", bound=Instance)

_FIRST = (
    Status.REVERTING,
    Status.REPLICATION_CHANGE,
    Status.MIGRATING,
    Status.SERVER_MIGRATING,
    Status.AVAILABLE,
    Status.ERROR,
)
_WORST_RULE = (
    RuleState.ERROR,
    RuleState.DENYING,
    RuleState.QUEUED_TO_DENY,
    RuleState.QUEUED_TO_UPDATE,
    RuleState.QUEUED_TO_APPLY,
    RuleState.UPDATING,
    RuleState.APPLYING,
    RuleState.ACTIVE,
)


def _rank(instance: Instance) -> int:
    if instance.status in _FIRST:
        return _FIRST.index(instance.status)
    return len(_FIRST) + (instance.status in TRANSITIONAL)


def leader(instances: Sequence[Leader]) -> Leader:
    """The instance that speaks for the share: its status, host and zone are the share's."""
    changing = any(item.status == Status.REPLICATION_CHANGE for item in instances)
    active = [item for item in instances if item.replica_state == ReplicaState.ACTIVE]
    return min(active if active and not changing else instances, key=_rank)


def rule_state(states: Iterable[str]) -> str | None:
    """The state of a rule over its instances; None where it has none."""
    found = set(states)
    return next((state for state in _WORST_RULE if state in found), None)
