"""What a handler may say when it returns; raising says that it failed.

Each outcome is recorded in one transaction.  ``writes`` are further statements of that
transaction, as functions of its session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fileshare import errors
from fileshare.db.session import Session
from fileshare.db.transitions import Settlement
from fileshare.domain.quotas import Charge
from fileshare.intents.kinds import Work

LONGEST_PAUSE = 60.0
"""Seconds for which :class:`Again` may ask at most."""

Writes = Sequence[Callable[[Session], None]]


class Stale(Exception):
    """What an outcome was decided on has changed: undo its record, and run the handler again.

    Raised by a write of the outcome.
    """


@dataclass(frozen=True, slots=True)
class Done:
    """The verb is done; *refund* is quota that is free now.

    *failed_partly* settles in the verb's failed status although the work is over (some rules of
    a set could not be applied).  With an *error* the work came to nothing: operators see it.
    """

    settlement: Settlement = field(default_factory=Settlement)
    writes: Writes = ()
    refund: Charge | None = None
    failed_partly: bool = False
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """Not yet: call me again in *seconds*; *work* replaces the payload."""

    seconds: float
    work: Work | None = None
    failed: bool = False  # counts as an attempt


@dataclass(frozen=True, slots=True)
class HandOn:
    """My part is done; the next part belongs to *destination*."""

    work: Work
    destination: str
    settlement: Settlement = field(default_factory=Settlement)
    writes: Writes = ()
    trace: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Park:
    """Wait until an operation of a user wakes the intent."""

    settlement: Settlement = field(default_factory=Settlement)


@dataclass(frozen=True, slots=True)
class Failed:
    """The verb failed with *error*; *writes* undo what the handler had noted."""

    error: Exception
    writes: Writes = ()
    trace: Mapping[str, Any] | None = None


def describe(error: Exception) -> str:
    """An error for operators: what they need, which a user may not see."""
    text = str(getattr(error, "operator_text", "")) or f"{type(error).__name__}: {error}"
    return errors.storable(text)


Outcome = Done | Again | HandOn | Park | Failed
