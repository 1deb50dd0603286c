"""Removing rows whose time is over: oldest first, in short transactions, with rests in between.

Each step is a transaction of its own that aims at :data:`GOAL` seconds, so that nobody waits
for long; after it the database is left to others for a time that is proportional.  One that was
interrupted, wherever that was, is begun again and goes on with what is there.
"""

from __future__ import annotations

import collections
import datetime as dt
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from fileshare.db.clock import moment
from fileshare.db.session import Session, Sessions, count

GOAL = 0.05
BATCH = 500
PERCENT = 20

Counts = collections.Counter[str]
Tell = Callable[[Mapping[str, int]], None]


def plainly(session: Session, key: Any, keys: Sequence[Any]) -> Counts:
    """Remove rows on which nothing hangs."""
    removed = count(session, sa.delete(key.table).where(key.in_(keys)))
    return collections.Counter({key.table.name: removed})


@dataclass(frozen=True, slots=True)
class Sweep:
    """The rows of a table whose moment was *seconds* ago.

    *order* are the columns of an index, that moment first and the primary key last, behind
    those that *where* compares for equality.  *unless* is read of each row, and *remove*
    removes rows by their keys and says how many of which tables went.
    """

    order: tuple[Any, ...]
    seconds: float
    where: tuple[sa.ColumnElement[bool], ...] = ()
    unless: tuple[sa.ColumnElement[bool], ...] = ()
    remove: Callable[[Session, Any, Sequence[Any]], Counts] = plainly

    @property
    def key(self) -> Any:
        return self.order[-1]

    @property
    def table(self) -> Any:
        return self.key.table

    def bound(self, session: Session) -> dt.datetime:
        """The newest moment whose rows go; a sweep does not run after what gets old meanwhile."""
        return moment(session) - dt.timedelta(seconds=self.seconds)

    def old(self, bound: dt.datetime) -> sa.ColumnElement[bool]:
        return sa.and_(*self.where, self.order[0] <= bound, *(~clause for clause in self.unless))


@dataclass(frozen=True, slots=True)
class Step:
    """What one transaction removed, and the *place* in the order that it came to."""

    removed: Counts
    place: tuple[Any, ...]


@dataclass(slots=True)
class Pace:
    """How hard a sweep works: up to *batch* rows at once, *percent* of the time.

    Fewer rows where they take longer than :data:`GOAL`.  Setting *stop* ends it at the next rest.
    """

    batch: int = BATCH
    percent: float = PERCENT
    stop: threading.Event = field(default_factory=threading.Event)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = min(self.batch, 50)

    def rest(self, took: float) -> bool:
        """Rest after a step of *took* seconds; whether to go on."""
        if took > GOAL:
            self.size = max(1, self.size // 2)
        elif took < GOAL / 2:
            self.size = min(self.batch, self.size + self.size // 4 + 1)
        return not self.stop.wait(took * (100 / self.percent - 1))


def run(sessions: Sessions, sweep: Sweep, pace: Pace, tell: Tell = lambda _: None) -> Counts:
    """Remove all that is old; *tell* is given the numbers of removed rows after each step."""
    bound = sessions.run(sweep.bound)
    total: Counts = collections.Counter()
    place: tuple[Any, ...] | None = None
    while True:
        began = time.monotonic()
        found = sessions.run(
            lambda session: step(session, sweep, bound, place, pace.size)  # noqa: B023
        )
        if found is None:
            return total
        place = found.place
        total += found.removed
        tell(found.removed)
        if not pace.rest(time.monotonic() - began):
            return total


def step(
    session: Session, sweep: Sweep, bound: dt.datetime, place: tuple[Any, ...] | None, limit: int
) -> Step | None:
    """Remove up to *limit* old rows behind *place*; None where there are none.

    Going on from the place passes by what the server has not cleared away of removed rows.
    """
    rows = session.execute(page(sweep, bound, place, limit)).all()
    if not rows:
        return None
    keys = session.scalars(held(sweep, bound, [row[-1] for row in rows])).all()
    removed = sweep.remove(session, sweep.key, keys) if keys else collections.Counter()
    return Step(removed, tuple(rows[-1]))


def page(
    sweep: Sweep, bound: dt.datetime, place: tuple[Any, ...] | None, limit: int
) -> sa.Select[Any]:
    """Reads old rows behind *place*, along the index and without a lock."""
    statement = sa.select(*sweep.order).where(sweep.old(bound))
    if place is not None:
        statement = statement.where(_behind(sweep.order, place))
    return statement.order_by(*sweep.order).limit(limit)


def held(sweep: Sweep, bound: dt.datetime, keys: Sequence[Any]) -> sa.Select[Any]:
    """Takes those of *keys* that are old still and that nobody works on."""
    statement = sa.select(sweep.key).where(sweep.key.in_(keys), sweep.old(bound))
    return statement.with_for_update(skip_locked=True)


def _behind(order: Sequence[Any], place: Sequence[Any]) -> sa.ColumnElement[bool]:
    """A range of the index: as alternatives, which every server reads as one."""
    alternatives = []
    for number, (column, value) in enumerate(zip(order, place, strict=True)):
        same = [other == known for other, known in zip(order[:number], place, strict=False)]
        alternatives.append(sa.and_(*same, column > value))
    return sa.or_(*alternatives)
