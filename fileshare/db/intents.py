"""Queries on promised work: write, claim, keep, hand on, close, find what is overdue.

Each guarded write is one statement that names the state it expects, so that two workers can
never both believe that they own an intent.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa

from fileshare.db.clock import NOW, after, now
from fileshare.db.models import Intent
from fileshare.db.query import one_of, values_of
from fileshare.db.session import Session, assignments, count, parameters, swap, written
from fileshare.db.sweeps import Sweep, along
from fileshare.domain.statuses import IntentState

UNSETTLED = (IntentState.OPEN, IntentState.PARKED)
CLOSED = (IntentState.DONE, IntentState.FAILED)


class LostClaim(Exception):
    """Another worker has taken this intent over, or it was superseded: stop, write nothing."""


def open_key(resource_type: str, resource_id: str) -> str:
    return f"{resource_type}/{resource_id}"


_INTENTS = cast("sa.Table", Intent.__table__)
_C = _INTENTS.c
_INSERT = sa.insert(_INTENTS).values(due=NOW)
_READ = sa.select(_INTENTS).where(_C.id == sa.bindparam("intent_id"))
_CLAIM_ANYWHERE = (
    sa.update(_INTENTS)
    .where(_C.id == sa.bindparam("intent_id"), _C.state == IntentState.OPEN, _C.due <= NOW)
    .values(
        owner=sa.bindparam("new_owner"),
        fence=_C.fence + 1,
        attempts=_C.attempts + 1,
        begun=_C.begun + sa.bindparam("begins", type_=sa.Integer),
        due=after(sa.bindparam("lease", type_=sa.Float)),
    )
)


@functools.lru_cache(maxsize=16)
def _claim_at(destinations: int) -> sa.Update:
    """The claim of work that waits at one of that many destinations."""
    return _CLAIM_ANYWHERE.where(one_of(_C.destination, "destination", destinations))


def write(session: Session, **columns: Any) -> Intent:
    """A new intent, due at once; its id is the one that a swap has put on the resource."""
    columns["open_key"] = open_key(columns["resource_type"], columns["resource_id"])
    session.connection().execute(_INSERT, columns)
    return cast("Intent", SimpleNamespace(**columns))


def claim(
    session: Session,
    intent_id: str,
    owner: str,
    lease: float,
    destinations: Collection[str] | None = None,
    *,
    begins: bool = False,
) -> Intent | None:
    """The intent, if it is due at one of *destinations* and this worker got it.

    A late ring may come to a daemon that has handed the intent on already.  *begins*: whether
    this counts as taking the work up, see ``Intent.begun``.
    """
    values: dict[str, Any] = {
        "intent_id": intent_id,
        "new_owner": owner,
        "lease": lease,
        "begins": int(begins),
    }
    statement = _CLAIM_ANYWHERE
    if destinations is not None:
        statement = _claim_at(len(destinations))
        values |= values_of("destination", list(destinations))
    return get(session, intent_id) if swap(session, statement, values) else None


# By its owner, too: a server that was failed over to may lack the last claims, and then counts
# the same fences once more.
_MINE = (
    _C.id == sa.bindparam("intent_id"),
    _C.fence == sa.bindparam("known_fence"),
    _C.owner == sa.bindparam("known_owner"),
    _C.state == IntentState.OPEN,
)


def _known(intent: Intent) -> dict[str, Any]:
    return {
        "intent_id": intent.id,
        "known_fence": intent.fence,
        "known_owner": intent.owner,
    }


@functools.lru_cache(maxsize=64)
def _guarded_update(shape: tuple[tuple[str, bool], ...], steps: bool, lease: bool) -> sa.Update:
    values = assignments(shape)
    if steps:
        values["fence"] = _C.fence + 1
    if lease:
        values["due"] = after(sa.bindparam("lease", type_=sa.Float))
    return sa.update(_INTENTS).where(*_MINE).values(**values)


def _guarded(
    session: Session,
    intent: Intent,
    values: Mapping[str, Any],
    *,
    steps: bool = False,
    lease: float | None = None,
) -> None:
    """Write to an intent whose claim is still the one that was read; *steps* ends the claim."""
    statement = _guarded_update(written(values), steps, lease is not None)
    given = parameters(values, **_known(intent))
    if lease is not None:
        given["lease"] = lease
    if not swap(session, statement, given):
        raise LostClaim(intent.id)


def keep(session: Session, intent: Intent, seconds: float) -> None:
    """Hold the claim for *seconds* from now."""
    _guarded(session, intent, {}, lease=seconds)


_IS_HELD = sa.select(_C.id).where(*_MINE)


def confirm(session: Session, intent: Intent) -> None:
    """Raise LostClaim unless the claim is still the one that was read."""
    if session.connection().execute(_IS_HELD, _known(intent)).first() is None:
        raise LostClaim(intent.id)


def again(
    session: Session,
    intent: Intent,
    seconds: float,
    *,
    failed: bool,
    payload: Mapping[str, Any] | None = None,
) -> None:
    """Let go of the claim until *seconds* from now; waiting is no attempt, failing is one."""
    values: dict[str, Any] = {"owner": None, "attempts": intent.attempts if failed else 0}
    if payload is not None:
        values["payload"] = payload
    _guarded(session, intent, values, steps=True, lease=seconds)


def hand_on(session: Session, intent: Intent, **columns: Any) -> None:
    """Pass the baton: the same intent, its next part, at its next place."""
    _guarded(session, intent, {**columns, "owner": None, "attempts": 0, "due": NOW}, steps=True)


def park(session: Session, intent: Intent) -> None:
    """Wait for a user."""
    _guarded(session, intent, {"state": IntentState.PARKED, "owner": None, "due": None})


def close(
    session: Session, intent: Intent, state: str, error: str | None = None, **columns: Any
) -> None:
    """The closed row stays as history until it is purged."""
    values = {**columns, "state": state, "error": error, "due": None, "open_key": None}
    _guarded(session, intent, {**values, "closed_at": NOW})


def unsettled(session: Session, resource_type: str, resource_id: str) -> Intent | None:
    """The intent that works on a resource, locked; None where nothing does."""
    return session.scalars(
        sa.select(Intent)
        .where(Intent.open_key == open_key(resource_type, resource_id))
        .with_for_update()
    ).one_or_none()


def supersede(session: Session, resource_type: str, resource_id: str, error: str) -> Intent | None:
    """Close the unsettled intent of a resource, whoever works on it; what it was, or None."""
    intent = unsettled(session, resource_type, resource_id)
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
    """Ids of what may be claimed at *destinations*, oldest first.

    Where there is more than *limit*, the oldest of each project before the second of any.
    """
    where = (
        Intent.destination.in_(destinations),
        Intent.due <= now(),
        Intent.state == IntentState.OPEN,
    )
    oldest = sa.select(Intent.id).where(*where).order_by(Intent.due).limit(limit)
    found = list(session.scalars(oldest))
    if len(found) < limit:
        return found
    place = sa.func.row_number().over(partition_by=Intent.project_id, order_by=Intent.due)
    lines = sa.select(Intent.id, Intent.due, place.label("place")).where(*where).subquery()
    fair = sa.select(lines.c.id).order_by(lines.c.place, lines.c.due).limit(limit)
    return list(session.scalars(fair))


def projects(session: Session, ids: Collection[str]) -> dict[str, str | None]:
    """The projects of intents by their ids."""
    rows = session.execute(sa.select(Intent.id, Intent.project_id).where(Intent.id.in_(ids)))
    return {row.id: row.project_id for row in rows}


def pull_back(session: Session, longest: float) -> int:
    """Let nothing wait much longer than *longest* seconds, the longest lease or pause; how many.

    Such was due before somebody set the database's clock back, or its lease does not end.
    """
    far = (Intent.state == IntentState.OPEN, Intent.due > after(2 * longest))
    return count(session, sa.update(Intent).where(*far).values(due=after(longest)))


def silent(session: Session, seconds: float) -> set[str]:
    """Destinations with work that was due for *seconds*, and none in anybody's hand."""
    is_open = Intent.state == IntentState.OPEN
    waits = sa.select(Intent.destination).where(is_open, Intent.due <= after(-seconds))
    found = set(session.scalars(waits.distinct()))
    in_hand = sa.select(Intent.destination).where(
        is_open, Intent.due > now(), Intent.owner.is_not(None), Intent.destination.in_(found)
    )
    return found - set(session.scalars(in_hand.distinct())) if found else found


def abandoned(
    session: Session,
    seconds: float,
    destinations: Collection[str],
    *,
    beyond: tuple[Any, str] | None = None,
    limit: int = 100,
) -> list[tuple[Any, str]]:
    """What nobody has claimed for *seconds* although it was due at *destinations*.

    The oldest *beyond* one that was read before, each as the moment it was due and its id.
    """
    where = [
        Intent.due <= after(-seconds),
        Intent.state == IntentState.OPEN,
        Intent.destination.in_(destinations),
    ]
    if beyond is not None:
        due, id = beyond
        where += [Intent.due >= due, sa.or_(Intent.due > due, Intent.id > id)]
    oldest = sa.select(Intent.due, Intent.id).where(*where).order_by(Intent.due, Intent.id)
    return [(row.due, row.id) for row in session.execute(oldest.limit(limit))]


def get(session: Session, intent_id: str) -> Intent | None:
    """The intent as it is now: a row, which the session does not follow."""
    row = session.connection().execute(_READ, {"intent_id": intent_id}).one_or_none()
    return cast("Intent | None", row)


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


def closed(seconds: float) -> list[Sweep]:
    """The intents that were closed *seconds* ago, as one sweep for each of their ends."""
    way = along(_C.closed_at, _C.state)
    return [Sweep(way, seconds, where=(_C.state == state,)) for state in CLOSED]
