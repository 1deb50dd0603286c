"""What requests were kept of, so that one that is sent again does nothing twice."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import Base, Created, Uuid, Word, table_args


class RequestKey(Base):
    """A key that a client gave with a request that makes something, and what was made.

    ``id`` is a digest of the key and of whose it is, ``digest`` one of what was asked for.
    """

    __tablename__ = "request_keys"

    id: orm.Mapped[Word] = orm.mapped_column(primary_key=True)
    digest: orm.Mapped[Word]
    resource_id: orm.Mapped[Uuid]
    created_at: orm.Mapped[Created]

    __table_args__ = table_args(sa.Index(None, "created_at"))
