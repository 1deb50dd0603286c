"""Shares, their instances, and what hangs on these."""

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
    TypeId,
    Uuid,
    Word,
    ZoneId,
    table_args,
)
from fileshare.domain.statuses import RulesStatus


def _listed(name: str, *columns: str, status: bool = False) -> sa.Index:
    """An index on living rows with one value in each of *columns*, in the order of most lists."""
    order = ("deleted_at", "created_at", "id", *(("status",) if status else ()))
    return sa.Index(f"ix_shares_{name}", *columns, *order)


class Share(Base):
    """A share as tenants see it.

    ``status``, ``host`` and the other columns that are an instance's are written together with
    the instance's, by ``domain.aggregate``: no reader joins to find them.  ``intent_id`` names
    the intent that holds the share; ``is_charged`` says whether its quota is booked.
    """

    __tablename__ = "shares"

    id: orm.Mapped[Id]
    project_id: orm.Mapped[Name]
    user_id: orm.Mapped[Name | None]
    display_name: orm.Mapped[Name | None]
    display_description: orm.Mapped[Name | None]
    size: orm.Mapped[int]
    share_proto: orm.Mapped[Word]
    status: orm.Mapped[Word]
    intent_id: orm.Mapped[Uuid | None]
    is_charged: orm.Mapped[bool] = orm.mapped_column(default=True)
    is_public: orm.Mapped[bool] = orm.mapped_column(default=False)
    is_soft_deleted: orm.Mapped[bool] = orm.mapped_column(default=False)
    scheduled_to_be_deleted_at: orm.Mapped[dt.datetime | None]
    host: orm.Mapped[Name | None]
    availability_zone_id: orm.Mapped[ZoneId | None]
    share_type_id: orm.Mapped[TypeId | None]
    share_network_id: orm.Mapped[Uuid | None]
    share_server_id: orm.Mapped[Uuid | None]
    share_group_id: orm.Mapped[Uuid | None]
    source_share_group_snapshot_member_id: orm.Mapped[Uuid | None]
    source_backup_id: orm.Mapped[Uuid | None]
    snapshot_id: orm.Mapped[Uuid | None]
    encryption_key_ref: orm.Mapped[Uuid | None]
    mount_point_name: orm.Mapped[Name | None]
    task_state: orm.Mapped[Word | None]
    progress: orm.Mapped[str | None] = orm.mapped_column(sa.String(32))
    access_rules_status: orm.Mapped[Word] = orm.mapped_column(default=RulesStatus.ACTIVE)
    replication_type: orm.Mapped[Word | None]
    has_replicas: orm.Mapped[bool] = orm.mapped_column(default=False)
    snapshot_support: orm.Mapped[bool] = orm.mapped_column(default=False)
    create_share_from_snapshot_support: orm.Mapped[bool] = orm.mapped_column(default=False)
    revert_to_snapshot_support: orm.Mapped[bool] = orm.mapped_column(default=False)
    mount_snapshot_support: orm.Mapped[bool] = orm.mapped_column(default=False)
    snapshot_inherit_share_access_support: orm.Mapped[bool] = orm.mapped_column(default=False)
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]
    deleted_at: orm.Mapped[dt.datetime | None]

    instances: orm.Mapped[list[ShareInstance]] = orm.relationship(
        back_populates="share", lazy="raise"
    )

    __table_args__ = table_args(
        sa.CheckConstraint("size >= 0", name="size"),
        # A project's list and the whole cloud's, newest first; with the status, so that counting
        # and passing over read the index alone.
        _listed("of_project", "project_id", "is_soft_deleted", status=True),
        _listed("of_cloud", "is_soft_deleted", status=True),
        sa.Index(None, "is_public", "deleted_at", "created_at", "id"),
        # In other orders.
        sa.Index(None, "project_id", "deleted_at", "display_name"),
        sa.Index("ix_shares_by_name", "deleted_at", "display_name", "id"),
        sa.Index("ix_shares_by_size", "deleted_at", "size", "id"),
        sa.Index("ix_shares_by_update", "deleted_at", "updated_at", "id"),
        # Of those that lists filter by.
        _listed("of_status", "status"),
        _listed("of_project_status", "project_id", "status"),
        _listed("of_host", "host"),
        _listed("of_type", "share_type_id"),
        _listed("of_network", "share_network_id"),
        _listed("of_server", "share_server_id"),
        _listed("of_group", "share_group_id"),
        _listed("of_snapshot", "snapshot_id"),
        sa.Index(None, "scheduled_to_be_deleted_at"),
    )


class ShareInstance(Base):
    """A share on one back end: what a driver holds.

    ``access_version`` grows with every change of the rules, so that a worker that applied an
    older set cannot call them settled; ``access_intent_id`` is the one intent that applies them.
    Rules in error are tried again from ``access_retry_at`` on (null: at once), after the more
    time the more often that failed: ``access_failures`` times.
    """

    __tablename__ = "share_instances"

    id: orm.Mapped[Id]
    share_id: orm.Mapped[str] = orm.mapped_column(sa.String(36), sa.ForeignKey("shares.id"))
    host: orm.Mapped[Name | None]
    status: orm.Mapped[Word]
    availability_zone_id: orm.Mapped[ZoneId | None]
    share_type_id: orm.Mapped[TypeId | None]
    share_network_id: orm.Mapped[Uuid | None]
    share_server_id: orm.Mapped[Uuid | None]
    replica_state: orm.Mapped[Word | None]
    cast_rules_to_readonly: orm.Mapped[bool] = orm.mapped_column(default=False)
    access_rules_status: orm.Mapped[Word] = orm.mapped_column(default=RulesStatus.ACTIVE)
    access_version: orm.Mapped[int] = orm.mapped_column(default=0)
    access_intent_id: orm.Mapped[Uuid | None]
    access_failures: orm.Mapped[int | None]
    access_retry_at: orm.Mapped[dt.datetime | None]
    progress: orm.Mapped[str | None] = orm.mapped_column(sa.String(32))
    claimed_gb: orm.Mapped[int] = orm.mapped_column(default=0)
    settled_at: orm.Mapped[dt.datetime | None]
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]
    deleted_at: orm.Mapped[dt.datetime | None]

    share: orm.Mapped[Share] = orm.relationship(back_populates="instances", lazy="raise")

    __table_args__ = table_args(
        sa.Index(None, "share_id", "deleted_at"),
        sa.Index(None, "host", "deleted_at", "status"),
        sa.Index(None, "host", "claimed_gb"),
        sa.Index("ix_share_instances_of_status", "status", "deleted_at"),
        sa.Index("ix_share_instances_of_replicas", "replica_state", "deleted_at"),
        sa.Index(None, "access_rules_status", "host"),
        sa.Index(None, "deleted_at", "created_at", "id"),
    )


class ExportLocation(Base):
    """A path under which an instance is mounted."""

    __tablename__ = "share_instance_export_locations"

    id: orm.Mapped[Id]
    share_instance_id: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), sa.ForeignKey("share_instances.id")
    )
    path: orm.Mapped[str] = orm.mapped_column(sa.String(2000))
    is_admin_only: orm.Mapped[bool] = orm.mapped_column(default=False)
    preferred: orm.Mapped[bool] = orm.mapped_column(default=False)
    position: orm.Mapped[int] = orm.mapped_column(default=0)
    extra: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]

    __table_args__ = table_args(
        sa.Index(None, "share_instance_id"),
        # Equality only; whole, a path is longer than an index of PostgreSQL or MySQL takes.
        sa.Index(None, "path", mysql_length=255, postgresql_using="hash"),
    )


class ShareMetadata(Base):
    """A key and its value that somebody set on a share."""

    __tablename__ = "share_metadata"

    share_id: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), sa.ForeignKey("shares.id"), primary_key=True
    )
    key: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    value: orm.Mapped[str] = orm.mapped_column(sa.String(1023))

    __table_args__ = table_args(
        sa.Index("ix_share_metadata_key_value", "key", "value", mysql_length={"value": 64})
    )


class AccessRule(Base):
    """Who may mount a share; ``canonical`` makes two spellings of one client collide.

    A rule with ``denied_at`` goes, whatever became of the first try: it is never granted again.
    """

    __tablename__ = "share_access_rules"

    id: orm.Mapped[Id]
    share_id: orm.Mapped[str] = orm.mapped_column(sa.String(36), sa.ForeignKey("shares.id"))
    access_type: orm.Mapped[Word]
    access_to: orm.Mapped[Name]
    canonical: orm.Mapped[Name]
    access_level: orm.Mapped[Word]
    access_key: orm.Mapped[Name | None]
    extra: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)
    denied_at: orm.Mapped[dt.datetime | None]
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]

    __table_args__ = table_args(sa.UniqueConstraint("share_id", "access_type", "canonical"))


class AccessMapping(Base):
    """The state of a rule on one instance."""

    __tablename__ = "share_access_mappings"

    id: orm.Mapped[Id]
    access_id: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), sa.ForeignKey("share_access_rules.id")
    )
    share_instance_id: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), sa.ForeignKey("share_instances.id")
    )
    state: orm.Mapped[Word]
    error: orm.Mapped[str | None] = orm.mapped_column(LongText)

    __table_args__ = table_args(
        sa.UniqueConstraint("share_instance_id", "access_id"), sa.Index(None, "access_id")
    )
