"""What operators see of services, and take out of work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fileshare.db import services
from fileshare.db.models import Service
from fileshare.intents import backends, changes
from fileshare.intents.unit import Unit, operation


@operation
def find(unit: Unit, filters: Mapping[str, Any]) -> Sequence[Any]:
    """The services that are equal to *filters*, by id; see :func:`fileshare.db.services.find`."""
    return services.find(unit.session, unit.runtime.conf.service_down_time, filters)


@operation
def set_enabled(
    unit: Unit, binary: str | None, host: str, *, enabled: bool, reason: str | None = None
) -> Service:
    """Let a service take new work, or no more; raises NotFound.

    What a disabled back end holds stays served; nothing new is placed there.
    """
    found = services.set_status(unit.session, binary, host, enabled=enabled, reason=reason)
    facts: dict[str, Any] = {"enabled": enabled, "reason": reason}
    changes.tell(unit, "service.update", binary=binary, host=host, **facts)
    return found


@operation
def ensure_shares(unit: Unit, host: str) -> None:
    """Let the daemons of a back end ensure all its shares; see :func:`backends.promise_ensuring`.

    Raises NotFound, and Conflict where no daemon serves the back end.
    """
    service = backends.find_up(unit, host)
    backends.promise_ensuring(unit, service.id, host)
    changes.tell(unit, "service.ensure_shares", host=host)
