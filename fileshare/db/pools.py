"""Pools: what their back ends reported last, and what was claimed of them since."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa

from fileshare.db.clock import after
from fileshare.db.models import AvailabilityZone, PoolReport, Service, ShareInstance
from fileshare.db.session import Session, count, swap
from fileshare.domain.statuses import ServiceState, ServiceStatus

Rows = Sequence[Any]

# Tables and not classes: these are the widest reads of a busy cloud, and need no objects.
_REPORTS = PoolReport.__table__.c
_SERVICES = Service.__table__.c
_ENABLED = (_SERVICES.status == ServiceStatus.ENABLED).label("is_enabled")


def pulses(
    session: Session,
    *,
    down_after: float,
    host: str | None = None,
    with_disabled: bool = False,
) -> Rows:
    """Of each pool of a service that is up: ``id, report_seq, claimed_gb, is_enabled``.

    That is all that changes between two reports, in one narrow statement for the whole cloud.
    A service is up while its last heartbeat is younger than *down_after* seconds.  *host*
    restricts the answer to one pool.
    """
    statement = _pulses(one=host is not None, with_disabled=with_disabled)
    values = {"down_after": -down_after, "host": host}
    return session.connection().execute(statement, values).all()


@functools.lru_cache(maxsize=4)
def _pulses(*, one: bool, with_disabled: bool) -> sa.Select[Any]:
    """Built once: every placement begins with it."""
    statement = (
        sa.select(_REPORTS.id, _REPORTS.report_seq, _REPORTS.claimed_gb, _ENABLED)
        .join(Service.__table__, _SERVICES.host == _REPORTS.backend)
        .where(*_is_up(sa.bindparam("down_after", type_=sa.Float)))
    )
    if not with_disabled:
        statement = statement.where(_SERVICES.status == ServiceStatus.ENABLED)
    if one:
        statement = statement.where(_REPORTS.host == sa.bindparam("host"))
    return cast("sa.Select[Any]", statement)


def reports(session: Session, ids: Collection[int]) -> Rows:
    """The last reports of these pools, whole, with the name of their ``zone``."""
    return session.execute(_whole().where(_REPORTS.id.in_(ids))).all()


def offered(session: Session, *, down_after: float) -> Rows:
    """The last reports, whole, of all pools whose service is up and enabled."""
    is_up = _is_up(sa.literal(-down_after, sa.Float))
    statement = _whole().where(*is_up, _SERVICES.status == ServiceStatus.ENABLED)
    return session.connection().execute(statement).all()


def _whole() -> sa.Select[Any]:
    return (
        sa.select(PoolReport.__table__, AvailabilityZone.name.label("zone"), _ENABLED)
        .join(Service.__table__, _SERVICES.host == _REPORTS.backend)
        .outerjoin(
            AvailabilityZone.__table__, AvailabilityZone.id == _REPORTS.availability_zone_id
        )
    )


def _is_up(moment: sa.ColumnElement[float]) -> Sequence[sa.ColumnElement[bool]]:
    """Whether a service says that it works, and has said so since that many seconds from now."""
    return _SERVICES.state == ServiceState.UP, _SERVICES.heartbeat_at >= after(moment)


def hosts_of(session: Session, share_ids: Collection[str]) -> dict[str, frozenset[str]]:
    """For each share that is there: the pools that hold an instance of it."""
    found: dict[str, set[str]] = {}
    rows = session.execute(
        sa.select(ShareInstance.share_id, ShareInstance.host).where(
            ShareInstance.share_id.in_(share_ids), ShareInstance.deleted_at.is_(None)
        )
    )
    for share_id, host in rows:
        found.setdefault(share_id, set()).update([host] if host else [])
    return {share_id: frozenset(hosts) for share_id, hosts in found.items()}


@dataclass(frozen=True, slots=True)
class Claim:
    """Capacity of a pool for an instance, decided on report *report_seq*.

    *most* is what may be claimed of the pool in all, this claim included; infinite where its
    back end does not know what is free.  *instance_id* is the instance that notes the claim;
    None where the caller writes it with the instance's other columns.
    """

    pool_id: int
    report_seq: int
    most: float
    size: int
    instance_id: str | None


def claim(session: Session, wanted: Claim) -> bool:
    """Take the capacity, in one statement; False where the pool has not got it any more.

    Two claims at once do not disturb each other as long as there is room for both.  A report
    that came in between makes the claim fail, because it was decided on older numbers.
    """
    values: dict[str, Any] = {
        "pool_id": wanted.pool_id,
        "seen": wanted.report_seq,
        "size": wanted.size,
    }
    if wanted.most < _ENDLESS:
        values["most"] = math.floor(wanted.most - wanted.size)
    if not swap(session, _BOUNDED if "most" in values else _UNBOUNDED, values):
        return False
    if wanted.instance_id is not None:
        count(session, _CLAIMED_BY, {"instance": wanted.instance_id, "size": wanted.size})
    return True


_ENDLESS = 2**62
"""GiB that nobody can claim; not much more can be written down."""
_UNBOUNDED = (
    sa.update(PoolReport)
    .where(
        PoolReport.id == sa.bindparam("pool_id"),
        PoolReport.report_seq == sa.bindparam("seen"),
    )
    .values(claimed_gb=PoolReport.claimed_gb + sa.bindparam("size", type_=sa.BigInteger))
)
_BOUNDED = _UNBOUNDED.where(PoolReport.claimed_gb <= sa.bindparam("most"))
_CLAIMED_BY = (
    sa.update(ShareInstance)
    .where(ShareInstance.id == sa.bindparam("instance"))
    .values(claimed_gb=ShareInstance.claimed_gb + sa.bindparam("size", type_=sa.BigInteger))
)
