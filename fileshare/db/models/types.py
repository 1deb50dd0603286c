"""Share types, their extra specs, and who may use private ones."""

from __future__ import annotations

import datetime as dt

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import Base, Created, Id, Name, table_args


class ShareType(Base):
    """A kind of share that an operator offers."""

    __tablename__ = "share_types"

    id: orm.Mapped[Id]
    name: orm.Mapped[Name] = orm.mapped_column(unique=True)
    description: orm.Mapped[Name | None]
    is_public: orm.Mapped[bool] = orm.mapped_column(default=True)
    created_at: orm.Mapped[Created]
    updated_at: orm.Mapped[dt.datetime | None]


class ShareTypeExtraSpec(Base):
    """A key and its value that pools are matched with, or that drivers read."""

    __tablename__ = "share_type_extra_specs"

    share_type_id: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), sa.ForeignKey("share_types.id", ondelete="CASCADE"), primary_key=True
    )
    key: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    value: orm.Mapped[Name]


class ShareTypeProject(Base):
    """A project that may use a private share type."""

    __tablename__ = "share_type_projects"

    share_type_id: orm.Mapped[str] = orm.mapped_column(
        sa.String(36), sa.ForeignKey("share_types.id", ondelete="CASCADE"), primary_key=True
    )
    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)

    __table_args__ = table_args(sa.Index(None, "project_id"))
