"""What is told to whoever listens for billing and monitoring: events and their payloads.

Names and keys are those of the wire; collectors match on them.  A payload holds no secret.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from fileshare.domain.lifecycle import Verb

VERSION: Final = "1.0"
"""Of the payloads; it grows when a key changes its meaning or goes."""

_RENAMED: Final = dict.fromkeys(("share.force_delete", "share.deferred_delete"), "share.delete")
_FACTS: Final = (
    "user_id",
    "project_id",
    "snapshot_id",
    "share_group_id",
    "size",
    "is_public",
    "availability_zone",
    "host",
    "status",
    "share_type_id",
)


class Priority(enum.StrEnum):
    """The suffix of the topic on which a notice travels."""

    INFO = "info"
    ERROR = "error"


class Phase(enum.StrEnum):
    """The last word of an event's name."""

    START = "start"
    END = "end"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """One notification; *publisher* is ``<service>.<host>``."""

    publisher: str
    event: str
    payload: Mapping[str, Any]
    priority: Priority = Priority.INFO
    request_id: str | None = None
    user_id: str | None = None
    project_id: str | None = None


def name(verb: Verb, phase: Phase) -> str:
    """The event of a verb: ``share.extend.start``; forced and deferred deletions are deletions."""
    return f"{_RENAMED.get(verb.event, verb.event)}.{phase}"


def publisher(event: str, host: str) -> str:
    """Who tells of a change that a request made at once: ``shareType.<host>``."""
    first, *rest = event.partition(".")[0].split("_")
    return f"{first}{''.join(word.capitalize() for word in rest)}.{host}"


def share_payload(row: Any, **extra: Any) -> dict[str, Any]:
    """What every event of a share says; *row* has its columns and the names of zone and type."""
    return {
        "share_id": row.id,
        **{fact: getattr(row, fact) for fact in _FACTS},
        "name": row.display_name,
        "description": row.display_description,
        "proto": row.share_proto,
        "share_type": row.share_type_name,
        **extra,
    }


def moment(value: dt.datetime) -> str:
    """A moment in UTC as payloads write it."""
    return value.isoformat(sep=" ")
