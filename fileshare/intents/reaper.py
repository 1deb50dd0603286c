"""Giving up what no daemon will ever take."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import leave_the_log
from fileshare.db import intents
from fileshare.db.intents import LostClaim
from fileshare.db.session import TRANSIENT, Session
from fileshare.domain.notices import Notice
from fileshare.intents.announcements import Begun
from fileshare.intents.job import Job, tell_the_log_of
from fileshare.intents.kinds import KINDS, Work
from fileshare.intents.outcomes import LONGEST_PAUSE, Failed
from fileshare.intents.record import record
from fileshare.intents.rounds import Alive, always
from fileshare.intents.runtime import Runtime

LOG = logging.getLogger(__name__)

OWNER = "reaper"
AT_ONCE = 100
"""Intents that are read together."""


class Reaper:
    """Settles as failed what nobody takes for [intents] give_up_after.

    It must have seen so itself, look after look: work is overdue as well where the whole cloud
    or its database was away, or somebody set the database's clock.  And where others of the same
    destination are in hand it only waits for its turn.
    """

    def __init__(self, runtime: Runtime, clock: Callable[[], float] = time.monotonic) -> None:
        self.runtime, self._clock = runtime, clock
        self._since: dict[str, float] = {}

    def reap(self, alive: Alive = always) -> int:
        """One look; how many were given up."""
        self._pull_back()
        conf = self.runtime.conf
        seconds = conf.intents.give_up_after
        if not seconds:
            return 0
        soon = min(seconds, conf.service_down_time)
        silent = self.runtime.sessions.run(lambda session: intents.silent(session, soon))
        now = self._clock()
        self._since = {where: self._since.get(where, now) for where in silent}
        gone = [where for where, since in self._since.items() if now - since >= seconds]
        if not gone:
            return 0
        return self._give_up(seconds, gone, alive)

    def _give_up(self, seconds: float, gone: Sequence[str], alive: Alive) -> int:
        """Give up all that waits there; what cannot be is passed over, however much it is.

        That may take long, and ends with its daemon.
        """
        given_up = 0
        for intent_id in self._abandoned(seconds, gone):
            alive()
            given_up += _give_up_if_known(self.runtime, intent_id)
        return given_up

    def _abandoned(self, seconds: float, gone: Sequence[str]) -> Iterator[str]:
        beyond = None
        while True:
            read = functools.partial(
                intents.abandoned,
                seconds=seconds,
                destinations=gone,
                beyond=beyond,
                limit=AT_ONCE,
            )
            found = self.runtime.sessions.run(read)
            yield from (intent_id for _, intent_id in found)
            if len(found) < AT_ONCE:
                return
            beyond = found[-1]

    def _pull_back(self) -> None:
        conf = self.runtime.conf.intents
        longest = max(conf.lease, conf.poll_interval, LONGEST_PAUSE)
        found = self.runtime.sessions.run(lambda session: intents.pull_back(session, longest))
        if found:
            LOG.warning("%d pieces of work were due far from now: was the clock set back?", found)


def _give_up_if_known(runtime: Runtime, intent_id: str) -> bool:
    try:
        return give_up(runtime, intent_id)
    except errors.Unsupported as unknown:
        LOG.warning("Intent %s is left to a newer release: %s", intent_id, unknown)
        return False
    except TRANSIENT:
        raise  # the others fare no better without a database
    except Exception:
        LOG.exception("Intent %s could not be given up", intent_id)
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
