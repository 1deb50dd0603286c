"""Promising the chores of a back end: its share daemons carry them out."""

from __future__ import annotations

from fileshare import errors
from fileshare.db import chores, intents
from fileshare.db.chores import BackendService
from fileshare.db.models import Intent, new_id
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


def promise_ensuring(unit: Unit, service_id: int, host: str, fingerprint: str = "") -> None:
    """Ensure all shares of a back end.

    A walk that is under way goes on from where it stands, and then looks once more at what it
    had seen by now: however often it is asked for, it comes to every share.
    """
    # Of two that promise at once the second one sees what the first one did.
    chores.hold(unit.session, service_id)
    work = EnsureShares(fingerprint)
    walk = intents.unsettled(unit.session, work.verb().resource, str(service_id))
    if walk is not None:
        chores.join_walk(unit.session, walk)
        unit.promised.append(walk)
        return
    _promise(unit, service_id, host, work)
    chores.begin_ensuring(unit.session, service_id)


def promise_reconciliation(unit: Unit, service_id: int, host: str, *, repair: bool) -> Intent:
    """Compare a back end with the database; what was found is noted with the intent."""
    chores.hold(unit.session, service_id)
    work = Reconcile(repair)
    resource, id = work.verb().resource, str(service_id)
    intents.supersede(unit.session, resource, id, "It was asked for anew.")
    return _promise(unit, service_id, host, work)


def _promise(unit: Unit, service_id: int, host: str, work: Work) -> Intent:
    return unit.promise(
        work,
        destinations.share(host),
        intent_id=new_id(),
        resource_id=str(service_id),
        share_id=None,
        project_id=None,
    )
