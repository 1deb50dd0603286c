"""What operators do to keep an installation in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fileshare import errors
from fileshare.db import intents
from fileshare.intents import backends
from fileshare.intents.unit import Unit, operation


@operation
def reconcile(unit: Unit, host: str, *, repair: bool) -> str:
    """Let the daemons of a back end compare it with the database; returns the intent's id.

    Raises NotFound, and Conflict where no daemon serves the back end.
    """
    service = backends.find_up(unit, host)
    return backends.promise_reconciliation(unit, service.id, host, repair=repair).id


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a comparison is, in percent, and what it found; *error*: why it came to nothing."""

    state: str
    progress: int
    findings: Sequence[dict[str, Any]]
    error: str | None


@operation
def result(unit: Unit, intent_id: str) -> Comparison:
    """What became of a comparison; raises NotFound."""
    intent = intents.get(unit.session, intent_id)
    if intent is None:
        raise errors.NotFound(resource="Intent", id=intent_id)
    return Comparison(intent.state, intent.progress, intent.trace, intent.error)
