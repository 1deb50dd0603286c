"""Back ends and other services as operators keep them: overview, removal, another name."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from fileshare import errors
from fileshare.db import chores
from fileshare.db.chores import BINARY
from fileshare.db.clock import after
from fileshare.db.models import Base, Intent, Member, PoolReport, Service, ShareInstance
from fileshare.db.services import is_up
from fileshare.db.session import Session, count
from fileshare.domain.hosts import Location, backend_of
from fileshare.domain.statuses import IntentState

_LISTED = 20


@dataclass(frozen=True, slots=True)
class Load:
    """What is on a back end; numbers are GiB, None is unknown."""

    pools: int = 0
    total_gb: float | None = None
    free_gb: float | None = None
    claimed_gb: int = 0
    shares: int = 0


def loads(session: Session) -> dict[str, Load]:
    """By back end (``host@backend``), also of those that have shares but no service."""
    shares: collections.Counter[str] = collections.Counter()
    placed = session.execute(
        sa.select(ShareInstance.host, sa.func.count())
        .where(ShareInstance.deleted_at.is_(None), ShareInstance.host.is_not(None))
        .group_by(ShareInstance.host)
    )
    for host, number in placed:
        shares[backend_of(host or "")] += number
    reports = session.execute(
        sa.select(
            PoolReport.backend,
            sa.func.count(),
            sa.func.sum(PoolReport.total_gb),
            sa.func.sum(PoolReport.free_gb),
            sa.func.sum(PoolReport.claimed_gb),
        ).group_by(PoolReport.backend)
    )
    found = {
        backend: Load(pools, total, free, int(claimed), shares[backend])
        for backend, pools, total, free, claimed in reports
    }
    return {**{backend: Load(shares=number) for backend, number in shares.items()}, **found}


def stale(session: Session, down_time: float, seconds: float) -> list[tuple[str, str]]:
    """Services (binary, host) that are down, and have not been heard of for *seconds*."""
    # One that never came up has no heartbeat; an administrator may have seen to it already.
    seen = sa.func.coalesce(Service.heartbeat_at, Service.created_at)
    rows = session.execute(
        sa.select(Service.binary, Service.host)
        .where(~is_up(down_time), seen <= after(-seconds))
        .order_by(Service.binary, Service.host)
    )
    return [(binary, host) for binary, host in rows]


def _hold(session: Session, binary: str, host: str) -> int | None:
    """Lock the row of a service; its id."""
    return session.scalars(
        sa.select(Service.id)
        .where(Service.binary == binary, Service.host == host)
        .with_for_update()
    ).one_or_none()


def _refuse_up(session: Session, service_id: int, host: str, down_time: float) -> None:
    up = sa.select(Service.id).where(Service.id == service_id, is_up(down_time))
    if session.scalars(up).first() is not None:
        raise errors.Conflict(reason=f"The service on {host} is up: stop its daemons first.")


def remove_service(session: Session, binary: str, host: str, down_time: float) -> None:
    """Forget a service that is down, with its members and pools.

    Raises NotFound, and Conflict where it is up, or where shares live on it (they are named).
    """
    service_id = _hold(session, binary, host)
    if service_id is None:
        raise errors.NotFound(resource="Service", id=f"{binary} on {host}")
    _refuse_up(session, service_id, host, down_time)
    if binary == BINARY:
        _refuse_shares(session, host)
        count(session, sa.delete(PoolReport).where(PoolReport.backend == host))
    _forget(session, service_id)


def _forget(session: Session, service_id: int) -> None:
    count(session, sa.delete(Member).where(Member.service_id == service_id))
    count(session, sa.delete(Service).where(Service.id == service_id))


def _refuse_shares(session: Session, host: str) -> None:
    found = chores.candidates(session, host, "", _LISTED + 1)
    if found:
        ids = ", ".join(item.share_id for item in found[:_LISTED])
        more = " and others" if len(found) > _LISTED else ""
        raise errors.Conflict(
            reason=f"Shares live on {host}: {ids}{more}. Move or delete them, or give the back "
            "end its new name with 'fileshare-manage backend rename'."
        )


def rename(session: Session, old: Location, new: Location, down_time: float) -> dict[str, int]:
    """Give a back end (or with pools in both: one pool) another name, wherever it is written.

    Returns the numbers of rows by table.  Raises Conflict while the old one is up, and NotFound
    where nothing has its name.
    """
    service_id = _hold(session, BINARY, old.backend_host)
    if service_id is not None:
        _refuse_up(session, service_id, old.backend_host, down_time)
    # First: what was placed there by now is seen below, and what has not claimed its room yet is
    # placed anew.
    done = {PoolReport.__tablename__: _rename_pools(session, old, new)}
    done |= {
        table.name: _rename_in(session, table, old, new)
        for table in Base.metadata.sorted_tables
        if "host" in table.c and table.name not in _OWN
    }
    if old.pool is None:
        done[Service.__tablename__] = _rename_service(session, service_id, new)
        done[Intent.__tablename__] = _redirect(session, old, new)
    if not any(done.values()):
        raise errors.NotFound(resource="Back end", id=str(old))
    return done


_OWN = (Service.__tablename__, PoolReport.__tablename__)


def _rename_in(session: Session, table: sa.Table, old: Location, new: Location) -> int:
    host = table.c.host
    length = len(str(old))
    if old.pool is not None:
        where: sa.ColumnElement[bool] = host == str(old)
    else:
        pool = sa.func.substr(host, 1, length + 1) == f"{old}#"
        where = sa.or_(host == str(old), pool)
    rest = sa.func.substr(host, length + 1, type_=sa.String())
    renamed = sa.literal(str(new), sa.String()) + rest
    return count(session, sa.update(table).where(where).values(host=renamed))


def _rename_pools(session: Session, old: Location, new: Location) -> int:
    """Reports of the old name; where the new one reports by itself already, these go.

    The others count as new ones: schedulers know a report by its number, and the name by it.
    """
    wanted = sa.true() if old.pool is None else PoolReport.pool == old.pool
    rows = session.execute(
        sa.select(PoolReport.id, PoolReport.pool).where(
            PoolReport.backend == old.backend_host, wanted
        )
    ).all()
    known = set(
        session.scalars(sa.select(PoolReport.pool).where(PoolReport.backend == new.backend_host))
    )
    for row in rows:
        pool = new.pool or row.pool
        here = PoolReport.id == row.id
        if pool in known:
            count(session, sa.delete(PoolReport).where(here))
            continue
        place = Location(new.node, new.backend, pool)
        values = {"host": str(place), "backend": new.backend_host, "pool": pool}
        renamed = sa.update(PoolReport).where(here)
        count(session, renamed.values(**values, report_seq=PoolReport.report_seq + 1))
    return len(rows)


def _rename_service(session: Session, service_id: int | None, new: Location) -> int:
    # What the shares were ensured for was another back end: they are looked at once more.
    there = _hold(session, BINARY, str(new))
    if there is not None:
        count(session, sa.update(Service).where(Service.id == there).values(info_hash=None))
    if service_id is None:
        return 0
    if there is not None:
        _forget(session, service_id)
        return 1
    renamed = sa.update(Service).where(Service.id == service_id)
    return count(session, renamed.values(host=str(new), info_hash=None))


def _redirect(session: Session, old: Location, new: Location) -> int:
    return count(
        session,
        sa.update(Intent)
        .where(
            Intent.destination == f"share.{old}",
            Intent.state.in_((IntentState.OPEN, IntentState.PARKED)),
        )
        .values(destination=f"share.{new}"),
    )


def overview(session: Session, down_time: float) -> Sequence[Any]:
    """Back ends that have a service: host, status, whether it is up, whether it ensures.

    And what their daemons said last of why they do not work.
    """
    up = sa.case((is_up(down_time), sa.literal(1)), else_=sa.literal(0))
    return session.execute(
        sa.select(
            Service.host, Service.status, up.label("is_up"), Service.ensuring, Service.down_reason
        )
        .where(Service.binary == BINARY)
        .order_by(Service.host)
    ).all()
