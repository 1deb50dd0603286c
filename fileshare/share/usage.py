"""Telling how much the shares of a back end hold."""

from __future__ import annotations

import datetime as dt
import functools

from fileshare.db import chores, clock, usage
from fileshare.db.chores import Candidate
from fileshare.domain import notices
from fileshare.domain.notices import Notice, share_payload
from fileshare.domain.statuses import SERVED
from fileshare.drivers.base import Driver, Usage
from fileshare.intents.rounds import Alive, always
from fileshare.intents.runtime import Runtime

BATCH = 500
_GIB = 2**30


def gather(runtime: Runtime, backend: str, driver: Driver, alive: Alive = always) -> int:
    """Announce what each share holds that the back end serves; of how many it was told.

    Nothing is asked where the driver cannot say, or nobody listens.
    """
    if not isinstance(driver, Usage) or not runtime.notifier.is_on:
        return 0
    told, last = 0, ""
    while found := runtime.sessions.run(
        functools.partial(chores.candidates, backend=backend, after=last, limit=BATCH)
    ):
        last = found[-1].id
        alive()
        told += _tell(runtime, backend, driver, [each for each in found if each.status in SERVED])
    return told


def _tell(runtime: Runtime, backend: str, driver: Usage, found: list[Candidate]) -> int:
    held = driver.used([each.id for each in found]) if found else {}
    shares = {each.share_id for each in found}
    facts, seconds = runtime.sessions.run(
        lambda session: (usage.of_shares(session, shares), clock.read(session))
    )
    rows = {row.id: row for row in facts}
    gathered_at = notices.moment(dt.datetime.fromtimestamp(seconds, dt.UTC).replace(tzinfo=None))
    known = [each for each in found if each.id in held and each.share_id in rows]
    for each in known:
        row = rows[each.share_id]
        payload = share_payload(
            row,
            used_size=round(held[each.id] / _GIB, 3),
            gathered_at=gathered_at,
            share_instance_id=each.id,
            payload_version=notices.VERSION,
        )
        event, by = "share.consumed.size", f"share.{backend}"
        runtime.notifier.send(
            Notice(by, event, payload, user_id=row.user_id, project_id=row.project_id)
        )
    return len(known)
