"""Limits that somebody set, and what is used of them."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import Base, table_args


class QuotaLimit(Base):
    """A limit of a project (scope ``project``), of a user or of a share type in it.

    Quota classes are rows of the same table under the project id ``class:NAME``.
    """

    __tablename__ = "quota_limits"

    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    scope: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    resource: orm.Mapped[str] = orm.mapped_column(sa.String(64), primary_key=True)
    hard_limit: orm.Mapped[int]


class QuotaUsage(Base):
    """What is booked of a quota, work in flight included; never below zero."""

    __tablename__ = "quota_usages"

    project_id: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    scope: orm.Mapped[str] = orm.mapped_column(sa.String(255), primary_key=True)
    resource: orm.Mapped[str] = orm.mapped_column(sa.String(64), primary_key=True)
    used: orm.Mapped[int] = orm.mapped_column(sa.BigInteger, default=0)

    __table_args__ = table_args(sa.CheckConstraint("used >= 0", name="used"))
