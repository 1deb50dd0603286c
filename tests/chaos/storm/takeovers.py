"""How long work waits for another daemon when the one that had claimed it is gone."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Collection

import sqlalchemy as sa

from fileshare.db.models import Intent
from fileshare.db.session import Session
from fileshare.domain.statuses import IntentState
from tests.chaos.storm.samples import CLAIMED, CLAIMS, Samples

PERIOD = 0.1
"""Seconds between two looks: what a figure may be too large by."""


@dataclasses.dataclass(frozen=True)
class Orphan:
    """An intent whose worker is gone (*how*) since *since*; *fence* is that worker's claim."""

    intent_id: str
    fence: int
    since: float
    how: str


class Takeovers:
    """Watches the orphans until somebody claims them; *taken* are seconds by what happened."""

    def __init__(self, samples: Samples) -> None:
        self.taken: list[tuple[str, float]] = []
        self._samples = samples
        self._orphans: dict[str, Orphan] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="takeovers", daemon=True)
        self._thread.start()

    def gone(self, pids: Collection[int], how: str) -> None:
        """Watch what the processes *pids* have claimed; they are dead or stopped now."""
        since = time.monotonic()
        found = self._samples.take(CLAIMED, lambda session: _claimed_by(session, pids))
        with self._lock:
            for intent_id, fence in found or ():
                self._orphans[intent_id] = Orphan(intent_id, fence, since, how)

    def _watch(self) -> None:
        while not self._ended.wait(PERIOD):
            with self._lock:
                orphans = list(self._orphans.values())
            if orphans:
                self._look(orphans)

    def _look(self, orphans: list[Orphan]) -> None:
        ids = [orphan.intent_id for orphan in orphans]
        rows = self._samples.take(CLAIMS, lambda session: _claims(session, ids))
        if rows is None:
            return
        now = {intent_id: (fence, state) for intent_id, fence, state in rows}
        for orphan in orphans:
            fence, state = now.get(orphan.intent_id, (None, None))
            if fence != orphan.fence:
                self._end(orphan, time.monotonic() - orphan.since)
            elif state != IntentState.OPEN:
                self._end(orphan, None)  # its own worker has woken up and finished it

    def _end(self, orphan: Orphan, seconds: float | None) -> None:
        with self._lock:
            if seconds is not None:
                self.taken.append((orphan.how, seconds))
            if self._orphans.get(orphan.intent_id) is orphan:
                del self._orphans[orphan.intent_id]

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()


def _claimed_by(session: Session, pids: Collection[int]) -> list[tuple[str, int]]:
    mine = sa.or_(*(Intent.owner.like(f"%:{pid}:%") for pid in pids))
    statement = sa.select(Intent.id, Intent.fence).where(mine, Intent.state == IntentState.OPEN)
    return [tuple(row) for row in session.execute(statement)]


def _claims(session: Session, ids: Collection[str]) -> list[tuple[str, int, str]]:
    statement = sa.select(Intent.id, Intent.fence, Intent.state).where(Intent.id.in_(ids))
    return [tuple(row) for row in session.execute(statement)]
