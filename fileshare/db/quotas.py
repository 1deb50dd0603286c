"""Quota is charged where the row changes, in the same transaction: never above, never adrift."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as db_exception
from oslo_log import log as logging

from fileshare import errors
from fileshare.db.models import Intent, QuotaLimit, QuotaUsage, Share
from fileshare.db.query import one_of, values_of
from fileshare.db.session import Session, StartOver, count, swap
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.quotas import PROJECT, UNLIMITED, Charge, share_amounts
from fileshare.domain.statuses import IntentState

LOG = logging.getLogger(__name__)

DEFAULT_CLASS = "default"

Row = tuple[str, str, int]  # scope, resource, and an amount or what is used

# The names that clients of the peer find in the text of a refusal.
_EXCEPTIONS = {
    "shares": "ShareLimitExceeded",
    "gigabytes": "ShareSizeExceedsAvailableQuota",
    "share_replicas": "ShareReplicasLimitExceeded",
    "replica_gigabytes": "ShareReplicaSizeExceedsAvailableQuota",
    "per_share_gigabytes": "ShareSizeExceedsLimit",
}


@dataclass(frozen=True, slots=True)
class Account:
    """The limits that hold for some scopes of a project, and which usage rows exist."""

    limits: Mapping[tuple[str, str], int]
    used: Mapping[tuple[str, str], int]

    def limit(self, scope: str, resource: str) -> int:
        return self.limits.get((scope, resource), UNLIMITED)


def class_id(name: str) -> str:
    """The project id under which the limits of a quota class are kept."""
    return f"class:{name}"


def account(
    session: Session, project_id: str, scopes: Iterable[str], defaults: Mapping[str, int]
) -> Account:
    """Limits and usage in one statement.

    A user's or a type's limit is its own, else there is none besides the project's; the
    project's is its own, else the default class's, else *defaults*.
    """
    found = {(PROJECT, name): limit for name, limit in defaults.items()}
    used: dict[tuple[str, str], int] = {}
    all_scopes = sorted({PROJECT, *scopes})
    rows = session.connection().execute(
        _account(len(all_scopes)), {"project": project_id, **values_of("scope", all_scopes)}
    )
    for owner, scope, resource, number in sorted(rows, key=lambda row: row[0] == project_id):
        if owner is None:
            used[scope, resource] = number
        elif owner == project_id or scope == PROJECT:
            found[scope, resource] = number
    return Account(found, used)


@functools.lru_cache(maxsize=16)
def _account(scopes: int) -> sa.CompoundSelect[Any]:
    """Limits and usage in that many scopes of a project."""
    project = sa.bindparam("project", type_=sa.String)
    limits = sa.select(
        QuotaLimit.project_id, QuotaLimit.scope, QuotaLimit.resource, QuotaLimit.hard_limit
    ).where(
        QuotaLimit.project_id.in_([project, sa.literal(class_id(DEFAULT_CLASS))]),
        one_of(QuotaLimit.scope, "scope", scopes),
    )
    usage = sa.select(
        sa.literal(None), QuotaUsage.scope, QuotaUsage.resource, QuotaUsage.used
    ).where(QuotaUsage.project_id == project, one_of(QuotaUsage.scope, "scope", scopes))
    return sa.union_all(limits, usage)


def charge(session: Session, wanted: Charge, defaults: Mapping[str, int]) -> Account:
    """Book *wanted*; raises OverQuota where one of its rows is full.

    The rows are booked first and looked at afterwards: from the booking to the end of the
    transaction nobody else books them or changes their limits (see :func:`hold`).  So the
    transaction must not be committed after OverQuota.
    """
    rows = list(wanted.rows())
    found = _book(session, wanted.project_id, rows) if rows else 0
    if found != len(rows):
        _book_first(session, wanted, rows, found)
    books = account(session, wanted.project_id, wanted.scopes(), defaults)
    for scope, name, amount in rows:
        limit, used = books.limit(scope, name), books.used[scope, name]
        if amount > 0 and limit != UNLIMITED and used > limit:
            raise _over(name, amount, used - amount, limit)
    return books


def refund(session: Session, booked: Charge | None) -> None:
    """Give *booked* back."""
    if not booked:
        return
    rows = list(booked.reversed().rows())
    if _book(session, booked.project_id, rows) != len(rows):
        # A row that was purged with its type; the project's own is always there.
        LOG.error("Not all of %s could be given back", booked)


def check_size(books: Account, scopes: Iterable[str], size: int) -> None:
    """Raise OverQuota where a single share of *size* GiB is more than a limit allows."""
    for scope in (PROJECT, *scopes):
        limit = books.limit(scope, "per_share_gigabytes")
        if 0 <= limit < size:
            raise _over("per_share_gigabytes", size, 0, limit)


def _book(session: Session, project_id: str, rows: Sequence[Row]) -> int:
    """Add the amounts to those of *rows* that are there; how many these are."""
    scopes = list(dict.fromkeys(scope for scope, _, _ in rows))
    keys = tuple((scopes.index(scope), name) for scope, name, _ in rows)
    values: dict[str, Any] = {f"scope_{number}": scope for number, scope in enumerate(scopes)}
    values |= {f"amount_{name}": amount for _, name, amount in rows}
    return count(session, _booking(keys), {**values, "project": project_id})


@functools.lru_cache(maxsize=256)
def _booking(keys: tuple[tuple[int, str], ...]) -> sa.Update:
    """Books rows that are given as (number of the scope, resource)."""
    names: dict[int, list[str]] = {}
    for number, name in keys:
        names.setdefault(number, []).append(name)
    amounts = {name: sa.bindparam(f"amount_{name}", type_=sa.BigInteger) for _, name in keys}
    among = (
        sa.and_(
            QuotaUsage.scope == sa.bindparam(f"scope_{number}"),
            QuotaUsage.resource.in_(resources),
        )
        for number, resources in names.items()
    )
    return (
        sa.update(QuotaUsage)
        .where(QuotaUsage.project_id == sa.bindparam("project"), sa.or_(*among))
        .values(used=QuotaUsage.used + sa.case(amounts, value=QuotaUsage.resource))
    )


def _book_first(session: Session, wanted: Charge, rows: Sequence[Row], found: int) -> None:
    """Book those of *rows* that were not there yet; *found* of them were, and are booked."""
    there = _open_rows(session, wanted.project_id, rows)
    if len(there) != found:
        # Another transaction made some in between: which ones are booked cannot be told.
        raise StartOver("the usage rows of a project came into being")
    missing = [row for row in rows if row[:2] not in there]
    if _book(session, wanted.project_id, missing) != len(missing):
        # Rows go away with their share type only.
        raise errors.NotFound(resource="Share type", id=wanted.share_type_id)


def _among(rows: Iterable[Row]) -> sa.ColumnElement[bool]:
    names: dict[str, list[str]] = {}
    for scope, name, _ in rows:
        names.setdefault(scope, []).append(name)
    return sa.or_(
        *(
            sa.and_(QuotaUsage.scope == scope, QuotaUsage.resource.in_(resources))
            for scope, resources in names.items()
        )
    )


def _open_rows(session: Session, project_id: str, rows: Sequence[Row]) -> set[tuple[str, str]]:
    """Make those of *rows* that are not there; which were there before."""
    usage = sa.select(QuotaUsage.scope, QuotaUsage.resource)
    usage = usage.where(QuotaUsage.project_id == project_id, _among(rows))
    there = {(scope, name) for scope, name in session.execute(usage)}
    for scope, name, _ in rows:
        if (scope, name) in there:
            continue
        row = {"project_id": project_id, "scope": scope, "resource": name, "used": 0}
        # Another transaction may make it too; the loser finds it there.
        with contextlib.suppress(db_exception.DBDuplicateEntry), session.begin_nested():
            session.execute(sa.insert(QuotaUsage).values(row))
    return there


def hold(session: Session, project_id: str, rows: Sequence[Row]) -> dict[tuple[str, str], int]:
    """Lock the usage of *rows* until the transaction ends; what is used, by (scope, resource).

    Who changes a limit holds its row first, and a charge reads the limits after it has booked.
    So either the charge sees the new limit, or the new limit was checked against the charge.
    """
    _open_rows(session, project_id, rows)
    found = session.execute(
        sa.select(QuotaUsage.scope, QuotaUsage.resource, QuotaUsage.used)
        .where(QuotaUsage.project_id == project_id, _among(rows))
        .order_by(QuotaUsage.scope, QuotaUsage.resource)
        .with_for_update()
    )
    return {(scope, name): used for scope, name, used in found}


def _over(name: str, delta: int, used: int, limit: int) -> errors.OverQuota:
    return errors.OverQuota(
        exception=_EXCEPTIONS.get(name, "QuotaExceeded"),
        quota=name,
        delta=delta,
        used=used,
        limit=limit,
    )


def reserved(session: Session, project_id: str) -> dict[tuple[str, str], int]:
    """What of the usage belongs to work in flight, by (scope, resource)."""
    found: dict[tuple[str, str], int] = {}
    open_charges = session.scalars(
        sa.select(Intent.charges).where(
            Intent.project_id == project_id,
            Intent.state.in_((IntentState.OPEN, IntentState.PARKED)),
        )
    )
    for data in open_charges:
        booked = Charge.load(data)
        for scope, name, amount in booked.rows() if booked else ():
            found[scope, name] = found.get((scope, name), 0) + amount
    return found


def recount(session: Session, project_id: str | None = None) -> dict[tuple[str, str, str], int]:
    """What the usage rows must hold, counted from the shares and the work in flight.

    Keys are (project, scope, resource).  The truth that tests and ``quota check`` compare with.
    """
    where = sa.true() if project_id is None else Share.project_id == project_id
    rows = session.execute(
        sa.select(
            Share.project_id,
            Share.user_id,
            Share.share_type_id,
            Share.replication_type.is_not(None),
            sa.func.count(),
            sa.func.sum(Share.size),
        )
        .where(where, Share.deleted_at.is_(None), Share.is_charged.is_(True))
        .group_by(
            Share.project_id,
            Share.user_id,
            Share.share_type_id,
            Share.replication_type.is_not(None),
        )
    ).all()
    charges = [
        Charge(project, user, kind, share_amounts(int(size), shares=shares, replicated=replicated))
        for project, user, kind, replicated, shares, size in rows
    ]
    charges += _in_flight(session, project_id)
    total: dict[tuple[str, str, str], int] = {}
    for booked in charges:
        for scope, name, amount in booked.rows():
            key = (booked.project_id, scope, name)
            total[key] = total.get(key, 0) + amount
    return total


def _in_flight(session: Session, project_id: str | None) -> list[Charge]:
    """Charges of open intents on top of the rows: a create's are counted with its share."""
    where = sa.true() if project_id is None else Intent.project_id == project_id
    rows = session.execute(
        sa.select(Intent.charges).where(
            where,
            Intent.state.in_((IntentState.OPEN, IntentState.PARKED)),
            Intent.event != SHARE["create"].event,
        )
    ).scalars()
    return [booked for booked in map(Charge.load, rows) if booked]


def booked(session: Session, project_id: str | None = None) -> dict[tuple[str, str, str], int]:
    """What the usage rows do hold, without those at zero; keys as in :func:`recount`."""
    where = sa.true() if project_id is None else QuotaUsage.project_id == project_id
    rows = session.execute(
        sa.select(
            QuotaUsage.project_id, QuotaUsage.scope, QuotaUsage.resource, QuotaUsage.used
        ).where(where, QuotaUsage.used != 0)
    )
    return {(project, scope, name): used for project, scope, name, used in rows}


def class_limits(session: Session, name: str) -> dict[str, int]:
    """The limits that a quota class has, by resource."""
    rows = session.execute(
        sa.select(QuotaLimit.resource, QuotaLimit.hard_limit).where(
            QuotaLimit.project_id == class_id(name), QuotaLimit.scope == PROJECT
        )
    )
    return {resource: limit for resource, limit in rows}  # noqa: C416  (rows are not pairs)


def parts(session: Session, project_id: str) -> list[Row]:
    """The limits of the project's users and share types: (scope, resource, limit)."""
    rows = session.execute(
        sa.select(QuotaLimit.scope, QuotaLimit.resource, QuotaLimit.hard_limit).where(
            QuotaLimit.project_id == project_id, QuotaLimit.scope != PROJECT
        )
    )
    return [(scope, resource, limit) for scope, resource, limit in rows]


def set_limits(session: Session, owner: str, scope: str, limits: Mapping[str, int]) -> None:
    """Write the limits of a project (or class, see :func:`class_id`), user or type."""
    for resource, limit in sorted(limits.items()):
        key = {"project_id": owner, "scope": scope, "resource": resource}
        write = sa.update(QuotaLimit).filter_by(**key).values(hard_limit=limit)
        if swap(session, write):
            continue
        try:
            with session.begin_nested():
                session.execute(sa.insert(QuotaLimit).values(**key, hard_limit=limit))
        except db_exception.DBDuplicateEntry:
            swap(session, write)


def clear_limits(session: Session, project_id: str, scope: str | None = None) -> None:
    """Forget the limits of a user or type, or (no *scope*) all that were set in a project."""
    where = sa.true() if scope is None else QuotaLimit.scope == scope
    count(session, sa.delete(QuotaLimit).where(QuotaLimit.project_id == project_id, where))


def purge(session: Session, scope: str) -> None:
    """Remove limits and usage of a user or type that is gone, in all projects."""
    for model in (QuotaLimit, QuotaUsage):
        # By whole keys: a search by the scope alone would lock what others are booking.
        owners = session.scalars(sa.select(model.project_id).where(model.scope == scope))
        for owner in sorted(set(owners)):
            count(session, sa.delete(model).where(model.project_id == owner, model.scope == scope))
