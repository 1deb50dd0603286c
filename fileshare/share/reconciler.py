"""Keeping a back end and the database in line: what differs is found, repaired and counted.

The database says what must be.  A back end that holds more is only told of, unless an operator
says that it shall be removed; what is in work is never touched.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from oslo_log import log as logging

from fileshare import errors
from fileshare.db import chores
from fileshare.db.chores import Candidate, Trace
from fileshare.db.session import Session
from fileshare.domain.hosts import backend_of
from fileshare.domain.statuses import Status
from fileshare.drivers.base import Driver, Resizable
from fileshare.drivers.model import ShareRef
from fileshare.intents.job import Job
from fileshare.intents.kinds import Reconcile
from fileshare.intents.outcomes import Done, Outcome
from fileshare.intents.rounds import Alive, always
from fileshare.intents.runtime import Runtime
from fileshare.share import ensure, findings, references
from fileshare.share.care import Care, queue_rules, restore
from fileshare.share.findings import Finding, Repairs

LOG = logging.getLogger(__name__)

PAGE = 500
_MOST_NOTED = 1000
_STEP = 20  # instances after which the progress is written

Progress = Callable[[int], None]


def lock_of(host: str) -> str:
    """The name of the lock under which a back end is compared."""
    return f"reconcile-{host}"


@dataclass(frozen=True, slots=True)
class Powers:
    """What may be changed: *heal* what the back end lost, *remove* what it has too much."""

    heal: bool = False
    remove: bool = False


class Reconciler:
    """Compares one back end with the database; one daemon of it at a time."""

    def __init__(self, runtime: Runtime, host: str, driver: Driver) -> None:
        self.runtime, self.host, self.driver = runtime, host, driver
        self.repairs = Repairs()
        self._after = ""

    def look(self, alive: Alive = always) -> list[Finding]:
        """What is done by the clock: compare all, and look closely at the next few shares."""
        care = Care(self.runtime, self.host, self.driver, alive=alive)
        reason = care.works()
        if reason is not None:
            LOG.error("Back end %s is not compared with the database: %s", self.host, reason)
            return []
        remove = self.runtime.conf.reconcile_remove_left_overs
        found = _Comparison(care, Powers(heal=True, remove=remove)).run()
        batch = self._next(self.runtime.conf.reconcile_batch)
        for item in batch:
            found += heal(care, item)
        self._count(found)
        return found

    def _next(self, size: int) -> list[Candidate]:
        """The next instances, and from the first one on when the last one has been seen."""
        after = self._after
        batch = self.runtime.sessions.run(
            lambda session: chores.candidates(session, self.host, after, size)
        )
        self._after = batch[-1].id if len(batch) == size else ""
        return [item for item in batch if item.is_free()]

    def _count(self, found: list[Finding]) -> None:
        for finding in found:
            self.repairs.add(finding)


def compare(job: Job[Reconcile]) -> Outcome:
    """Compare all, for an operator; what was found is noted with the intent."""
    if job.backend is None:
        raise TypeError("this daemon has no driver")
    care = Care(job.runtime, job.backend.host, job.backend.driver, alive=job.alive)
    with job.holding(lock_of(care.host)):
        reason = care.works()
        if reason is not None:
            raise errors.DriverError(operator_text=reason)
        found = _compare(job, care)
    trace = [finding.dump() for finding in found[:_MOST_NOTED]]
    if len(found) > _MOST_NOTED:
        trace.append(Finding(findings.MORE, "", None, f"{len(found) - _MOST_NOTED} others").dump())
    return Done(writes=[functools.partial(chores.note, intent_id=job.intent.id, trace=trace)])


def _compare(job: Job[Reconcile], care: Care) -> list[Finding]:
    repair = job.work.repair
    found = _Comparison(care, Powers(heal=repair, remove=repair)).run()
    if repair:
        total = max(1, job.read(chores.number, care.host))
        for done, item in enumerate(_all(care)):
            if done % _STEP == 0:
                job.read(chores.progress, job.intent.id, min(99, done * 100 // total))
            found += heal(care, item) if item.is_free() else []
    return found


def _all(care: Care) -> Iterator[Candidate]:
    """All instances of the back end, page by page."""
    after = ""
    while True:
        look = functools.partial(chores.candidates, backend=care.host, after=after, limit=PAGE)
        page = care.runtime.sessions.run(look)
        yield from page
        if len(page) < PAGE:
            return
        after = page[-1].id


def heal(care: Care, item: Candidate) -> list[Finding]:
    """Bring back exports and rules of one instance; what had been lost.

    A failure of the whole back end ends the round: it raises DriverError.
    """
    try:
        restored = restore(care, item.id, flags=False)
    except errors.DriverError as error:
        LOG.warning("Instance %s could not be looked at: %s", item.id, error.operator_text)
        if care.works() is not None:
            raise
        return []
    if restored is None:
        return []
    if restored.lost is not None:
        ensure.settle(care.runtime, item, restored.lost)
        return [_told(Finding(findings.MISSING, item.id, item.share_id, str(restored.lost)))]
    if restored.rules_failed:
        queue_rules(care.runtime, item)
    return [
        _told(Finding(what, item.id, item.share_id, "was brought back", repaired=True))
        for what in restored.what
    ]


class _Comparison:
    """One comparison of the instances that a back end has with those that it must have."""

    def __init__(self, care: Care, powers: Powers) -> None:
        self.care, self.powers = care, powers
        self.runtime = care.runtime

    def run(self) -> list[Finding]:
        # The back end is asked first: what is made afterwards is in the database already.
        held = self.care.call(self.care.driver.instances)
        found, known, doubtful = [], set(), []
        for item in _all(self.care):
            known.add(item.id)
            if item.is_free() and held.get(item.id) != item.size:
                doubtful.append(item)
        unknown = held.keys() - known
        if doubtful or unknown:
            # Asked again: what was being made, resized or removed meanwhile is over now.
            held = self.care.call(self.care.driver.instances)
            for item in doubtful:
                found += self._differs(item, held.get(item.id))
            found += self._unknown({id: held[id] for id in unknown if id in held})
        return found

    def _differs(self, item: Candidate, size: int | None) -> list[Finding]:
        if size is None:
            return self._missing(item)
        with self.care.alone(item.id) as now:
            # Only of an available share the size is certain.
            if now is None or now.status != Status.AVAILABLE or now.size == size:
                return []
            detail = f"{size} GiB instead of {now.size} GiB"
            repaired, reason = self._resize(now, size)
            text = f"{detail}: {reason}" if reason else detail
            return [_told(Finding(findings.SIZE, item.id, item.share_id, text, repaired))]

    def _resize(self, item: Candidate, size: int) -> tuple[bool, str]:
        """Bring the instance to its size; a larger one is made smaller for an operator only."""
        driver, smaller = self.care.driver, size > item.size
        if not isinstance(driver, Resizable) or not self.powers.heal:
            return False, ""
        if smaller and not self.powers.remove:
            return False, ""
        subject = self.runtime.sessions.run(
            lambda session: references.of_instance(session, item.id)
        )
        try:
            self.care.call(driver.shrink if smaller else driver.extend, subject.ref, item.size)
        except errors.DriverError as error:
            return False, error.operator_text
        return True, ""

    def _missing(self, item: Candidate) -> list[Finding]:
        if self.powers.heal:
            # The driver may be able to bring it back, and says so where it is really gone.
            return heal(self.care, item)
        return [_told(Finding(findings.MISSING, item.id, item.share_id, "is not there"))]

    def _unknown(self, held: Mapping[str, int]) -> list[Finding]:
        found: list[Finding] = []
        ids = sorted(held)
        for start in range(0, len(ids), PAGE):
            page = ids[start : start + PAGE]
            alive, traces = self.runtime.sessions.run(functools.partial(_remembered, ids=page))
            for id in page:
                if id not in alive:
                    found.append(self._left_over(id, held[id], traces.get(id)))
                elif self._is_elsewhere(alive[id]):
                    detail = f"{held[id]} GiB are left here; the share lives on {alive[id].host}"
                    found.append(
                        _told(Finding(findings.ELSEWHERE, id, alive[id].share_id, detail))
                    )
        return found

    def _is_elsewhere(self, item: Candidate) -> bool:
        return item.is_free() and backend_of(item.host) != self.care.host

    def _left_over(self, id: str, size: int, trace: Trace | None) -> Finding:
        share_id = trace.share.id if trace else None
        finding = Finding(findings.LEFT_OVER, id, share_id, f"{size} GiB belong to no share")
        if not self.powers.remove:
            return _told(finding)
        with self.care.undisturbed(id) as got:
            if not got or self.runtime.sessions.run(lambda session: chores.those(session, [id])):
                return _told(finding)
            try:
                self.care.call(self.care.driver.delete, _reference(id, size, trace))
            except errors.DriverError as error:
                text = f"{finding.detail}: {error.operator_text}"
                return _told(Finding(findings.LEFT_OVER, id, share_id, text))
        return _told(Finding(findings.LEFT_OVER, id, share_id, finding.detail, repaired=True))


def _remembered(
    session: Session, ids: list[str]
) -> tuple[dict[str, Candidate], Mapping[str, Trace]]:
    alive = {item.id: item for item in chores.those(session, ids)}
    return alive, chores.traces(session, [id for id in ids if id not in alive])


def _reference(id: str, size: int, trace: Trace | None) -> ShareRef:
    """A share of which the database may know nothing any more."""
    if trace is None:
        return ShareRef(id=id, share_id=id, size=size, protocol="", project_id="")
    return references.make(trace.share, trace.instance, {}, {})


def _told(finding: Finding) -> Finding:
    log = LOG.info if finding.repaired else LOG.warning
    log(
        "Instance %s of share %s, %s: %s%s",
        finding.instance_id,
        finding.share_id,
        finding.what,
        finding.detail,
        " (repaired)" if finding.repaired else "",
    )
    return finding
