"""User messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import sqlalchemy as sa

from fileshare import errors
from fileshare.db.clock import after
from fileshare.db.models import Message
from fileshare.db.query import Scope, paginate
from fileshare.db.session import Session, swap
from fileshare.db.sweeps import Sweep, along
from fileshare.domain.listing import Page
from fileshare.domain.messages import ACTIONS, DETAILS, LEVEL_ERROR, RESOURCE_SHARE, describe

SORT_KEYS: Mapping[str, Any] = {
    name: getattr(Message, name)
    for name in (
        "id",
        "project_id",
        "request_id",
        "resource_type",
        "resource_id",
        "action_id",
        "detail_id",
        "message_level",
        "created_at",
        "expires_at",
    )
}


class Told(TypedDict):
    """To whom a message goes and of what share it is; *ttl* seconds later it is gone."""

    project_id: str
    resource_id: str
    request_id: str | None
    ttl: float
    reason: NotRequired[str | None]


def write(session: Session, *, event: str, error: Exception, **told: Unpack[Told]) -> None:
    """Tell the users of a project that *event* failed with *error*."""
    action, detail = describe(event, error)
    add(session, action=action.code, detail=detail.code, **told)


def add(session: Session, *, action: str, detail: str, **told: Unpack[Told]) -> None:
    """Tell the users of a project *detail* of *action*, both by their code names."""
    session.execute(
        sa.insert(Message).values(
            project_id=told["project_id"],
            request_id=told["request_id"],
            resource_type=RESOURCE_SHARE,
            resource_id=told["resource_id"],
            action_id=ACTIONS[action].id,
            detail_id=DETAILS[detail].id,
            message_level=LEVEL_ERROR,
            reason=told.get("reason"),
            expires_at=after(told["ttl"]),
        )
    )


def find(
    session: Session, scope: Scope, filters: Mapping[str, Any], page: Page
) -> Sequence[Message]:
    """Messages that are equal to *filters*; ``created_since`` and ``created_before`` bound it."""
    statement = sa.select(Message).where(scope.clause(Message.project_id))
    for name, value in filters.items():
        if name == "created_since":
            statement = statement.where(Message.created_at >= value)
        elif name == "created_before":
            statement = statement.where(Message.created_at <= value)
        else:
            statement = statement.where(SORT_KEYS[name] == value)
    return session.scalars(paginate(statement, page, SORT_KEYS, Message.id)).all()


def get(session: Session, scope: Scope, message_id: str) -> Message:
    """One message; raises NotFound."""
    message = session.scalars(
        sa.select(Message).where(Message.id == message_id, scope.clause(Message.project_id))
    ).one_or_none()
    if message is None:
        raise errors.NotFound(resource="Message", id=message_id)
    return message


def about(session: Session, resource_id: str) -> Sequence[Message]:
    """What was told of a resource, oldest first."""
    return session.scalars(
        sa.select(Message)
        .where(Message.resource_id == resource_id)
        .order_by(Message.created_at, Message.id)
    ).all()


def delete(session: Session, scope: Scope, message_id: str) -> None:
    """Remove one message; raises NotFound."""
    mine = sa.delete(Message).where(Message.id == message_id, scope.clause(Message.project_id))
    if not swap(session, mine):
        raise errors.NotFound(resource="Message", id=message_id)


def expired() -> Sweep:
    """The messages whose time is over."""
    return Sweep(along(Message.__table__.c.expires_at), seconds=0)
