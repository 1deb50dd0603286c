"""Emptying the recycle bin: shares whose time in it is over are removed."""

from __future__ import annotations

import functools

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import service_context
from fileshare.db import recycle_bin, transitions
from fileshare.domain.lifecycle import SHARE
from fileshare.intents import holding
from fileshare.intents.kinds import DeleteShare
from fileshare.intents.rounds import Alive, always
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation

LOG = logging.getLogger(__name__)

BATCH = 100


def empty(runtime: Runtime, alive: Alive = always) -> int:
    """Begin to remove every share that has expired; how many.

    One that cannot be removed now does not keep the others: it is looked at next time.
    """
    begun, last = 0, ""
    while True:
        look = functools.partial(recycle_bin.expired, limit=BATCH, after_id=last)
        found = runtime.sessions.run(look)
        begun += sum(_expire(runtime, share_id) for share_id in found)
        if len(found) < BATCH:
            return begun
        last = found[-1]
        alive()


def _expire(runtime: Runtime, share_id: str) -> bool:
    try:
        _remove(runtime, service_context(), share_id)
    except errors.FileshareError as error:
        LOG.warning("Share %s stays in the recycle bin: %s", share_id, error)
        return False
    except Exception:
        LOG.exception("Share %s stays in the recycle bin", share_id)
        return False
    LOG.info("The time of share %s in the recycle bin is over", share_id)
    return True


@operation
def _remove(unit: Unit, share_id: str) -> None:
    # What a back end could not remove before is tried again.
    transitions.forgive_deletion(unit.session, share_id)
    held, intent_id = holding.take(unit, SHARE["delete"], share_id)
    if not recycle_bin.is_expired(unit.session, share_id):
        raise errors.Refused(reason="It was taken out of the bin meanwhile.")
    holding.remove(unit, held, intent_id, DeleteShare())
