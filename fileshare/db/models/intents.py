"""Promised work, and what is told to users about it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare.db.models.base import Base, Created, Id, LongText, Name, Uuid, Word, table_args
from fileshare.domain.statuses import IntentState


class Intent(Base):
    """Work that was promised to a caller.

    ``due`` does three jobs: not before, lease ends, when to ring again.  ``fence`` does two: it
    grows at each claim, so that an old owner is recognised, and so counts the attempts.
    ``open_key`` is unique among open intents: one for each resource.  ``begun`` counts how often
    the daemon of a back end took it up: the first time is announced.  ``caller`` is the context of
    the request; ``project_id`` is whose the resource is.
    """

    __tablename__ = "intents"

    id: orm.Mapped[Id]
    state: orm.Mapped[Word] = orm.mapped_column(default=IntentState.OPEN)
    kind: orm.Mapped[Word]
    version: orm.Mapped[int] = orm.mapped_column(default=1)
    event: orm.Mapped[Word]
    resource_type: orm.Mapped[Word]
    resource_id: orm.Mapped[Uuid]
    share_id: orm.Mapped[Uuid | None]
    open_key: orm.Mapped[Name | None] = orm.mapped_column(unique=True)
    project_id: orm.Mapped[Name | None]
    user_id: orm.Mapped[Name | None]
    request_id: orm.Mapped[Name | None]
    caller: orm.Mapped[dict[str, Any] | None]
    destination: orm.Mapped[Name]
    payload: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)
    charges: orm.Mapped[dict[str, Any]] = orm.mapped_column(default=dict)
    trace: orm.Mapped[list[Any]] = orm.mapped_column(default=list)
    progress: orm.Mapped[int] = orm.mapped_column(default=0)
    cancel: orm.Mapped[bool] = orm.mapped_column(default=False)
    owner: orm.Mapped[Name | None]
    fence: orm.Mapped[int] = orm.mapped_column(default=0)
    begun: orm.Mapped[int] = orm.mapped_column(default=0)
    attempts: orm.Mapped[int] = orm.mapped_column(default=0)
    due: orm.Mapped[dt.datetime | None]
    error: orm.Mapped[str | None] = orm.mapped_column(LongText)
    created_at: orm.Mapped[Created]
    closed_at: orm.Mapped[dt.datetime | None]

    __table_args__ = table_args(
        sa.Index(None, "destination", "due"),
        sa.Index(None, "due"),
        sa.Index(None, "share_id", "created_at"),
        sa.Index(None, "project_id", "state"),
        sa.Index(None, "state", "closed_at"),
    )


class Message(Base):
    """What a user is told about something that failed."""

    __tablename__ = "messages"

    id: orm.Mapped[Id]
    project_id: orm.Mapped[Name]
    request_id: orm.Mapped[Name | None]
    resource_type: orm.Mapped[Word | None]
    resource_id: orm.Mapped[Uuid | None]
    action_id: orm.Mapped[str] = orm.mapped_column(sa.String(10))
    detail_id: orm.Mapped[str | None] = orm.mapped_column(sa.String(10))
    message_level: orm.Mapped[Word]
    reason: orm.Mapped[str | None] = orm.mapped_column(LongText)
    created_at: orm.Mapped[Created]
    expires_at: orm.Mapped[dt.datetime | None]

    __table_args__ = table_args(
        sa.Index(None, "project_id", "created_at", "id"),
        sa.Index(None, "created_at", "id"),
        sa.Index(None, "expires_at"),
        sa.Index(None, "resource_id"),
        sa.Index(None, "request_id"),
    )
