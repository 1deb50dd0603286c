"""Locks against removals, each with one transaction in the middle of the other, and at once."""

from __future__ import annotations

import collections

import pytest
import sqlalchemy as sa
import test_guards
import test_races
from inprocess import ADMIN

from fileshare import errors
from fileshare.context import Context
from fileshare.db import access, locks
from fileshare.db.models import AccessMapping, AccessRule, ResourceLock, ShareInstance
from fileshare.db.transitions import rule_states
from fileshare.domain.statuses import RuleState
from fileshare.operations import locks as operations
from tests.fixtures.databases import KINDS

pytestmark = pytest.mark.parametrize("kind", KINDS)

interleave, share_id, program = test_guards.interleave, test_guards.share_id, test_races.program
allows, deletes, read = test_guards.allows, test_guards.deletes, test_guards.read
together, THREADS = test_races.together, test_races.THREADS

ALICE = Context("req-1", "alice", "p1", ("member",))


def locks_(resource_type, resource_id, action="delete", **more):
    def work(session):
        operations._touch(session, resource_type, resource_id, action)
        return operations.place(session, ALICE, resource_type, resource_id, action, None, **more)

    return work


@pytest.fixture
def rule_id(sessions, share_id):
    return sessions.run(allows(share_id))


def denies(rule_id):
    def work(session):
        access.deny(session, rule_id)
        found = locks.on_rule_or_caused(session, rule_id)
        if not found:
            rule_states.queue_denial(session, rule_id)
        return found

    return work


def test_share_is_locked_then_deleted(sessions, interleave, share_id):
    lock_id, refusal = interleave(locks_("share", share_id), deletes(share_id))
    assert isinstance(refusal, errors.Locked)
    assert read(sessions, ResourceLock.id) == [(lock_id,)]
    assert test_guards.statuses(sessions, share_id) == ("available", "available")


def test_share_is_deleted_then_locked(sessions, interleave, share_id):
    _, refusal = interleave(deletes(share_id), locks_("share", share_id))
    assert isinstance(refusal, errors.Conflict)
    assert read(sessions, ResourceLock.id) == []


def test_rule_is_locked_then_denied(sessions, interleave, rule_id):
    lock_id, found = interleave(locks_("access_rule", rule_id), denies(rule_id))
    assert [lock.id for lock in found] == [lock_id]


@pytest.mark.parametrize("action", ["delete", "show"])
def test_rule_is_denied_then_locked(sessions, interleave, rule_id, action):
    found, refusal = interleave(denies(rule_id), locks_("access_rule", rule_id, action))
    assert found == []
    assert isinstance(refusal, errors.Conflict)
    assert read(sessions, ResourceLock.id) == []


def test_rule_is_hidden_twice(sessions, interleave, rule_id):
    lock_id, refusal = interleave(*[locks_("access_rule", rule_id, "show")] * 2)
    assert isinstance(refusal, errors.Conflict)
    assert read(sessions, ResourceLock.id) == [(lock_id,)]


def test_the_last_of_two_instances_takes_rule_and_lock_along(sessions, interleave, share_id):
    with sessions.begin() as session:
        host = "node@backend2#pool1"
        session.execute(
            sa.insert(ShareInstance).values(share_id=share_id, status="available", host=host)
        )
    rule_id = sessions.run(allows(share_id))
    sessions.run(locks_("access_rule", rule_id, "show"))
    sessions.run(denies(rule_id))
    instances = [id for (id,) in read(sessions, ShareInstance.id)]
    with sessions.begin() as session:
        gone = {id: access.on_instance(session, id) for id in instances}

    def lets_go(instance_id):
        def work(session):
            test_guards.transitions.hold(session, share_id)
            access.record(session, applied=[], denied=gone[instance_id], failed={}, keys={})

        return work

    sessions.run(lets_go(instances[0]))
    assert len(read(sessions, ResourceLock.id)) == len(read(sessions, AccessRule.id)) == 1
    with sessions.begin() as session:
        session.execute(
            sa.insert(AccessMapping).values(
                access_id=rule_id,
                share_instance_id=instances[0],
                state=RuleState.QUEUED_TO_DENY,
            )
        )
        gone[instances[0]] = access.on_instance(session, instances[0])
    interleave(lets_go(instances[0]), lets_go(instances[1]))
    assert read(sessions, AccessMapping.id) == []
    assert read(sessions, AccessRule.id) == []
    assert read(sessions, ResourceLock.id) == []


def test_locks_grants_denials_and_deletions_at_once(program):
    """Whoever is accepted is served; at the end no lock is left of what is gone."""
    share_id = program.new_share()
    body = {"access_type": "ip", "lock_deletion": True, "lock_visibility": True}
    path = f"/shares/{share_id}"

    def act(number):
        wanted = {**body, "access_to": f"10.0.0.{number}"}
        made = program.act(share_id, "allow_access", wanted)
        if made.status != 200:
            return made.status
        if number % 4 == 3:
            program.drain()
            program.delete(path)
        denied = {"access_id": made["access"]["id"], "unrestrict": True}
        return program.act(share_id, "deny_access", denied).status

    answers = collections.Counter(together(act, range(2 * THREADS)))
    program.drain()
    assert set(answers) <= {202, 400}
    if program.get(path).status == 200:
        assert program.delete(path).status == 202
        program.drain()
    assert program.get(path).status == 404
    everybodys = program.get("/resource-locks?all_projects=true", as_=ADMIN)
    assert everybodys["resource_locks"] == []
    assert read(program.sessions, AccessRule.id) == []
    program.check()
