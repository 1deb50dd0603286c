"""Locks that keep a share or an access rule from being deleted or shown."""

from __future__ import annotations

import datetime as dt

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import Base, Created, Id, Name, Uuid, table_args


class ResourceLock(Base):
    """A lock on one action of a resource, held by the user who made it.

    ``cause_id`` is the access rule on whose behalf a share was locked: its lock goes with it.
    """

    __tablename__ = "resource_locks"

    id: orm.Mapped[Id]
    user_id: orm.Mapped[Name]
    project_id: orm.Mapped[Name]
    lock_context: orm.Mapped[str] = orm.mapped_column(sa.String(10))
    resource_type: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    resource_id: orm.Mapped[Uuid]
    resource_action: orm.Mapped[str] = orm.mapped_column(sa.String(36))
    lock_reason: orm.Mapped[str | None] = orm.mapped_column(sa.String(1023))
    cause_id: orm.Mapped[Uuid | None]
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]

    __table_args__ = table_args(
        # No foreign key to what is locked: it is one of two tables.
        sa.Index(None, "resource_id", "resource_action"),
        sa.Index(None, "cause_id"),
        sa.Index(None, "project_id", "created_at", "id"),
        sa.Index(None, "created_at", "id"),
    )
