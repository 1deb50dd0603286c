"""Every verb of the lifecycles with everything that can go wrong at every point of it.

The cases come from the table of verbs and from the points that a run of the verb passes: a new
verb is covered as soon as ``cases.STARTS`` says how it is asked for.
"""

from __future__ import annotations

import contextlib

import pytest
from inprocess import ADMIN, Bell
from oslo_db import exception as db_exception

from fileshare.db.session import Sessions
from fileshare.domain.statuses import IntentState, RuleState, Status
from fileshare.intents import consumer, failpoints
from fileshare.intents.kinds import KINDS
from fileshare.share.handlers import HANDLERS
from tests.chaos import truth
from tests.chaos.cases import (
    CHORES,
    EVENTS,
    STARTS,
    VERBS,
    accepted,
    check,
    each_verb,
    held,
    hits,
    order,
    outcome,
    picture,
    recover,
)

pytestmark = pytest.mark.chaos


def test_every_verb_is_covered():
    assert sorted(STARTS) == EVENTS
    # Ensuring is shown on the shares, and is part of the chore of their back end.
    assert {work.event for work in KINDS.values()} == {*EVENTS} - {"share.ensure"}


@each_verb
def test_a_worker_is_lost_at_every_point(event, worlds, monkeypatch):
    points, expected = hits(worlds, event, monkeypatch)
    assert {f"{point}.{when}" for point in ("driver",) for when in ("before", "after")} <= {
        point.partition("@")[0] for point in points
    }
    for point in points:
        program, ask = worlds.begin(event)
        accepted(ask())
        monkeypatch.setenv("FILESHARE_FAILPOINTS", f"{point}=raise")
        with pytest.raises(failpoints.Injected):
            program.drain()
        monkeypatch.delenv("FILESHARE_FAILPOINTS")
        program.bell.rung.clear()
        recover(program)
        check(program)
        assert outcome(program) == expected, point


@each_verb
def test_a_worker_is_lost_again_and_again(event, worlds, monkeypatch):
    """After so many tries it is given up: settled, told, and the books are right."""
    program, ask = worlds.begin(event)
    accepted(ask())
    kind = last_kind(event)
    monkeypatch.setenv("FILESHARE_FAILPOINTS", f"driver.before@{kind}=raise")
    for _ in range(program.conf.intents.max_attempts + 5):
        with contextlib.suppress(failpoints.Injected):
            program.drain()
            program.make_due()
            program.poll()
    monkeypatch.delenv("FILESHARE_FAILPOINTS")
    assert truth.is_idle(program.sessions)
    check_given_up(program, event)


@each_verb
def test_nobody_serves_it(event, worlds):
    """What no daemon ever takes is given up by a scheduler."""
    program, ask = worlds.begin(event)
    accepted(ask())
    program.bell.rung.clear()
    program.conf.set_override("give_up_after", 1, group="intents")
    program.sessions.run(age_intents)
    assert program.reap() == 1
    check_given_up(program, event, untouched=True)


def age_intents(session):
    import sqlalchemy as sa

    from fileshare.db.clock import after
    from fileshare.db.models import Intent

    session.execute(
        sa.update(Intent).where(Intent.state == IntentState.OPEN).values(due=after(-60))
    )


def check_given_up(program, event, *, untouched=False):
    """*untouched*: no back end had taken the work up."""
    found = truth.read(program.sessions)
    assert found.booked == found.counted
    assert found.open_intents == []
    statuses = {row.status for row in found.shares}
    verb = VERBS[event]
    assert all(share.intent_id is None for share in found.shares)
    if event in CHORES:
        assert statuses == {Status.AVAILABLE}, "nobody's share suffers"
        return
    if event.startswith("share."):
        assert statuses <= {(untouched and verb.declined) or verb.failed}
    elif event == "access.sync":
        assert {row.access_rules_status for row in found.instances} == {verb.failed}
        assert {rule.state for rule in found.rules} == {RuleState.ERROR}
    assert found.told
    live = {row.id for row in found.instances}
    assert {row.share_instance_id for row in found.exports} <= live
    assert {row.share_instance_id for row in found.rules} <= live


def last_kind(event):
    """The kind in which the verb reaches the back end; chores look after share by share."""
    kinds = {work.event: work.kind for work in HANDLERS}
    return "care" if event in CHORES else kinds[event]


class Deaf(Bell):
    """No ring arrives."""

    def ring(self, destination, intent_id):
        """Lost on the way."""


@each_verb
def test_every_message_is_lost(event, worlds, monkeypatch):
    _, expected = hits(worlds, event, monkeypatch)
    program, ask = worlds.begin(event)
    deaf = Deaf()
    program.bell.ring = deaf.ring
    accepted(ask())
    for _ in range(10):
        # Only the daemons' own looks; nothing is made due.
        program.poll()
    check(program)
    assert outcome(program) == expected


@each_verb
def test_messages_come_twice_and_late(event, worlds, monkeypatch):
    _, expected = hits(worlds, event, monkeypatch)
    program, ask = worlds.begin(event)
    program.bell.rung.clear()
    heard = []
    real = program.bell.ring

    def ring(destination, intent_id):
        heard.append((destination, intent_id))
        for where in program.consumers:  # and to daemons that have it no more, or not yet
            real(where, intent_id)
        real(destination, intent_id)

    program.bell.ring = ring
    accepted(ask())
    program.drain()
    check(program)
    assert outcome(program) == expected
    before = picture(program)
    program.bell.rung.extend(heard * 2)
    program.drain()
    assert picture(program) == before


@each_verb
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_back_end_fails(event, when, worlds):
    for call in STARTS[event].calls:
        program, ask = worlds.begin(event)
        order(program, f"{call} error=failed when={when}")
        accepted(ask())
        program.drain()
        recover(program)
        found = truth.read(program.sessions)
        check(program, all_active=False, left_over=event == "share.force_delete")
        verb = VERBS[event]
        if event.startswith("share."):
            ends = {verb.failed, verb.declined}
            # Rules that could not be brought back are shown as such, not the share.
            ends |= {verb.done} if call == "apply_access" else set()
            assert {row.status for row in found.shares} <= ends
        elif event == "access.sync":
            assert {row.access_rules_status for row in found.instances} == {verb.failed}


@each_verb
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_back_end_is_busy_for_a_while(event, when, worlds, monkeypatch):
    _, expected = hits(worlds, event, monkeypatch)
    for call in STARTS[event].calls:
        program, ask = worlds.begin(event)
        order(program, f"{call} error=busy times=2 when={when}")
        accepted(ask())
        program.drain()
        recover(program)
        check(program)
        assert outcome(program) == expected


@each_verb
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_database_fails_at_every_commit(event, when, worlds, monkeypatch):
    """A deadlock undoes the transaction; a lost connection leaves open whether it was done."""
    _, expected = hits(worlds, event, monkeypatch)
    number, reached = 0, True
    while reached:
        number += 1
        program, ask = worlds.begin(event)
        reached = fail_commit(program, number, when, monkeypatch, ask)
        recover(program)
        check(program)
        assert outcome(program) == expected, f"commit {number}"
    assert number > 3


def fail_commit(program, number, when, monkeypatch, ask):
    """Ask and drain while the commit of this number fails; whether it came to that."""
    dialect = program.sessions.engine.dialect
    real = dialect.do_commit
    count = 0

    def commit(connection):
        nonlocal count
        count += 1
        if count != number:
            real(connection)
        elif when == "before":
            raise db_exception.DBDeadlock
        else:
            real(connection)
            raise db_exception.DBConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(dialect, "do_commit", commit)
        accepted(ask())
        program.drain()
    return count >= number


@each_verb
@pytest.mark.parametrize("times", [1, 1000])
def test_the_database_goes_away_for_long(event, times, worlds, monkeypatch):
    """Longer than a transaction is tried again: the work waits, it does not fail.

    Back at once (1), or for good until the next look (1000).
    """
    _, expected = hits(worlds, event, monkeypatch)
    number, reached = 0, True
    while reached:
        number += 1
        program, ask = worlds.begin(event)
        accepted(ask())
        reached = go_away(program, number, times, monkeypatch)
        program.bell.rung.clear()
        recover(program)
        check(program)
        assert outcome(program) == expected, f"transaction {number}"


def go_away(program, number, times, monkeypatch):
    """Drain while so many transactions from this number on find no database; whether one came."""
    real, count = Sessions.run, 0

    def run(sessions, work):
        nonlocal count
        count += 1
        if number <= count < number + times:
            raise db_exception.DBConnectionError
        return real(sessions, work)

    with monkeypatch.context() as patch:
        patch.setattr(Sessions, "run", run)
        with contextlib.suppress(db_exception.DBConnectionError):
            program.drain()
    return count >= number


@each_verb
@pytest.mark.parametrize("point", ["claimed", "finishing"])
def test_a_worker_that_slept_writes_nothing(event, point, worlds, monkeypatch):
    """Its lease is over and another one has done the work; then it wakes."""
    _, expected = hits(worlds, event, monkeypatch)
    seen = []
    program, ask = worlds.begin(event)
    accepted(ask())

    def take_over(job):
        if seen:
            return
        seen.append(job.intent.kind)
        job.kept_at -= 1000
        rung = list(program.bell.rung)
        program.bell.rung.clear()
        recover(program)
        seen.append(picture(program))
        program.bell.rung.extend(rung)

    with monkeypatch.context() as patch:
        interpose(patch, point, take_over)
        program.drain()
    assert len(seen) == 2
    assert picture(program) == seen[1], "a stale worker wrote"
    check(program)
    assert outcome(program) == expected


def interpose(patch, point, action):
    """Call *action* with the job after its claim, or before its outcome is recorded."""
    name = {"claimed": "_until_recorded", "finishing": "_finish"}[point]
    real = getattr(consumer.Consumer, name)

    def wrapped(self, job, *arguments):
        action(job)
        return real(self, job, *arguments)

    patch.setattr(consumer.Consumer, name, wrapped)


@pytest.mark.parametrize("kind", ["share.place", "share.create", "share.extend", "access.sync"])
def test_a_share_is_removed_by_force_under_a_worker(kind, worlds, monkeypatch):
    """A worker that has just claimed must not touch the back end any more."""
    event = KINDS[kind].event
    program, ask = worlds.begin(event)
    accepted(ask())
    done = []

    def remove(job):
        if done or job.intent.kind != kind:
            return
        done.append(kind)
        accepted(program.act(job.intent.share_id, "force_delete", as_=ADMIN))
        program.drain()
        assert held(program) == {}

    with monkeypatch.context() as patch:
        interpose(patch, "claimed", remove)
        program.drain()
    assert done
    recover(program)
    assert held(program) == {}, "a share was made after its removal"
    check(program)
