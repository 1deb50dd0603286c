"""Deleting in the background: what expires in the recycle bin, and what could not be deleted."""

from __future__ import annotations

import functools
from collections.abc import Callable

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import Context, service_context
from fileshare.db import recycle_bin, transitions
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import Status
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
    return _each(runtime, recycle_bin.expired, _remove, alive)


def try_again(runtime: Runtime, alive: Alive = always) -> int:
    """Begin the deferred deletions anew that back ends could not do; how many."""
    return _each(runtime, recycle_bin.unfinished, _remove_later, alive)


def _each(
    runtime: Runtime,
    find: Callable[..., list[str]],
    act: Callable[[Runtime, Context, str], None],
    alive: Alive,
) -> int:
    begun, last = 0, ""
    while True:
        look = functools.partial(find, limit=BATCH, after_id=last)
        found = runtime.sessions.run(look)
        begun += sum(_begin(runtime, act, share_id) for share_id in found)
        if len(found) < BATCH:
            return begun
        last = found[-1]
        alive()


def _begin(runtime: Runtime, act: Callable[[Runtime, Context, str], None], share_id: str) -> bool:
    try:
        act(runtime, service_context(), share_id)
    except errors.FileshareError as error:
        LOG.warning("Share %s is not deleted: %s", share_id, error)
        return False
    except Exception:
        LOG.exception("Share %s is not deleted", share_id)
        return False
    LOG.info("Share %s is deleted now", share_id)
    return True


@operation
def _remove_later(unit: Unit, share_id: str) -> None:
    transitions.forgive_deletion(unit.session, share_id, Status.ERROR_DEFERRED_DELETING)
    held, intent_id = holding.take(unit, SHARE["deferred_delete"], share_id)
    holding.remove_later(unit, held, intent_id)


@operation
def _remove(unit: Unit, share_id: str) -> None:
    # What a back end could not remove before is tried again.
    transitions.forgive_deletion(unit.session, share_id)
    held, intent_id = holding.take(unit, SHARE["delete"], share_id)
    if not recycle_bin.is_expired(unit.session, share_id):
        raise errors.Refused(reason="It was taken out of the bin meanwhile.")
    holding.remove(unit, held, intent_id, DeleteShare())
