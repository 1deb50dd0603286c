"""What operators do to keep an installation in order."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fileshare import errors
from fileshare.context import service_context
from fileshare.db import backends as db_backends
from fileshare.db import chores, intents, purge, recounts, sweeps
from fileshare.db import orphans as db_orphans
from fileshare.db.backends import Load
from fileshare.db.orphans import Orphan
from fileshare.db.recounts import Difference
from fileshare.db.sweeps import Counts, Pace, Sweep, Tell
from fileshare.domain import hosts
from fileshare.domain.hosts import Location
from fileshare.intents import backends
from fileshare.intents.runtime import Runtime
from fileshare.intents.unit import Unit, operation

Result = TypeVar("Result")


@operation
def reconcile(unit: Unit, host: str, *, repair: bool) -> str:
    """Let the daemons of a back end compare it with the database; returns the intent's id.

    Raises NotFound, and Conflict where no daemon serves the back end.
    """
    service = backends.find_up(unit, host)
    return backends.promise_reconciliation(unit, service.id, host, repair=repair).id


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far a comparison is, in percent, and what it found; *error*: why it came to nothing."""

    state: str
    progress: int
    findings: Sequence[dict[str, Any]]
    error: str | None


@operation
def result(unit: Unit, intent_id: str) -> Comparison:
    """What became of a comparison; raises NotFound."""
    intent = intents.get(unit.session, intent_id)
    if intent is None:
        raise errors.NotFound(resource="Intent", id=intent_id)
    return Comparison(intent.state, intent.progress, intent.trace, intent.error)


@operation
def orphans(unit: Unit, *, repair: bool) -> list[Orphan]:
    """Rows whose owner is gone; with *repair*, those that may just go are removed."""
    found = db_orphans.find(unit.session)
    if repair:
        db_orphans.remove(unit.session)
    return found


@operation
def purgeable(unit: Unit, days: float) -> Mapping[str, int]:
    """How many rows of each table a purge would remove."""
    return purge.counted(unit.session, _sweeps(unit.runtime, days))


def purge_deleted(runtime: Runtime, days: float, tell: Tell, pace: Pace | None = None) -> Counts:
    """Remove what was deleted *days* ago, closed work of that age, and what has expired.

    *tell* is given the numbers of removed rows by table after each step.
    """
    pace, done = pace or Pace(), collections.Counter[str]()
    for sweep in _sweeps(runtime, days):
        done += sweeps.run(runtime.sessions, sweep, pace, tell)
    return done


def _sweeps(runtime: Runtime, days: float) -> list[Sweep]:
    return purge.sweeps(days, runtime.conf.api.idempotency_key_ttl)


class _Undone(Exception):
    """Ends a transaction that was only tried; *result* is what it would have done."""

    def __init__(self, result: Any) -> None:
        self.result = result
        super().__init__()


def _tried(call: Callable[[], Result]) -> Result:
    try:
        return call()
    except _Undone as undone:
        result: Result = undone.result
        return result


@operation
def _suspects(unit: Unit, project_id: str | None) -> list[str]:
    return recounts.suspects(unit.session, project_id)


@operation
def _correct(unit: Unit, project_id: str, dry_run: bool) -> list[Difference]:
    try:
        wrong = recounts.correct(unit.session, project_id)
    except recounts.Unstable as error:
        reason = f"Too much work of {project_id} was finished while it was counted: try again."
        raise errors.Conflict(reason=reason) from error
    if dry_run:
        raise _Undone(wrong)
    return wrong


def correct_quotas(
    runtime: Runtime, project_id: str | None = None, *, dry_run: bool = False
) -> list[Difference]:
    """Book what there is, project by project; what was wrong.

    A project is counted while nobody books in it, so that work in flight is no difference.
    """
    ctx = service_context()
    found = []
    for project in _suspects(runtime, ctx, project_id):
        correct = functools.partial(_correct, runtime, ctx, project, dry_run)
        found += _tried(correct)
    return found


@operation
def _remove_service(unit: Unit, binary: str, host: str, dry_run: bool) -> None:
    down_time = unit.runtime.conf.service_down_time
    db_backends.remove_service(unit.session, binary, host, down_time)
    if dry_run:
        raise _Undone(None)


def remove_service(runtime: Runtime, binary: str, host: str, *, dry_run: bool = False) -> None:
    """Forget a service that is down; see :func:`fileshare.db.backends.remove_service`."""
    ctx = service_context()
    _tried(functools.partial(_remove_service, runtime, ctx, binary, host, dry_run))


@operation
def _stale(unit: Unit, seconds: float) -> list[tuple[str, str]]:
    return db_backends.stale(unit.session, unit.runtime.conf.service_down_time, seconds)


def remove_stale(
    runtime: Runtime, seconds: float, *, dry_run: bool = False
) -> list[tuple[str, str, str]]:
    """Forget all services that are down and not heard of for *seconds*.

    Returns (binary, host, why it stays): the reason is empty for one that was removed.
    """
    ctx = service_context()
    found = []
    for binary, host in _stale(runtime, ctx, seconds):
        try:
            remove_service(runtime, binary, host, dry_run=dry_run)
        except errors.FileshareError as error:
            found.append((binary, host, str(error)))
        else:
            found.append((binary, host, ""))
    return found


@dataclass(frozen=True, slots=True)
class Backend:
    """A back end as operators see it; *is_up* and *status* are None without a service."""

    host: str
    load: Load
    is_up: bool | None = None
    status: str | None = None
    ensuring: bool = False
    down_reason: str | None = None


@operation
def list_backends(unit: Unit) -> list[Backend]:
    """All back ends that have a service, pools or shares."""
    loads = db_backends.loads(unit.session)
    known = [
        Backend(
            row.host,
            loads.pop(row.host, Load()),
            bool(row.is_up),
            row.status,
            row.ensuring,
            None if row.is_up else row.down_reason,
        )
        for row in db_backends.overview(unit.session, unit.runtime.conf.service_down_time)
    ]
    return [*known, *(Backend(host, load) for host, load in sorted(loads.items()))]


def _location(field: str, text: str) -> Location:
    location = hosts.parse(text)
    if location.backend is None:
        raise errors.InvalidInput(field=field, reason=f"{text!r} names no back end")
    return location


@operation
def _rename(unit: Unit, old: Location, new: Location, dry_run: bool) -> dict[str, int]:
    done = db_backends.rename(unit.session, old, new, unit.runtime.conf.service_down_time)
    if dry_run:
        raise _Undone(done)
    return done


def rename_backend(
    runtime: Runtime, old: str, new: str, *, dry_run: bool = False
) -> dict[str, int]:
    """Give a back end another name; see :func:`fileshare.db.backends.rename`.

    *old* and *new* are ``host@backend``, or both with ``#pool``.
    """
    from_, to = _location("old", old), _location("new", new)
    if from_ == to:
        raise errors.InvalidInput(field="new", reason="it is the old name")
    if (from_.pool is None) != (to.pool is None):
        raise errors.InvalidInput(field="new", reason="only one of the names has a pool")
    return _tried(functools.partial(_rename, runtime, service_context(), from_, to, dry_run))


@operation
def gone_instances(unit: Unit, instance_ids: Sequence[str]) -> list[str]:
    """Which of *instance_ids* are no instances, or deleted ones."""
    alive = {item.id for item in chores.those(unit.session, instance_ids)}
    return [id for id in instance_ids if id not in alive]
