"""Giving up what no daemon will ever take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import leave_the_log
from fileshare.db import intents
from fileshare.db.intents import LostClaim
from fileshare.db.session import Session
from fileshare.domain.notices import Notice
from fileshare.intents.announcements import Begun
from fileshare.intents.job import Job, tell_the_log_of
from fileshare.intents.kinds import KINDS, Work
from fileshare.intents.outcomes import Failed
from fileshare.intents.record import record
from fileshare.intents.runtime import Runtime

LOG = logging.getLogger(__name__)

OWNER = "reaper"


def reap(runtime: Runtime) -> int:
    """Settle as failed what has been due for longer than [intents] give_up_after; how many.

    A daemon that is only slow, or was only restarted, has claimed its work long before.
    """
    seconds = runtime.conf.intents.give_up_after
    if not seconds:
        return 0
    found = runtime.sessions.run(lambda session: intents.abandoned(session, seconds))
    return sum(_give_up_if_known(runtime, intent_id) for intent_id in found)


def _give_up_if_known(runtime: Runtime, intent_id: str) -> bool:
    try:
        return give_up(runtime, intent_id)
    except errors.Unsupported as unknown:
        LOG.warning("Intent %s is left to a newer release: %s", intent_id, unknown)
        return False


def give_up(runtime: Runtime, intent_id: str) -> bool:
    """Settle one intent as failed; False where a worker was quicker.

    Raises Unsupported where this release does not know the kind.
    """

    def write(session: Session) -> Sequence[Notice] | None:
        intent = intents.claim(session, intent_id, OWNER, runtime.conf.intents.lease)
        if intent is None:
            return None
        tell_the_log_of(intent)
        work = KINDS.get(intent.kind, Work)
        if work is Work:
            raise errors.Unsupported(capability=intent.kind)
        job: Job[Any] = Job(runtime, intent, work.load(intent.payload))
        error = errors.Abandoned(destination=intent.destination)
        recorded = record(session, job, Failed(error), Begun())
        LOG.error("Intent %s (%s) was given up: %s", intent.id, intent.kind, error)
        return recorded.notices

    try:
        told = runtime.sessions.run(write)
    except LostClaim:
        return False
    finally:
        leave_the_log()
    for notice in told or ():
        runtime.notifier.send(notice)
    return told is not None
