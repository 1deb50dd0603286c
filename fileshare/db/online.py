"""Changes of data that run while the services do, after the schema of a release was expanded."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from fileshare.db.session import Session, Sessions

BATCH = 50


class Step(Protocol):
    """Changes up to *limit* rows; returns how many it found and how many it changed."""

    def __call__(self, session: Session, limit: int) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class OnlineMigration:
    """One change of data, made in steps."""

    name: str
    step: Step


MIGRATIONS: Sequence[OnlineMigration] = ()
"""Those of this release, oldest first; one goes when no release needs it any more."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What one migration did; *left* says whether there is more to do."""

    name: str
    found: int
    done: int
    left: bool


def run(
    sessions: Sessions,
    most: int | None = None,
    migrations: Sequence[OnlineMigration] = MIGRATIONS,
) -> list[Progress]:
    """Run all migrations in batches; with *most*, no more than so many rows in all."""
    report = []
    for migration in migrations:
        progress = _run(sessions, migration, most)
        report.append(progress)
        if most is not None:
            most -= progress.done
    return report


def _run(sessions: Sessions, migration: OnlineMigration, most: int | None) -> Progress:
    found = done = 0
    while most is None or done < most:
        size = BATCH if most is None else min(BATCH, most - done)
        seen, changed = sessions.run(functools.partial(migration.step, limit=size))
        found, done = found + seen, done + changed
        if not changed:
            return Progress(migration.name, found, done, left=seen > 0)
    return Progress(migration.name, found, done, left=True)
