"""Share group types, their specs and share types, and who may use private ones."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import Base, Created, Id, Name, TypeId, table_args


def _owner() -> orm.MappedColumn[str]:
    return orm.mapped_column(
        sa.String(36), sa.ForeignKey("share_group_types.id", ondelete="CASCADE"), primary_key=True
    )


class ShareGroupType(Base):
    """A kind of share group that an operator offers."""

    __tablename__ = "share_group_types"

    id: orm.Mapped[Id]
    name: orm.Mapped[Name] = orm.mapped_column(unique=True)
    is_public: orm.Mapped[bool] = orm.mapped_column(default=True)
    created_at: orm.Mapped[Created]


class ShareGroupTypeSpec(Base):
    """A key and its value that pools are matched with when a group is placed."""

    __tablename__ = "share_group_type_specs"

    share_group_type_id: orm.Mapped[str] = _owner()
    key: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    value: orm.Mapped[Name]


class ShareGroupTypeProject(Base):
    """A project that may use a private group type."""

    __tablename__ = "share_group_type_projects"

    share_group_type_id: orm.Mapped[str] = _owner()
    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)

    __table_args__ = table_args(sa.Index(None, "project_id"))


class ShareGroupTypeShareType(Base):
    """A share type that shares of such a group may have; it stays as long as this names it."""

    __tablename__ = "share_group_type_share_types"

    share_group_type_id: orm.Mapped[str] = _owner()
    share_type_id: orm.Mapped[TypeId] = orm.mapped_column(primary_key=True)

    __table_args__ = table_args(sa.Index(None, "share_type_id"))
