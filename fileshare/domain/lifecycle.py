"""The life of every resource, as one table of verbs.

A verb takes a resource from one of its *sources* through a transient status to a settled one.
The API's guards, the compare-and-swap in the database, the recovery of lost work, and the state
diagram in the manual all read this table; none of them repeats it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from fileshare.domain.statuses import SHARE_STATUSES, IntentState, RulesStatus, Status


class Recovery(enum.Enum):
    """What becomes of a verb whose worker was lost."""

    RETRY = "retry"  # the handler is idempotent: run it again
    FAIL = "fail"  # settle in the failed status and tell the user


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of a lifecycle.

    *declined* is where the resource goes when the work was refused before anything changed
    (no room, data would be lost); None where that is the same as *failed*.  *takes_over* verbs
    do not wait for an intent that holds the resource: they supersede it.
    """

    resource: str
    name: str
    sources: frozenset[str]
    during: str
    done: str
    failed: str
    declined: str | None = None
    recovery: Recovery = Recovery.RETRY
    takes_over: bool = False

    @property
    def event(self) -> str:
        """The name that notifications carry: ``share.extend``."""
        return f"{self.resource}.{self.name}"

    @property
    def removes(self) -> bool:
        """Whether the resource is gone when the verb is done: locks stand against that."""
        return self.done in {Status.DELETED, Status.UNMANAGED}


class Lifecycle:
    """The verbs of one resource by name."""

    def __init__(self, resource: str, *verbs: Verb) -> None:
        self.resource = resource
        self._verbs = {verb.name: verb for verb in verbs}

    def __getitem__(self, name: str) -> Verb:
        return self._verbs[name]

    def __iter__(self) -> Iterator[Verb]:
        return iter(self._verbs.values())

    @property
    def settled(self) -> frozenset[str]:
        ends = {status for verb in self for status in (verb.done, verb.failed, verb.declined)}
        return frozenset(status for status in ends if status is not None)

    @property
    def transient(self) -> frozenset[str]:
        return frozenset(verb.during for verb in self)


_BIRTH: frozenset[str] = frozenset()
_SETTLED_FOR_DELETE = frozenset({Status.AVAILABLE, Status.ERROR, Status.INACTIVE})

SHARE = Lifecycle(
    "share",
    Verb("share", "create", _BIRTH, Status.CREATING, Status.AVAILABLE, Status.ERROR),
    Verb(
        "share",
        "extend",
        frozenset({Status.AVAILABLE}),
        Status.EXTENDING,
        Status.AVAILABLE,
        Status.EXTENDING_ERROR,
        declined=Status.AVAILABLE,
    ),
    Verb(
        "share",
        "shrink",
        frozenset({Status.AVAILABLE, Status.SHRINKING_DATA_LOSS}),
        Status.SHRINKING,
        Status.AVAILABLE,
        Status.SHRINKING_ERROR,
        declined=Status.AVAILABLE,
    ),
    Verb(
        "share",
        "delete",
        _SETTLED_FOR_DELETE,
        Status.DELETING,
        Status.DELETED,
        Status.ERROR_DELETING,
    ),
    # Its user is rid of it, and its quota is free, from the beginning.
    Verb(
        "share",
        "deferred_delete",
        _SETTLED_FOR_DELETE,
        Status.DEFERRED_DELETING,
        Status.DELETED,
        Status.ERROR_DEFERRED_DELETING,
    ),
    Verb(
        "share",
        "force_delete",
        SHARE_STATUSES - {Status.DELETED},
        Status.DELETING,
        Status.DELETED,
        Status.DELETED,
        takes_over=True,
    ),
    # Not a user's: the back end brings back what it may have lost (see BACKEND).
    Verb(
        "share",
        "ensure",
        frozenset({Status.AVAILABLE, Status.ENSURING}),
        Status.ENSURING,
        Status.AVAILABLE,
        Status.ERROR,
    ),
)

_CLOSED = frozenset({IntentState.DONE, IntentState.FAILED})

BACKEND = Lifecycle(
    "backend",
    # The chores of a whole back end have no status besides that of their intent.
    Verb("backend", "ensure", _CLOSED, IntentState.OPEN, IntentState.DONE, IntentState.FAILED),
)
RECONCILIATION = Lifecycle(
    "reconciliation",
    Verb("reconciliation", "run", _CLOSED, IntentState.OPEN, IntentState.DONE, IntentState.FAILED),
)
METADATA = Lifecycle(
    "metadata",
    # Nothing of the share shows that its back end is told of its metadata.
    Verb("metadata", "update", _CLOSED, IntentState.OPEN, IntentState.DONE, IntentState.FAILED),
)

ACCESS = Lifecycle(
    "access",
    # The rules of an instance are brought in line as a set; each rule has a state of its own.
    Verb(
        "access",
        "sync",
        frozenset({RulesStatus.ACTIVE, RulesStatus.ERROR, RulesStatus.SYNCING}),
        RulesStatus.SYNCING,
        RulesStatus.ACTIVE,
        RulesStatus.ERROR,
    ),
)

LIFECYCLES: dict[str, Lifecycle] = {
    table.resource: table for table in (SHARE, ACCESS, BACKEND, RECONCILIATION, METADATA)
}


def verb_of(event: str) -> Verb:
    """The verb that *event* (``share.extend``) names."""
    resource, _, name = event.partition(".")
    return LIFECYCLES[resource][name]
