"""Services, their members, and the pools that back ends report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import zones
from fileshare.db.clock import after, now
from fileshare.db.models import (
    AvailabilityZone,
    Member,
    PoolReport,
    Service,
    ShareInstance,
    new_id,
)
from fileshare.db.session import Session, count, swap
from fileshare.domain.hosts import pool_host
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import ServiceState, ServiceStatus, Status

_NEW = "new; enable_new_services is off"
_WORKING = (
    Status.CREATING,
    Status.EXTENDING,
    # A deletion may have superseded work whose driver call is not over.
    *(verb.during for verb in SHARE if verb.removes),
)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a daemon process says of itself; *host* is ``node``, or ``host@backend``.

    *locks* names where it keeps its locks, None where its service needs none.  A service that
    is not *wanted* yet begins disabled.
    """

    binary: str
    host: str
    topic: str
    zone: str
    node: str
    process: str
    locks: str | None = None
    wanted: bool = True


def join(session: Session, identity: Identity, down_time: float) -> str:
    """Enter the process as a member of its service; returns the member's id.

    Raises LocksDiffer where a member that lives keeps its locks somewhere else.
    """
    zone_id = zones.ensure(session, identity.zone)
    service_id = _ensure(session, identity, zone_id, ServiceState.UP)
    member_id = new_id()
    session.execute(
        sa.insert(Member).values(
            id=member_id,
            service_id=service_id,
            node=identity.node,
            process=identity.process,
            locks=identity.locks,
            heartbeat_at=now(),
        )
    )
    same = Service.id == service_id
    _show_up(session, same, availability_zone_id=zone_id, topic=identity.topic)
    # After the service's row was written: of two that join at once one sees the other.
    _refuse_other_locks(session, service_id, identity, down_time)
    return member_id


def tell_down(session: Session, identity: Identity, reason: str) -> None:
    """Write why the process does not serve, for operators to read while nobody else does either.

    The service is there from then on, if only as one that is down.
    """
    zone_id = zones.ensure(session, identity.zone)
    service_id = _ensure(session, identity, zone_id, ServiceState.DOWN)
    count(session, sa.update(Service).where(Service.id == service_id).values(down_reason=reason))


def _refuse_other_locks(
    session: Session, service_id: int, identity: Identity, down_time: float
) -> None:
    if identity.locks is None:
        return
    other = session.execute(
        sa.select(Member.node, Member.process).where(
            Member.service_id == service_id,
            Member.locks != identity.locks,
            Member.heartbeat_at >= after(-down_time),
        )
    ).first()
    if other is not None:
        raise errors.LocksDiffer(host=identity.host, process=other.process, node=other.node)


def machines(session: Session, down_time: float) -> dict[str, set[str]]:
    """The machines on which daemons of each back end live; of those with several."""
    rows = session.execute(
        sa.select(Service.host, Member.process)
        .join(Service, Service.id == Member.service_id)
        .where(Service.host.contains("@"), Member.heartbeat_at >= after(-down_time))
    ).all()
    found: dict[str, set[str]] = {}
    for host, process in rows:
        found.setdefault(host, set()).add(process.partition(":")[0])
    return {host: names for host, names in found.items() if len(names) > 1}


def _ensure(session: Session, identity: Identity, zone_id: str, state: str) -> int:
    """The id of the service, which is made in *state* where it was never heard of."""
    same = sa.select(Service.id).where(
        Service.binary == identity.binary, Service.host == identity.host
    )
    found = session.scalars(same).first()
    if found is not None:
        return found
    try:
        with session.begin_nested():
            session.execute(
                sa.insert(Service).values(
                    binary=identity.binary,
                    host=identity.host,
                    topic=identity.topic,
                    availability_zone_id=zone_id,
                    state=state,
                    status=ServiceStatus.ENABLED if identity.wanted else ServiceStatus.DISABLED,
                    disabled_reason=None if identity.wanted else _NEW,
                    heartbeat_at=now() if state == ServiceState.UP else None,
                )
            )
    except db_exception.DBDuplicateEntry:
        pass  # another member of the same service was quicker
    return session.scalars(same).one()


def heartbeat(session: Session, member_id: str) -> bool:
    """Say that the member works; False where it was taken for dead and removed."""
    alive = swap(
        session, sa.update(Member).where(Member.id == member_id).values(heartbeat_at=now())
    )
    if alive:
        mine = sa.select(Member.service_id).where(Member.id == member_id).scalar_subquery()
        _show_up(session, Service.id == mine, report_count=Service.report_count + 1)
    return alive


def _show_up(session: Session, where: sa.ColumnElement[bool], **columns: Any) -> None:
    """Write that a member of a service was there just now."""
    seen = {
        "state": ServiceState.UP,
        "heartbeat_at": now(),
        "updated_at": now(),
        "down_reason": None,
    }
    count(session, sa.update(Service).where(where).values(**seen, **columns))


def leave(session: Session, member_id: str) -> None:
    """Take the member out; its service is down at once when it was the last."""
    service_id = session.scalars(
        sa.select(Member.service_id).where(Member.id == member_id)
    ).first()
    count(session, sa.delete(Member).where(Member.id == member_id))
    if service_id is not None:
        _down_without_members(session, Service.id == service_id)


def mark_down(session: Session, down_time: float) -> None:
    """Remove members whose heartbeat is too old, and mark services that have none left.

    So are heartbeats that come from the future, because somebody has set the database's clock
    back: who lives enters again.
    """
    dead = sa.or_(Member.heartbeat_at < after(-down_time), Member.heartbeat_at > after(down_time))
    count(session, sa.delete(Member).where(dead))
    _down_without_members(session, Service.state == ServiceState.UP)


def _down_without_members(session: Session, where: sa.ColumnElement[bool]) -> None:
    member = sa.exists(sa.select(Member.id).where(Member.service_id == Service.id))
    count(
        session,
        sa.update(Service).where(where, ~member).values(state=ServiceState.DOWN),
    )


def is_up(down_time: float) -> sa.ColumnElement[bool]:
    """Whether a service's state and heartbeat say that it works."""
    return sa.and_(Service.state == ServiceState.UP, Service.heartbeat_at >= after(-down_time))


def find(
    session: Session, down_time: float, filters: Mapping[str, Any] | None = None
) -> Sequence[Any]:
    """Services with their zone's name and whether they are up, by id.

    *filters* are values of ``binary``, ``host``, ``topic``, ``status`` and ``ensuring``, a zone's
    name or id under ``zone``, and up or down under ``state``.
    """
    up = sa.case((is_up(down_time), sa.literal(1)), else_=sa.literal(0)).label("is_up")
    statement = (
        sa.select(
            Service.id,
            Service.binary,
            Service.host,
            Service.topic,
            Service.status,
            Service.state,
            Service.disabled_reason,
            Service.down_reason,
            Service.ensuring,
            Service.created_at,
            Service.updated_at,
            Service.heartbeat_at,
            AvailabilityZone.name.label("zone"),
            AvailabilityZone.id.label("zone_id"),
            up,
        )
        .outerjoin(AvailabilityZone, AvailabilityZone.id == Service.availability_zone_id)
        .order_by(Service.id)
    )
    for name, value in (filters or {}).items():
        statement = statement.where(_filter(name, value, down_time))
    return session.execute(statement).all()


def _filter(name: str, value: Any, down_time: float) -> sa.ColumnElement[bool]:
    if name == "zone":
        return sa.or_(AvailabilityZone.name == value, AvailabilityZone.id == value)
    if name == "state":
        works = sa.and_(Service.heartbeat_at.is_not(None), is_up(down_time))
        known = {ServiceState.UP: works, ServiceState.DOWN: ~works}
        return known.get(value, sa.false())
    return cast("sa.ColumnElement[bool]", getattr(Service, name) == value)


def set_status(
    session: Session, binary: str | None, host: str, *, enabled: bool, reason: str | None
) -> Service:
    """Enable or disable a service; raises NotFound."""
    status = ServiceStatus.ENABLED if enabled else ServiceStatus.DISABLED
    where = (Service.binary == binary, Service.host == host)
    values = {"status": status, "disabled_reason": None if enabled else reason}
    if not swap(session, sa.update(Service).where(*where).values(**values, updated_at=now())):
        raise errors.NotFound(resource="Service", id=f"{binary} on {host}")
    return session.scalars(
        sa.select(Service).where(*where).execution_options(populate_existing=True)
    ).one()


def report_pools(
    session: Session,
    backend: str,
    zone: str,
    reports: Sequence[Mapping[str, Any]],
    asked_at: dt.datetime,
) -> None:
    """Write what a back end reported when it was asked at *asked_at* (the database's clock).

    *reports* are columns of :class:`PoolReport` by name.  What was promised to instances that
    the report cannot count yet stays claimed: those in work, and those that settled after it was
    asked for.  A report that was overtaken by a later one says nothing any more.  The row is
    locked first, so that no placement slips in between.
    """
    zone_id = zones.ensure(session, zone)
    names = []
    for report in reports:
        host = pool_host(backend, report["pool"])
        names.append(host)
        values = {**report, "availability_zone_id": zone_id, "reported_at": asked_at}
        if not _write_pool(session, backend, host, values):
            return
        _forget_claims(session, host, asked_at)
        count(
            session,
            sa.update(PoolReport).where(PoolReport.host == host).values(claimed_gb=_claimed(host)),
        )
    count(
        session,
        sa.delete(PoolReport).where(
            PoolReport.backend == backend, PoolReport.host.not_in(names or [""])
        ),
    )


def _write_pool(session: Session, backend: str, host: str, values: Mapping[str, Any]) -> bool:
    """Whether the report was written; False where a later one is there."""
    mine = PoolReport.host == host
    older = sa.or_(
        PoolReport.reported_at <= values["reported_at"],
        PoolReport.reported_at > now(),  # from before somebody set the clock back
    )
    written = swap(
        session,
        sa.update(PoolReport)
        .where(mine, older)
        .values(**values, report_seq=PoolReport.report_seq + 1),
    )
    if written:
        return True
    if session.scalar(sa.select(PoolReport.id).where(mine)) is not None:
        return False
    try:
        with session.begin_nested():
            session.execute(sa.insert(PoolReport).values(host=host, backend=backend, **values))
    except db_exception.DBDuplicateEntry:
        return _write_pool(session, backend, host, values)
    return True


def _forget_claims(session: Session, host: str, asked_at: dt.datetime) -> None:
    """What settled before the report was asked for is counted by it.

    What settled since is not, whatever is done with it by now.  Whoever places something waits
    meanwhile, so only instances that have claims are looked at.
    """
    working = ShareInstance.status.in_(_WORKING)
    count(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.host == host,
            ShareInstance.claimed_gb > 0,
            ~working,
            sa.or_(
                ShareInstance.settled_at.is_(None),
                ShareInstance.settled_at < asked_at,
                ShareInstance.settled_at > now(),  # the clock was set back since
            ),
        )
        .values(claimed_gb=0),
    )


def _claimed(host: str) -> sa.ScalarSelect[Any]:
    return (
        sa.select(sa.func.coalesce(sa.func.sum(ShareInstance.claimed_gb), 0))
        .where(
            ShareInstance.host == host,
            ShareInstance.claimed_gb > 0,
            ShareInstance.deleted_at.is_(None),
        )
        .scalar_subquery()
    )


def release(session: Session, host: str, gigabytes: int) -> None:
    """Give back *gigabytes* GiB that were claimed of a pool for work that failed."""
    if gigabytes:
        count(
            session,
            sa.update(PoolReport)
            .where(PoolReport.host == host)
            .values(
                claimed_gb=sa.case(
                    (PoolReport.claimed_gb > gigabytes, PoolReport.claimed_gb - gigabytes),
                    else_=0,
                )
            ),
        )
