"""Ensuring all shares of a back end after it changed: while it serves, in small steps.

What is said of the back end (see :func:`fileshare.drivers.loader.fingerprint`) is compared with
what its shares were last ensured for.  Where it is the same, nothing is done, however many
shares there are.  Otherwise one intent walks over them.  It is the back end's, so several
daemons share one walk, and another daemon goes on with it when one is killed.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import service_context
from fileshare.db import chores, intents
from fileshare.db.chores import Candidate
from fileshare.db.session import Session
from fileshare.db.transitions import ensuring
from fileshare.domain.lifecycle import SHARE
from fileshare.drivers import loader
from fileshare.drivers.base import Driver
from fileshare.intents import backends
from fileshare.intents.job import Job
from fileshare.intents.kinds import EnsureShares
from fileshare.intents.outcomes import LONGEST_PAUSE, Again, Done, Outcome, Stale
from fileshare.intents.rounds import Alive, always
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation
from fileshare.share.care import Care, Restored, queue_rules, restore, tell_lost

LOG = logging.getLogger(__name__)

BATCH = 20  # shares that show «ensuring» at one time
ROUNDS = 10


class Watch:
    """Notices that a back end is not what its shares were ensured for."""

    def __init__(self, runtime: Runtime, host: str, driver: Driver) -> None:
        self.runtime, self.host, self.driver = runtime, host, driver
        self._known: str | None = None

    def look(self, alive: Alive = always) -> bool:
        """Promise to ensure the shares of the back end, if it has changed; whether it had.

        Two daemons of one back end may say different things of it while their options are
        rolled out: what was ensured once for what this one says is not ensured again.
        """
        care = Care(self.runtime, self.host, self.driver, alive=alive)
        found = care.call(loader.fingerprint, self.driver, self.runtime.conf)
        if found == self._known:
            return False
        verdict = _notice(self.runtime, service_context(), self.host, found)
        if verdict == SAME:
            self._known = found
        elif verdict == CHANGED:
            LOG.info("Back end %s has changed: its shares are ensured", self.host)
        return verdict == CHANGED


SAME, CHANGED, UNDER_WAY = "same", "changed", "under way"


@operation
def _notice(unit: Unit, host: str, fingerprint: str) -> str:
    service = backends.find(unit, host)
    if service.info_hash == fingerprint:
        return SAME
    if service.ensuring:
        return UNDER_WAY  # for what another daemon says; looked at again afterwards
    backends.promise_ensuring(unit, service.id, host, fingerprint)
    return CHANGED


def ensure(job: Job[EnsureShares]) -> Outcome:
    """Look after the next few shares; all of them once is done."""
    return _Walk(job).step()


class _Walk:
    """One step of the walk over the shares of a back end."""

    def __init__(self, job: Job[EnsureShares]) -> None:
        if job.backend is None:
            raise TypeError("this daemon has no driver")
        self.job = job
        self.runtime = job.runtime
        self.host = job.backend.host
        self.care = Care(self.runtime, self.host, job.backend.driver, job.intent.id, job.alive)
        self.busy: list[str] = []

    def step(self) -> Outcome:
        work = self._as_asked(self.job.work)
        if work.rounds:
            return self._again(work)
        found = self.runtime.sessions.run(
            lambda session: chores.candidates(session, self.host, work.after, BATCH)
        )
        batch = [item for item in found if not work.is_second or item.id <= work.until]
        self._look_after(batch)
        work = dataclasses.replace(work, busy=list(dict.fromkeys([*work.busy, *self.busy])))
        if len(batch) == BATCH:
            return Again(0, dataclasses.replace(work, after=batch[-1].id))
        if work.until and not work.is_second:
            return Again(0, dataclasses.replace(work, after="", is_second=True))
        return self._end(work)

    def _as_asked(self, work: EnsureShares) -> EnsureShares:
        """The work as it is now: all that was seen before it was asked for is seen once more."""
        asked = self.job.read(chores.asked_again, self.job.intent.id)
        if work.fingerprint and asked == work.asked:
            return work
        found = self.care.call(loader.fingerprint, self.care.driver, self.runtime.conf)
        work = dataclasses.replace(work, fingerprint=found)
        if asked == work.asked:
            return work
        if work.rounds:
            return EnsureShares(found, asked=asked)  # all of them had been seen
        return dataclasses.replace(work, asked=asked, until=work.after, is_second=False)

    def _again(self, work: EnsureShares) -> Outcome:
        """Look once more at what a verb worked on."""
        batch = self.runtime.sessions.run(lambda session: chores.those(session, work.busy))
        here = [item for item in batch if item.host.partition("#")[0] == self.host]
        self._look_after(here)
        return self._end(dataclasses.replace(work, busy=self.busy))

    def _end(self, work: EnsureShares) -> Outcome:
        if work.busy and work.rounds < ROUNDS:
            pause = min(LONGEST_PAUSE, 2.0**work.rounds)
            return Again(pause, dataclasses.replace(work, rounds=work.rounds + 1))
        for instance_id in work.busy:
            # The reconciler comes by; whatever works on it has told the driver already.
            LOG.warning("Instance %s was in work all the time and is not ensured", instance_id)
        remember = functools.partial(
            chores.remember,
            service_id=int(self.job.resource_id),
            fingerprint=work.fingerprint,
        )
        LOG.info("The shares of back end %s are ensured", self.host)
        return Done(writes=[remember, functools.partial(self._unless_asked_again, work.asked)])

    def _unless_asked_again(self, asked: int, session: Session) -> None:
        # The service's row is written by now: who asks waits, and begins another walk.
        if chores.asked_again(session, self.job.intent.id) != asked:
            raise Stale("it was asked for again")

    def _look_after(self, batch: Sequence[Candidate]) -> None:
        holder = self.job.intent.id
        self.busy = [item.id for item in batch if not item.is_free(holder) and item.is_busy]
        free = [item for item in batch if item.is_free(holder)]
        if self.runtime.conf.update_shares_status_on_ensure:
            self.runtime.sessions.run(lambda session: self._take(session, free))
        for item in free:
            restored = restore(self.care, item.id, flags=True)
            if restored is None:
                self._missed(item)
            else:
                self._settle(item, restored)

    def _take(self, session: Session, free: Sequence[Candidate]) -> None:
        # Only for a walk that is still ours: nobody would let go of them again.
        intents.keep(session, self.job.intent, self.runtime.conf.intents.lease)
        ensuring.take(session, self.job.intent.id, free)

    def _missed(self, item: Candidate) -> None:
        """Something else has begun meanwhile; what is gone needs no other look."""
        now = self.runtime.sessions.run(lambda session: chores.those(session, [item.id]))
        holder = self.job.intent.id
        self.busy += [found.id for found in now if found.is_busy or found.is_free(holder)]

    def _settle(self, item: Candidate, restored: Restored) -> None:
        settle(self.runtime, item, restored.lost, self.job.intent.id)
        if restored.rules_failed:
            queue_rules(self.runtime, item)


def settle(
    runtime: Runtime, item: Candidate, lost: errors.DriverError | None, holder: str | None = None
) -> None:
    """Show what became of an instance that was looked after, and tell of one that is lost.

    Of a share that shows an error already nobody is told again.
    """

    def write(session: Session) -> bool:
        verb = SHARE["ensure"]
        held = holder is not None and ensuring.finish(
            session, holder, item.share_id, verb.failed if lost else verb.done
        )
        fresh = lost is not None and (held or ensuring.lose(session, item.share_id))
        if fresh and lost is not None:
            tell_lost(runtime, session, item, lost)
        return fresh

    if runtime.sessions.run(write) and lost is not None:
        LOG.error("Share %s is lost: %s", item.share_id, lost.operator_text)
