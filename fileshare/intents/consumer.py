"""Claim an intent, run its handler, record the outcome: the same for every kind."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from oslo_log import log as logging

from fileshare import errors
from fileshare.context import leave_the_log
from fileshare.db import intents
from fileshare.db.intents import LostClaim
from fileshare.db.session import TRANSIENT, Session
from fileshare.domain.notices import Notice
from fileshare.intents import announcements, failpoints
from fileshare.intents.announcements import Begun
from fileshare.intents.job import Backend, Job, tell_the_log_of
from fileshare.intents.kinds import KINDS, Work
from fileshare.intents.outcomes import Again, Failed, HandOn, Outcome, Stale
from fileshare.intents.record import Recorded, record
from fileshare.intents.runtime import Runtime

LOG = logging.getLogger(__name__)

W = TypeVar("W", bound=Work)
Handler = Callable[[Job[Any]], Outcome]
Reads = Callable[[Session, Job[Any]], Any]
_STALE_TRIES = 10
_BACK_OFF = (1.0, 2.0, 5.0, 15.0, 30.0)


class Handlers(Mapping[type[Work], Handler]):
    """The handlers of one daemon by the work that they do."""

    def __init__(self, *parts: Mapping[type[Work], Handler]) -> None:
        self._handlers: dict[type[Work], Handler] = {}
        self.reads: dict[type[Work], Reads] = {}
        for part in parts:
            self._handlers.update(part)
            self.reads.update(getattr(part, "reads", {}))

    def __getitem__(self, work: type[Work]) -> Handler:
        return self._handlers[work]

    def __iter__(self) -> Iterator[type[Work]]:
        return iter(self._handlers)

    def __len__(self) -> int:
        return len(self._handlers)

    def handles(
        self, work: type[W], reads: Reads | None = None
    ) -> Callable[[Callable[[Job[W]], Outcome]], Callable[[Job[W]], Outcome]]:
        """Register the decorated function as the handler of *work*.

        *reads* is what it must know before it starts (see :meth:`Job.look`): read in the
        transaction that claims the work, it costs no transaction of its own.
        """

        def register(handler: Callable[[Job[W]], Outcome]) -> Callable[[Job[W]], Outcome]:
            self._handlers[work] = handler
            if reads is not None:
                self.reads[work] = reads
            return handler

        return register


class Consumer:
    """Performs the intents of one daemon; :mod:`fileshare.intents.daemon` feeds it.

    *owner* names this process in claims; *destinations* are where its work comes from.
    """

    def __init__(
        self,
        runtime: Runtime,
        handlers: Mapping[type[Work], Handler],
        destinations: Iterable[str],
        owner: str,
        backend: Backend | None = None,
    ) -> None:
        self.runtime = runtime
        self.handlers = handlers
        self.destinations = tuple(destinations)
        self.owner = owner
        self.backend = backend
        self.running: dict[int, Job[Any]] = {}
        self._begun = Begun()

    def due(self) -> list[str]:
        """Ids of the work that waits for this daemon."""
        return self.runtime.sessions.run(lambda session: intents.due(session, self.destinations))

    def perform(self, intent_id: str) -> bool:
        """Do the work behind a ring; False if it is not ours to do (any more)."""
        claimed = self.runtime.sessions.run(lambda session: self._claim(session, intent_id))
        if claimed is None:
            return False
        job, told = claimed
        failpoints.hit("claimed", job.intent.kind)
        self._tell(told)
        # By the claim: this process may take over what hangs in another thread of it.
        self.running[id(job)] = job
        try:
            return self._until_recorded(job)
        except LostClaim:
            LOG.warning("Intent %s (%s) was taken over meanwhile", intent_id, job.intent.kind)
            return False
        finally:
            self.running.pop(id(job), None)

    def _claim(self, session: Session, intent_id: str) -> tuple[Job[Any], list[Notice]] | None:
        lease = self.runtime.conf.intents.lease
        begins = self.backend is not None
        intent = intents.claim(
            session, intent_id, self.owner, lease, self.destinations, begins=begins
        )
        if intent is None:
            return None
        tell_the_log_of(intent)
        work = KINDS.get(intent.kind)
        if work is None or work not in self.handlers or intent.version > work.version:
            # A newer daemon wrote it; leave it to one that knows it.
            LOG.warning("Intent %s is of the unknown kind %s", intent.id, intent.kind)
            delay = self.runtime.conf.intents.poll_interval
            intents.again(session, intent, delay, failed=False)
            return None
        reads = self.handlers.reads.get(work) if isinstance(self.handlers, Handlers) else None
        job: Job[Any] = Job(
            self.runtime, intent, work.load(intent.payload), self.backend, reads=reads
        )
        # What is not there (any more) is the handler's to find out.
        with contextlib.suppress(errors.FileshareError):
            job.foresee(session)
        return job, announcements.at_start(session, job, self._begun)

    def _tell(self, told: Sequence[Notice]) -> None:
        for notice in told:
            self.runtime.notifier.send(notice)
        self._begun.note(told)

    def _until_recorded(self, job: Job[Any]) -> bool:
        for _ in range(_STALE_TRIES):
            try:
                return self._finish(job, self._run(job))
            except Stale as news:
                LOG.info("Intent %s (%s) is decided again: %s", job.intent.id, job.work.kind, news)
        return self._finish(job, Again(_BACK_OFF[0]))

    def keep_running(self) -> None:
        """Renew the leases of all work that is in hand for long."""
        for job in list(self.running.values()):
            if not job.is_ageing() or job.lost.is_set():
                continue
            tell_the_log_of(job.intent)
            try:
                self._keep(job)
            finally:
                leave_the_log()

    def _keep(self, job: Job[Any]) -> None:
        if job.hangs():
            # Not lost yet: should it end before anybody else begins, it has done the work.
            if not job.is_given_up:
                LOG.error("Intent %s (%s) hangs; its claim ends", job.intent.id, job.work.kind)
                job.give_up()
            return
        try:
            job.keep()
        except LostClaim:
            if id(job) in self.running:
                LOG.warning("Lost the claim on intent %s", job.intent.id)

    def _run(self, job: Job[Any]) -> Outcome:
        limit = self.runtime.conf.intents.max_attempts
        if job.intent.attempts > limit:
            return Failed(errors.Interrupted(attempts=limit))
        try:
            return self.handlers[type(job.work)](job)
        except (LostClaim, *TRANSIENT):
            raise  # no outcome: without a database the work waits for it
        except errors.CoordinationAway as error:
            LOG.warning("Intent %s (%s) waits: %s", job.intent.id, job.intent.kind, error)
            return Again(_BACK_OFF[2])  # as without a database, and no attempt
        except Exception as error:  # noqa: BLE001  (whatever a driver raises is an outcome)
            return self._outcome_of(job, error)

    def _outcome_of(self, job: Job[Any], error: Exception) -> Outcome:
        intent = job.intent
        transient = isinstance(error, errors.LockHeld) or (
            isinstance(error, errors.DriverError) and error.transient
        )
        if transient and intent.attempts < self.runtime.conf.intents.max_attempts:
            LOG.info("Intent %s (%s) waits: %s", intent.id, intent.kind, error)
            return Again(_BACK_OFF[min(intent.attempts, len(_BACK_OFF)) - 1], failed=True)
        known = isinstance(error, errors.FileshareError) and not isinstance(
            error, errors.DriverError
        )
        text = getattr(error, "operator_text", error)
        LOG.error("Intent %s (%s) failed: %s", intent.id, intent.kind, text, exc_info=not known)
        return Failed(error, writes=tuple(job.on_failure))

    def _finish(self, job: Job[Any], outcome: Outcome) -> bool:
        def write(session: Session) -> Recorded:
            failpoints.hit("recording", job.work.kind)
            return record(session, job, outcome, self._begun)

        recorded = self.runtime.sessions.run(write)
        failpoints.hit("recorded", job.work.kind)
        self._tell(recorded.notices)
        if recorded.ring:
            destination = outcome.destination if isinstance(outcome, HandOn) else None
            self.runtime.doorbell.ring(destination or job.intent.destination, job.intent.id)
            failpoints.hit("rung", job.work.kind)
        return True
