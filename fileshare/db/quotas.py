"""Quota is charged where the row changes, in the same transaction: never above, never adrift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as db_exception
from oslo_log import log as logging

from fileshare import errors
from fileshare.db.models import Intent, QuotaLimit, QuotaUsage, Share
from fileshare.db.session import Session, count
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.quotas import PROJECT, UNLIMITED, Charge, share_amounts
from fileshare.domain.statuses import IntentState

LOG = logging.getLogger(__name__)

DEFAULT_CLASS = "default"

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
    wanted = {PROJECT, *scopes}
    limits = sa.select(
        QuotaLimit.project_id, QuotaLimit.scope, QuotaLimit.resource, QuotaLimit.hard_limit
    ).where(
        QuotaLimit.project_id.in_((project_id, class_id(DEFAULT_CLASS))),
        QuotaLimit.scope.in_(wanted),
    )
    usage = sa.select(
        sa.literal(None), QuotaUsage.scope, QuotaUsage.resource, QuotaUsage.used
    ).where(QuotaUsage.project_id == project_id, QuotaUsage.scope.in_(wanted))
    found = {(PROJECT, name): limit for name, limit in defaults.items()}
    used: dict[tuple[str, str], int] = {}
    rows: list[Any] = list(session.execute(sa.union_all(limits, usage)))
    for owner, scope, resource, number in sorted(rows, key=lambda row: row[0] == project_id):
        if owner is None:
            used[scope, resource] = number
        elif owner == project_id or scope == PROJECT:
            found[scope, resource] = number
    return Account(found, used)


def charge(session: Session, wanted: Charge, defaults: Mapping[str, int]) -> Account:
    """Book *wanted* in one statement; raises OverQuota where one of its rows is full.

    The transaction must not be committed after OverQuota.
    """
    rows = list(wanted.rows())
    books = account(session, wanted.project_id, wanted.scopes(), defaults)
    missing = [(scope, name) for scope, name, _ in rows if (scope, name) not in books.used]
    if missing:
        _open_rows(session, wanted.project_id, missing)
    if rows and count(session, _booking(wanted.project_id, rows, books)) != len(rows):
        raise _explain(session, wanted, books)
    return books


def refund(session: Session, booked: Charge | None) -> None:
    """Give *booked* back."""
    if not booked:
        return
    rows = list(booked.reversed().rows())
    if count(session, _booking(booked.project_id, rows, Account({}, {}))) != len(rows):
        # A row that was purged with its user or type; the project's own is always there.
        LOG.error("Not all of %s could be given back", booked)


def check_size(books: Account, scopes: Iterable[str], size: int) -> None:
    """Raise OverQuota where a single share of *size* GiB is more than a limit allows."""
    for scope in (PROJECT, *scopes):
        limit = books.limit(scope, "per_share_gigabytes")
        if 0 <= limit < size:
            raise _over("per_share_gigabytes", size, 0, limit)


def _booking(project_id: str, rows: list[tuple[str, str, int]], books: Account) -> sa.Update:
    amounts = {name: amount for _, name, amount in rows}
    return (
        sa.update(QuotaUsage)
        .where(
            QuotaUsage.project_id == project_id,
            sa.or_(
                *(
                    _room(scope, name, amount, books.limit(scope, name))
                    for scope, name, amount in rows
                )
            ),
        )
        .values(used=QuotaUsage.used + sa.case(amounts, value=QuotaUsage.resource))
    )


def _room(scope: str, name: str, amount: int, limit: int) -> sa.ColumnElement[bool]:
    row = sa.and_(QuotaUsage.scope == scope, QuotaUsage.resource == name)
    if amount > 0 and limit != UNLIMITED:
        return sa.and_(row, QuotaUsage.used + amount <= limit)
    return row


def _open_rows(session: Session, project_id: str, keys: list[tuple[str, str]]) -> None:
    for scope, name in keys:
        # Another transaction may open it too; the loser finds it there.
        try:
            with session.begin_nested():
                session.execute(
                    sa.insert(QuotaUsage).values(
                        project_id=project_id, scope=scope, resource=name, used=0
                    )
                )
        except db_exception.DBDuplicateEntry:
            continue


def _explain(session: Session, wanted: Charge, books: Account) -> errors.OverQuota:
    # The transaction's own partial booking is undone by the caller's rollback.
    session.rollback()
    used = account(session, wanted.project_id, wanted.scopes(), {}).used
    for scope, name, amount in wanted.rows():
        limit = books.limit(scope, name)
        have = used.get((scope, name), 0)
        if amount > 0 and limit != UNLIMITED and have + amount > limit:
            return _over(name, amount, have, limit)
    # Room came back between the two looks.
    scope, name, amount = next(iter(wanted.rows()))
    return _over(name, amount, used.get((scope, name), 0), books.limit(scope, name))


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
