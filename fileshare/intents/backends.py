"""Promising the chores of a back end: its share daemons carry them out."""

from __future__ import annotations

from fileshare import errors
from fileshare.db import chores, intents
from fileshare.db.chores import BackendService
from fileshare.db.models import Intent, new_id
from fileshare.db.transitions import ensuring
from fileshare.intents import destinations
from fileshare.intents.kinds import EnsureShares, Reconcile, Work
from fileshare.intents.unit import Unit


def find(unit: Unit, host: str) -> BackendService:
    """The service of a back end; raises NotFound."""
    return chores.service(unit.session, host, unit.runtime.conf.service_down_time)


def find_up(unit: Unit, host: str) -> BackendService:
    """The same; raises Conflict where no daemon serves the back end."""
    service = find(unit, host)
    if not service.is_up:
        raise errors.Conflict(reason=f"No daemon serves back end {host}: its service is down.")
    return service


def promise_ensuring(unit: Unit, service_id: int, host: str, fingerprint: str = "") -> Intent:
    """Ensure all shares of a back end from the first one on, whatever is under way."""
    intent = _promise(unit, service_id, host, EnsureShares(fingerprint))
    chores.begin_ensuring(unit.session, service_id)
    return intent


def promise_reconciliation(unit: Unit, service_id: int, host: str, *, repair: bool) -> Intent:
    """Compare a back end with the database; what was found is noted with the intent."""
    return _promise(unit, service_id, host, Reconcile(repair))


def _promise(unit: Unit, service_id: int, host: str, work: Work) -> Intent:
    # Of two that promise at once the second one sees what the first one did.
    chores.hold(unit.session, service_id)
    resource, id = work.verb().resource, str(service_id)
    old = intents.supersede(unit.session, resource, id, "It was asked for anew.")
    if old is not None:
        ensuring.release(unit.session, old)
    return unit.promise(
        work,
        destinations.share(host),
        intent_id=new_id(),
        resource_id=id,
        share_id=None,
        project_id=None,
    )
