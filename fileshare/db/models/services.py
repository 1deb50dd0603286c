"""Processes that report themselves, zones, and the pools that back ends report."""

from __future__ import annotations

import datetime as dt
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import (
    Base,
    Created,
    Id,
    LongText,
    Name,
    Word,
    ZoneId,
    table_args,
)
from fileshare.domain.statuses import ServiceStatus


class AvailabilityZone(Base):
    __tablename__ = "availability_zones"

    id: orm.Mapped[Id]
    name: orm.Mapped[Name] = orm.mapped_column(unique=True)
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]


class Service(Base):
    """One service as operators see it: a scheduler, a data daemon, or a back end.

    Several daemons may serve one back end; each is a :class:`Member`, the service is theirs
    together.  ``heartbeat_at`` is the newest of its members', by the database's clock;
    ``down_reason`` is what a daemon that is no member said last of why it is none.
    """

    __tablename__ = "services"

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    binary: orm.Mapped[Word]
    host: orm.Mapped[Name]
    topic: orm.Mapped[Word]
    availability_zone_id: orm.Mapped[ZoneId | None]
    status: orm.Mapped[Word] = orm.mapped_column(default=ServiceStatus.ENABLED)
    state: orm.Mapped[Word]
    disabled_reason: orm.Mapped[Name | None]
    down_reason: orm.Mapped[str | None] = orm.mapped_column(LongText)
    ensuring: orm.Mapped[bool] = orm.mapped_column(default=False)
    report_count: orm.Mapped[int] = orm.mapped_column(default=0)
    info_hash: orm.Mapped[Name | None]
    heartbeat_at: orm.Mapped[dt.datetime | None]
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]

    __table_args__ = table_args(sa.UniqueConstraint("binary", "host"), sa.Index(None, "host"))


class Member(Base):
    """One daemon process that serves a service; gone when it stops or its heartbeat is old.

    ``locks`` names where it keeps its locks: only members that keep them together may serve one
    back end.  None: a service that needs none, or a daemon of the release before.
    """

    __tablename__ = "service_members"

    id: orm.Mapped[Id]
    service_id: orm.Mapped[int] = orm.mapped_column(sa.ForeignKey("services.id"))
    node: orm.Mapped[Name]
    process: orm.Mapped[Name]
    locks: orm.Mapped[Name | None]
    heartbeat_at: orm.Mapped[dt.datetime]
    created_at: orm.Mapped[Created]

    __table_args__ = table_args(sa.Index(None, "service_id"), sa.Index(None, "heartbeat_at"))


class PoolReport(Base):
    """A pool as its back end reported it last, and what was placed there since.

    Numbers are GiB; None is unknown.  ``report_seq`` grows by one with each report;
    ``claimed_gb`` is what was promised to instances that no report counts yet.
    """

    __tablename__ = "pool_reports"

    id: orm.Mapped[int] = orm.mapped_column(primary_key=True)
    host: orm.Mapped[Name] = orm.mapped_column(unique=True)
    backend: orm.Mapped[Name]
    pool: orm.Mapped[Name]
    availability_zone_id: orm.Mapped[ZoneId | None]
    capabilities: orm.Mapped[dict[str, Any]]
    total_gb: orm.Mapped[float | None] = orm.mapped_column(sa.Double)
    free_gb: orm.Mapped[float | None] = orm.mapped_column(sa.Double)
    allocated_gb: orm.Mapped[float] = orm.mapped_column(sa.Double, default=0)
    provisioned_gb: orm.Mapped[float | None] = orm.mapped_column(sa.Double)
    reserved_percentage: orm.Mapped[int] = orm.mapped_column(default=0)
    reserved_snapshot_percentage: orm.Mapped[int] = orm.mapped_column(default=0)
    reserved_share_extend_percentage: orm.Mapped[int] = orm.mapped_column(default=0)
    thin: orm.Mapped[bool] = orm.mapped_column(default=False)
    max_over_subscription_ratio: orm.Mapped[float] = orm.mapped_column(sa.Double, default=20.0)
    report_seq: orm.Mapped[int] = orm.mapped_column(default=1)
    claimed_gb: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, default=0)
    reported_at: orm.Mapped[dt.datetime]

    __table_args__ = table_args(sa.Index(None, "backend"))
