"""Keys of requests that make something: one that is sent again makes it once."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db.models import RequestKey
from fileshare.db.session import Session, StartOver
from fileshare.db.sweeps import Sweep, along


def claim(
    session: Session, project_id: str, user_id: str, key: str, digest: str, resource_id: str
) -> str:
    """The id of what the key of a user makes: *resource_id*, unless it has made something.

    Raises Conflict where it was given for something else than *digest* says.
    """
    id = hashlib.sha256(f"{project_id}\n{user_id}\n{key}".encode()).hexdigest()
    found = session.execute(
        sa.select(RequestKey.digest, RequestKey.resource_id).where(RequestKey.id == id)
    ).one_or_none()
    if found is not None:
        if found.digest != digest:
            reason = "The Idempotency-Key was given with another request before."
            raise errors.Conflict(reason=reason)
        return str(found.resource_id)
    row = {"id": id, "digest": digest, "resource_id": resource_id}
    try:
        session.execute(sa.insert(RequestKey).values(**row))
    except db_exception.DBDuplicateEntry as error:
        # The same request at the same moment: what it has made is to be seen from the start.
        raise StartOver from error
    return resource_id


def old(seconds: float) -> Sweep:
    """The keys that are *seconds* old."""
    return Sweep(along(RequestKey.__table__.c.created_at), seconds)
