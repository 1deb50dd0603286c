"""Looks at a database that is being broken: which were taken, and which the storm took away."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from fileshare.db.session import TRANSIENT, Session, Sessions

Result = TypeVar("Result")

SIGHTS, OPEN, CLAIMED, CLAIMS = "sights", "open intents", "claims of the lost", "watched claims"
"""What is looked at."""
LEAST = 0.5
"""The share of all tries of one kind that must have been taken."""
ON_TIME = 0.25
"""The same of those that the clock asks for: a look at a database that is away takes long."""


class Samples:
    """The looks of a storm at its database, counted by what they look at.

    *lost* are those for which the database was away, as it is after a storm's faults and never
    else; any other error is *trouble*: the harness or the program is wrong.
    """

    def __init__(self, sessions: Sessions) -> None:
        self.taken: collections.Counter[str] = collections.Counter()
        self.lost: collections.Counter[str] = collections.Counter()
        self.trouble: list[str] = []
        self._sessions = sessions

    def take(self, what: str, query: Callable[[Session], Result]) -> Result | None:
        """The answer of *query*; None where there is none."""
        try:
            found = self._sessions.run(query)
        except TRANSIENT:
            self.lost[what] += 1
            return None
        except Exception as error:  # noqa: BLE001  (told as a violation)
            self.trouble.append(f"a look at {what} failed: {error!r}")
            return None
        self.taken[what] += 1
        return found

    def lines(self) -> Iterator[str]:
        """Figures for the report."""
        for what in sorted({*self.taken, *self.lost}):
            yield f"samples of {what}: {self.taken[what]} taken, {self.lost[what]} lost"

    def complaints(self, by_the_clock: Mapping[str, float]) -> Iterator[str]:
        """All trouble, and of what there are too few samples to say anything.

        *by_the_clock* is how many there had to be of what is looked at regularly.
        """
        yield from self.trouble
        for what in sorted({*self.taken, *self.lost, *by_the_clock}):
            taken, tried = self.taken[what], self.taken[what] + self.lost[what]
            wanted = max(LEAST * tried, ON_TIME * by_the_clock.get(what, 0))
            if taken < wanted:
                yield f"only {taken} samples of {what} were taken, {tried - taken} were lost"
