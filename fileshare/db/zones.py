"""Availability zones."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db.models import AvailabilityZone, Service, new_id
from fileshare.db.session import Session


def find(session: Session) -> Sequence[AvailabilityZone]:
    """The zones in which a service lives."""
    lived_in = sa.select(Service.availability_zone_id)
    return session.scalars(
        sa.select(AvailabilityZone)
        .where(AvailabilityZone.id.in_(lived_in))
        .order_by(AvailabilityZone.name)
    ).all()


def get(session: Session, name_or_id: str) -> AvailabilityZone:
    """The zone of that id or name; raises NotFound."""
    zone = session.scalars(
        sa.select(AvailabilityZone)
        .where(sa.or_(AvailabilityZone.id == name_or_id, AvailabilityZone.name == name_or_id))
        .limit(1)
    ).first()
    if zone is None:
        raise errors.NotFound(resource="Availability zone", id=name_or_id)
    return zone


def ensure(session: Session, name: str) -> str:
    """The id of the zone called *name*, which is made where it is not there yet."""
    found = session.scalars(
        sa.select(AvailabilityZone.id).where(AvailabilityZone.name == name)
    ).first()
    if found:
        return found
    zone_id = new_id()
    try:
        with session.begin_nested():
            session.execute(sa.insert(AvailabilityZone).values(id=zone_id, name=name))
    except db_exception.DBDuplicateEntry:
        return ensure(session, name)
    return zone_id
