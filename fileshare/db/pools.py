"""Pools: what their back ends reported last, and what was claimed of them since."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from fileshare.db.models import AvailabilityZone, PoolReport, Service, ShareInstance
from fileshare.db.services import is_up
from fileshare.db.session import Session, count, swap
from fileshare.domain.statuses import ServiceStatus

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
    statement = (
        sa.select(_REPORTS.id, _REPORTS.report_seq, _REPORTS.claimed_gb, _ENABLED)
        .join(Service.__table__, _SERVICES.host == _REPORTS.backend)
        .where(is_up(down_after))
    )
    if not with_disabled:
        statement = statement.where(_SERVICES.status == ServiceStatus.ENABLED)
    if host is not None:
        statement = statement.where(_REPORTS.host == host)
    return session.execute(statement).all()


def reports(session: Session, ids: Collection[int]) -> Rows:
    """The last reports of these pools, whole, with the name of their ``zone``."""
    return session.execute(
        sa.select(PoolReport.__table__, AvailabilityZone.name.label("zone"), _ENABLED)
        .join(Service.__table__, _SERVICES.host == _REPORTS.backend)
        .outerjoin(
            AvailabilityZone.__table__, AvailabilityZone.id == _REPORTS.availability_zone_id
        )
        .where(_REPORTS.id.in_(ids))
    ).all()


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
    back end does not know what is free.
    """

    pool_id: int
    report_seq: int
    most: float
    size: int
    instance_id: str


def claim(session: Session, wanted: Claim) -> bool:
    """Take the capacity, in one statement; False where the pool has not got it any more.

    Two claims at once do not disturb each other as long as there is room for both.  A report
    that came in between makes the claim fail, because it was decided on older numbers.
    """
    statement = sa.update(PoolReport).where(
        PoolReport.id == wanted.pool_id, PoolReport.report_seq == wanted.report_seq
    )
    if not math.isinf(wanted.most):
        statement = statement.where(PoolReport.claimed_gb <= math.floor(wanted.most - wanted.size))
    if not swap(session, statement.values(claimed_gb=PoolReport.claimed_gb + wanted.size)):
        return False
    count(
        session,
        sa.update(ShareInstance)
        .where(ShareInstance.id == wanted.instance_id)
        .values(claimed_gb=ShareInstance.claimed_gb + wanted.size),
    )
    return True
