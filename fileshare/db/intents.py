"""Queries on promised work: write, claim, keep, hand on, close, find what is overdue.

Each guarded write is one statement that names the state it expects, so that two workers can
never both believe that they own an intent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from fileshare.db.clock import after, now
from fileshare.db.models import Intent
from fileshare.db.session import Session, count, swap
from fileshare.domain.statuses import IntentState

UNSETTLED = (IntentState.OPEN, IntentState.PARKED)


class LostClaim(Exception):
    """Another worker has taken this intent over, or it was superseded: stop, write nothing."""


def open_key(resource_type: str, resource_id: str) -> str:
    return f"{resource_type}/{resource_id}"


def write(session: Session, **columns: Any) -> Intent:
    """A new intent, due at once; its id is the one that a swap has put on the resource."""
    intent = Intent(
        open_key=open_key(columns["resource_type"], columns["resource_id"]),
        due=now(),
        **columns,
    )
    session.add(intent)
    session.flush()
    return intent


def claim(
    session: Session,
    intent_id: str,
    owner: str,
    lease: float,
    destinations: Collection[str] | None = None,
) -> Intent | None:
    """The intent, if it is due at one of *destinations* and this worker got it.

    A late ring may come to a daemon that has handed the intent on already.
    """
    here = sa.true() if destinations is None else Intent.destination.in_(destinations)
    swapped = swap(
        session,
        sa.update(Intent)
        .where(Intent.id == intent_id, Intent.state == IntentState.OPEN, Intent.due <= now(), here)
        .values(
            owner=owner,
            fence=Intent.fence + 1,
            attempts=Intent.attempts + 1,
            due=after(lease),
        ),
    )
    return session.get(Intent, intent_id, populate_existing=True) if swapped else None


def _mine(intent: Intent) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Intent.id == intent.id,
        Intent.fence == intent.fence,
        Intent.state == IntentState.OPEN,
    )


def _guarded(session: Session, intent: Intent, **values: Any) -> None:
    if not swap(session, sa.update(Intent).where(*_mine(intent)).values(**values)):
        raise LostClaim(intent.id)


def keep(session: Session, intent: Intent, seconds: float) -> None:
    """Hold the claim for *seconds* from now."""
    _guarded(session, intent, due=after(seconds))


def again(session: Session, intent: Intent, seconds: float, *, failed: bool) -> None:
    """Let go of the claim until *seconds* from now; waiting is no attempt, failing is one."""
    attempts = intent.attempts if failed else 0
    _guarded(
        session, intent, due=after(seconds), owner=None, attempts=attempts, fence=Intent.fence + 1
    )


def hand_on(session: Session, intent: Intent, **columns: Any) -> None:
    """Pass the baton: the same intent, its next part, at its next place."""
    _guarded(session, intent, owner=None, fence=Intent.fence + 1, attempts=0, due=now(), **columns)


def park(session: Session, intent: Intent) -> None:
    """Wait for a user."""
    _guarded(session, intent, state=IntentState.PARKED, owner=None, due=None)


def close(
    session: Session, intent: Intent, state: str, error: str | None = None, **columns: Any
) -> None:
    """The closed row stays as history until it is purged."""
    _guarded(
        session,
        intent,
        state=state,
        error=error,
        due=None,
        open_key=None,
        closed_at=now(),
        **columns,
    )


def supersede(session: Session, resource_type: str, resource_id: str, error: str) -> Intent | None:
    """Close the unsettled intent of a resource, whoever works on it; what it was, or None."""
    intent = session.scalars(
        sa.select(Intent)
        .where(Intent.open_key == open_key(resource_type, resource_id))
        .with_for_update()
    ).one_or_none()
    if intent is None:
        return None
    count(
        session,
        sa.update(Intent)
        .where(Intent.id == intent.id, Intent.state.in_(UNSETTLED))
        .values(
            state=IntentState.FAILED,
            error=error,
            due=None,
            open_key=None,
            fence=Intent.fence + 1,
            closed_at=now(),
        ),
    )
    return intent


def due(session: Session, destinations: Collection[str], limit: int = 100) -> list[str]:
    """Ids of what may be claimed at *destinations*, oldest first."""
    return list(
        session.scalars(
            sa.select(Intent.id)
            .where(
                Intent.destination.in_(destinations),
                Intent.due <= now(),
                Intent.state == IntentState.OPEN,
            )
            .order_by(Intent.due)
            .limit(limit)
        )
    )


def abandoned(session: Session, seconds: float, limit: int = 100) -> list[str]:
    """Ids of what nobody has claimed for *seconds* although it was due."""
    return list(
        session.scalars(
            sa.select(Intent.id)
            .where(Intent.due <= after(-seconds), Intent.state == IntentState.OPEN)
            .order_by(Intent.due)
            .limit(limit)
        )
    )


def get(session: Session, intent_id: str) -> Intent | None:
    return session.get(Intent, intent_id, populate_existing=True)


def find(
    session: Session,
    *,
    share_id: str | None = None,
    states: Collection[str] = (),
    limit: int = 1000,
) -> Sequence[Intent]:
    """For operators: newest first."""
    statement = sa.select(Intent).order_by(Intent.created_at.desc(), Intent.id).limit(limit)
    if share_id:
        statement = statement.where(Intent.share_id == share_id)
    if states:
        statement = statement.where(Intent.state.in_(states))
    return session.scalars(statement).all()


def make_due(session: Session, intent_id: str) -> bool:
    """Let an unsettled intent be claimed at once, as if it had never been tried."""
    return swap(
        session,
        sa.update(Intent)
        .where(Intent.id == intent_id, Intent.state.in_(UNSETTLED))
        .values(state=IntentState.OPEN, due=now(), attempts=0, owner=None, fence=Intent.fence + 1),
    )


def purge(session: Session, days: float, limit: int = 1000) -> int:
    """Remove up to *limit* intents that were closed *days* ago; how many they were."""
    ids = session.scalars(
        sa.select(Intent.id)
        .where(
            Intent.state.in_((IntentState.DONE, IntentState.FAILED)),
            Intent.closed_at <= after(-days * 86400),
        )
        .limit(limit)
    ).all()
    return count(session, sa.delete(Intent).where(Intent.id.in_(ids))) if ids else 0
