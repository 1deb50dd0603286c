"""What each share was in a period, told again from the tables for billing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

from fileshare.context import new_request_id
from fileshare.db import usage
from fileshare.domain import notices
from fileshare.domain.lifecycle import SHARE, Verb
from fileshare.domain.notices import Notice, Phase, Priority, moment, share_payload
from fileshare.domain.periods import Period
from fileshare.domain.statuses import OUT_OF_SIGHT
from fileshare.intents.runtime import Runtime

EXISTS = "share.exists"


def audit(runtime: Runtime, period: Period, *, actions: bool = False) -> Iterator[Notice]:
    """One ``share.exists`` for each share that was there in *period*, if only for a moment.

    With *actions* also the creations and deletions that fell into it; their period is the
    moment at which they happened.  A share whose creation failed was never there for its user:
    what it is told of is its status.
    """
    publisher, request_id = f"share.{runtime.conf.host}", new_request_id()

    def notice(row: Any, event: str, begin: dt.datetime, end: dt.datetime) -> Notice:
        failed = event.endswith(f".{Phase.ERROR}")
        payload = share_payload(
            row,
            created_at=moment(row.created_at),
            deleted_at=moment(row.deleted_at) if row.deleted_at else None,
            audit_period_beginning=moment(begin),
            audit_period_ending=moment(end),
            request_id=request_id,
            payload_version=notices.VERSION,
        )
        priority = Priority.ERROR if failed else Priority.INFO
        return Notice(publisher, event, payload, priority, request_id, row.user_id, row.project_id)

    for row in usage.between(runtime.sessions, period.begin, period.end):
        yield notice(row, EXISTS, period.begin, period.end)
        for event, when in _actions(row, period) if actions else ():
            yield notice(row, event, when, when)


def _actions(row: Any, period: Period) -> Iterator[tuple[str, dt.datetime]]:
    """The creation and the deletion of a share, as far as they fell into *period*."""
    if row.created_at in period:
        was_made = row.is_charged or row.status in OUT_OF_SIGHT
        made = Phase.END if was_made else Phase.ERROR
        yield from _both(SHARE["create"], made, row.created_at)
    if row.deleted_at in period:
        yield from _both(SHARE["delete"], Phase.END, row.deleted_at)


def _both(verb: Verb, last: Phase, when: dt.datetime) -> Iterator[tuple[str, dt.datetime]]:
    yield notices.name(verb, Phase.START), when
    yield notices.name(verb, last), when
