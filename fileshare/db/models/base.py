"""The base of all tables, and the column types that they share."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Annotated, Any

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects import mysql

from fileshare.db.clock import now


def new_id() -> str:
    return str(uuid.uuid4())


Moment = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
LongText = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")

Id = Annotated[str, orm.mapped_column(sa.String(36), primary_key=True, default=new_id)]
Uuid = Annotated[str, orm.mapped_column(sa.String(36))]
Word = Annotated[str, orm.mapped_column(sa.String(64))]
Name = Annotated[str, orm.mapped_column(sa.String(255))]
ZoneId = Annotated[str, orm.mapped_column(sa.String(36), sa.ForeignKey("availability_zones.id"))]
TypeId = Annotated[str, orm.mapped_column(sa.String(36), sa.ForeignKey("share_types.id"))]
Created = Annotated[dt.datetime, orm.mapped_column(Moment, default=now())]


# Texts are compared byte for byte, as on the other servers: keys that differ in case are two.
OPTIONS = {
    "mysql_engine": "InnoDB",
    "mysql_charset": "utf8mb4",
    "mysql_collate": "utf8mb4_bin",
}


class Base(orm.DeclarativeBase):
    """Rows are records of what was read: they are not changed and flushed, statements are."""

    __table_args__: Any = OPTIONS

    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy's protocol)
        dict[str, Any]: sa.JSON(),
        list[Any]: sa.JSON(),
        dt.datetime: Moment,
        str: sa.String(255),
    }
    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def table_args(*things: Any) -> tuple[Any, ...]:
    """The table's constraints and indexes, with the options that every table has."""
    return (*things, OPTIONS)
