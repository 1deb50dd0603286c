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
from typing import Any, NamedTuple, cast

import sqlalchemy as sa

from fileshare.db.clock import moment
from fileshare.db.session import Session, Sessions, count

GOAL = 0.025
BATCH = 500
LEAST = 100
PERCENT = 20

Counts = collections.Counter[str]
Tell = Callable[[Mapping[str, int]], None]


def plainly(session: Session, key: Any, keys: Sequence[Any]) -> Counts:
    """Remove rows on which nothing hangs."""
    removed = count(session, sa.delete(key.table).where(key.in_(keys)))
    return collections.Counter({key.table.name: removed})


class Way(NamedTuple):
    """The name of an index, and its columns from a moment on to the primary key."""

    name: str
    order: tuple[Any, ...]

    @property
    def moment(self) -> Any:
        return self.order[0]

    @property
    def key(self) -> Any:
        return self.order[-1]

    @property
    def table(self) -> Any:
        return self.key.table


def along(moment: Any, *equal: Any) -> Way:
    """The way through rows in the order of *moment*, where the columns *equal* have one value.

    Raises LookupError where the table has no index for it.
    """
    table = moment.table
    (key,) = table.primary_key.columns
    for index in sorted(table.indexes, key=lambda index: str(index.name)):
        found = tuple(index.columns)
        before, order = found[: len(equal)], found[len(equal) :]
        if before == equal and order[:1] == (moment,) and not any(c.nullable for c in order[1:]):
            # Each index of InnoDB ends with the primary key.
            return Way(str(index.name), order if order[-1] is key else (*order, key))
    raise LookupError(f"{table.name} has no index for {moment.name}")


@dataclass(frozen=True, slots=True)
class Sweep:
    """The rows of a table whose moment was *seconds* ago.

    *where* has the values of the columns that come first in the index.  A row stays to which
    one of the columns *living* refers from a row that is not deleted.  *remove* removes rows by
    their keys, and says how many of which tables went.
    """

    way: Way
    seconds: float
    where: tuple[sa.ColumnElement[bool], ...] = ()
    living: tuple[Any, ...] = ()
    remove: Callable[[Session, Any, Sequence[Any]], Counts] = plainly

    @property
    def table(self) -> Any:
        return self.way.table

    def bound(self, session: Session) -> dt.datetime:
        """The newest moment whose rows go; a sweep does not run after what gets old meanwhile."""
        return moment(session) - dt.timedelta(seconds=self.seconds)

    def old(self, bound: dt.datetime) -> sa.ColumnElement[bool]:
        return sa.and_(*self.where, self.way.moment <= bound)


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
            self.size = max(min(self.batch, LEAST), self.size // 2)
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
    rows = session.execute(_page(sweep, bound, place, limit)).all()
    if not rows:
        return None
    keys = take(session, sweep, bound, [row[-1] for row in rows])
    removed = sweep.remove(session, sweep.way.key, keys) if keys else collections.Counter()
    return Step(removed, tuple(rows[-1]))


def _page(
    sweep: Sweep, bound: dt.datetime, place: tuple[Any, ...] | None, limit: int
) -> sa.Select[Any]:
    """Reads old rows behind *place*, along the index and without a lock."""
    way = sweep.way
    statement = sa.select(*way.order).where(sweep.old(bound))
    if place is not None:
        statement = statement.where(_behind(way.order, place))
    return _by(way.name, statement.order_by(*way.order).limit(limit), way.table)


def take(session: Session, sweep: Sweep, bound: dt.datetime, keys: Sequence[Any]) -> list[Any]:
    """Lock those of *keys* that are old still, on which nothing hangs that is alive.

    What somebody else holds is left alone.
    """
    key = sweep.way.key
    statement = sa.select(key).where(key.in_(keys), sweep.old(bound))
    held = session.scalars(
        _by("PRIMARY", statement, key.table).with_for_update(skip_locked=True)
    ).all()
    alive: set[Any] = set()
    for column in sweep.living if held else ():
        alive.update(
            session.scalars(sa.select(column).where(column.in_(held), _is_alive(column.table)))
        )
    return [each for each in held if each not in alive]


def _is_alive(table: Any) -> sa.ColumnElement[bool]:
    return cast("sa.ColumnElement[bool]", table.c.deleted_at.is_(None))


def _by(index: str, statement: sa.Select[Any], table: Any) -> sa.Select[Any]:
    """*statement* by that index on MySQL, which would sort most of a table rather than walk."""
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(table, f"FORCE INDEX ({index})", dialect)
    return statement


def _behind(order: Sequence[Any], place: Sequence[Any]) -> sa.ColumnElement[bool]:
    """A range of the index: as alternatives, which every server reads as one."""
    alternatives = []
    for number, (column, value) in enumerate(zip(order, place, strict=True)):
        same = [other == known for other, known in zip(order[:number], place, strict=False)]
        alternatives.append(sa.and_(*same, column > value))
    return sa.or_(*alternatives)
