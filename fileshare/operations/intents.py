"""What operators ask about promised work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from fileshare import errors
from fileshare.db import intents, messages, shares
from fileshare.db.models import Intent, Message
from fileshare.db.query import ALL
from fileshare.intents import reaper
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation


@operation
def find(
    unit: Unit, *, share_id: str | None = None, states: Collection[str] = (), limit: int = 1000
) -> Sequence[Intent]:
    """Promised work, newest first."""
    return intents.find(unit.session, share_id=share_id, states=states, limit=limit)


@operation
def get(unit: Unit, intent_id: str) -> Intent:
    """One intent; raises NotFound."""
    return _get(unit, intent_id)


def _get(unit: Unit, intent_id: str) -> Intent:
    intent = intents.get(unit.session, intent_id)
    if intent is None:
        raise errors.NotFound(resource="Intent", id=intent_id)
    return intent


@operation
def retry(unit: Unit, intent_id: str) -> Intent:
    """Let an intent be claimed at once; raises NotFound, and Conflict where it is closed."""
    if not intents.make_due(unit.session, intent_id):
        _get(unit, intent_id)
        raise errors.Conflict(reason=f"Intent {intent_id} is closed.")
    intent = _get(unit, intent_id)
    unit.promised.append(intent)
    return intent


def fail(runtime: Runtime, intent_id: str) -> None:
    """Settle an intent as failed, whoever works on it; raises NotFound, or Conflict if closed."""

    def take(session: Any) -> bool:
        if intents.get(session, intent_id) is None:
            raise errors.NotFound(resource="Intent", id=intent_id)
        return intents.make_due(session, intent_id)

    if not runtime.sessions.run(take) or not reaper.give_up(runtime, intent_id):
        raise errors.Conflict(reason=f"Intent {intent_id} is closed.")


@operation
def explain(unit: Unit, share_id: str) -> tuple[Any, Sequence[Intent], Sequence[Message]]:
    """All that was done for a share, oldest first, and what its users were told."""
    history = list(reversed(intents.find(unit.session, share_id=share_id)))
    told = messages.about(unit.session, share_id)
    try:
        share: Any = shares.get(unit.session, ALL, share_id)
    except errors.NotFound:
        if not history:
            raise
        share = None
    return share, history, told
