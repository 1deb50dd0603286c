"""What callers are told of availability zones."""

from __future__ import annotations

from collections.abc import Sequence

from fileshare.db import zones
from fileshare.db.models import AvailabilityZone
from fileshare.intents.unit import Unit, operation


@operation
def find(unit: Unit) -> Sequence[AvailabilityZone]:
    """The zones in which a service lives, by name."""
    return zones.find(unit.session)
