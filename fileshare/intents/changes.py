"""What is told of changes that a request makes at once: one notice each, after the commit."""

from __future__ import annotations

from typing import Any

from fileshare.db import usage
from fileshare.domain import notices
from fileshare.domain.notices import Notice, share_payload
from fileshare.intents import announcements
from fileshare.intents.unit import Unit


def tell(unit: Unit, event: str, *, project_id: str | None = None, **facts: Any) -> None:
    """Tell of a change; *project_id* is whose it is, where it is a project's."""
    if not unit.runtime.notifier.is_on:
        return
    ctx = unit.ctx
    payload = {
        **({} if project_id is None else {"project_id": project_id}),
        **facts,
        "request_id": ctx.request_id,
        "payload_version": notices.VERSION,
    }
    unit.notices.append(
        Notice(
            announcements.api(unit.runtime),
            event,
            payload,
            request_id=ctx.request_id,
            user_id=ctx.user_id,
            project_id=project_id or ctx.project_id,
        )
    )


def tell_of_share(unit: Unit, event: str, share_id: str, **facts: Any) -> None:
    """Tell of a change of a share, or of what belongs to it, with what all its events say."""
    if unit.runtime.notifier.is_on:
        unit.session.flush()
        row = usage.of_share(unit.session, share_id)
        if row is not None:
            tell(unit, event, **share_payload(row, **facts))
