"""Sixteen threads at once, on each kind of database: what may be done once is done once."""

from __future__ import annotations

import collections
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import rows
import sqlalchemy as sa
from inprocess import ADMIN, PROJECT, Program

from fileshare.db import intents, quotas, share_metadata
from fileshare.db.clock import after
from fileshare.db.intents import LostClaim
from fileshare.db.models import AccessMapping, Intent, Share
from fileshare.db.session import count
from fileshare.domain.statuses import RulesStatus, RuleState, Status
from tests.fixtures.databases import KINDS

pytestmark = pytest.mark.parametrize("kind", KINDS)

THREADS = 16


@pytest.fixture
def program(engine, tmp_path):
    made = Program(engine.url.render_as_string(hide_password=False), tmp_path)
    made.share_type()
    with rows.no_deadlock(made.sessions.engine):
        yield made
    made.sessions.dispose()


def together(call, arguments):
    """What *call* answers for each of *arguments*, with all threads beginning at one moment."""
    begin = threading.Barrier(THREADS)

    def run(place, argument):
        if place < THREADS:
            begin.wait(timeout=60)
        return call(argument)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(run, range(len(arguments)), arguments))


def promise(session, id):
    facts = {"kind": "share.extend", "event": "share.extend", "resource_type": "share"}
    intents.write(session, id=id, resource_id=id, destination="here", **facts)


def test_each_intent_is_claimed_once(sessions, engine):
    ids = [rows.new_id() for _ in range(60)]
    with sessions.begin() as session:
        for id in ids:
            promise(session, id)
    owners = collections.defaultdict(list)

    def worker(name):
        while True:
            found = sessions.run(lambda session: intents.due(session, ["here"], limit=20))
            if not found:
                return
            for id in found:
                got = sessions.run(lambda session, one=id: intents.claim(session, one, name, 600))
                if got:
                    owners[id].append(name)

    together(worker, [f"worker {number}" for number in range(THREADS)])
    assert sorted(owners) == sorted(ids)
    assert {len(names) for names in owners.values()} == {1}
    with sessions.begin() as session:
        fences = session.execute(sa.select(Intent.id, Intent.owner, Intent.fence)).all()
    assert {(row.owner == owners[row.id][0], row.fence) for row in fences} == {(True, 1)}


def test_a_lost_claim_is_taken_over_once(sessions, engine):
    with sessions.begin() as session:
        promise(session, "one")
    for fence in range(1, 4):
        got = together(
            lambda name: sessions.run(lambda session: intents.claim(session, "one", name, 600)),
            [f"worker {number}" for number in range(THREADS)],
        )
        assert [intent.fence for intent in got if intent] == [fence]
        with sessions.begin() as session:
            count(session, sa.update(Intent).values(due=after(-1)))


def test_a_claim_that_a_failover_has_forgotten(sessions):
    """The server that took over lacks the last moments: the next claim counts the same fence."""
    with sessions.begin() as session:
        promise(session, "one")
    first = sessions.run(lambda session: intents.claim(session, "one", "first", 600))
    older = {"fence": 0, "owner": None, "attempts": 0, "due": after(-1)}
    with sessions.begin() as session:
        count(session, sa.update(Intent).values(**older))
    second = sessions.run(lambda session: intents.claim(session, "one", "second", 600))
    assert first.fence == second.fence
    for late in (
        lambda session: intents.keep(session, first, 600),
        lambda session: intents.confirm(session, first),
        lambda session: intents.close(session, first, "done"),
    ):
        with pytest.raises(LostClaim):
            sessions.run(late)
    sessions.run(lambda session: intents.close(session, second, "done"))


def test_a_quota_is_exact(program):
    program.put(f"/quota-sets/{PROJECT}", {"quota_set": {"shares": 10}}, as_=ADMIN)
    body = {"share": {"share_proto": "NFS", "size": 2, "share_type": "default"}}
    statuses = together(lambda _: program.post("/shares", body).status, range(40))
    assert collections.Counter(statuses) == {200: 10, 413: 30}
    books = program.sessions.run(lambda session: quotas.booked(session, PROJECT))
    assert books[PROJECT, "project", "shares"] == 10
    assert books[PROJECT, "project", "gigabytes"] == 20
    program.drain()
    program.check()


def test_one_verb_at_a_time(program):
    share_id = program.new_share(size=1)
    statuses = together(
        lambda size: program.act(share_id, "extend", {"new_size": size}).status,
        [2 + number for number in range(THREADS)],
    )
    assert collections.Counter(statuses) == {202: 1, 400: THREADS - 1}
    open_intents = sa.select(Intent.id).where(
        Intent.resource_id == share_id, Intent.due.is_not(None)
    )
    assert len(program.sessions.run(lambda session: session.scalars(open_intents).all())) == 1
    program.drain()
    assert program.show(share_id)["size"] == 2 + statuses.index(202)
    program.check()


def test_a_share_is_deleted_once(program):
    share_id = program.new_share()
    statuses = together(lambda _: program.delete(f"/shares/{share_id}").status, range(THREADS))
    assert statuses.count(202) == 1
    program.drain()
    assert program.get(f"/shares/{share_id}").status == 404
    program.check()
    assert program.sessions.run(quotas.booked) == {}


def test_rules_and_verbs_at_once(program):
    """Rules come in while the share grows and is deleted; whoever is accepted is served."""
    share_id = program.new_share()

    def act(number):
        if number == THREADS - 1:
            return program.delete(f"/shares/{share_id}").status
        if number % 5 == 4:
            return program.act(share_id, "extend", {"new_size": 2 + number}).status
        client = {"access_type": "ip", "access_to": f"10.0.0.{number}", "access_level": "rw"}
        return program.act(share_id, "allow_access", client).status

    answers = together(act, range(THREADS))
    assert set(answers) <= {200, 202, 400, 403, 404, 409}
    program.drain()
    program.check()
    with program.sessions.begin() as session:
        status = session.scalar(sa.select(Share.status).where(Share.id == share_id))
        states = list(session.scalars(sa.select(AccessMapping.state)))
    if status == Status.DELETED:
        assert states == []
    else:
        assert status == Status.AVAILABLE
        accepted = sum(status == 200 for number, status in enumerate(answers) if number % 5 != 4)
        assert states == [RuleState.ACTIVE] * accepted


def test_many_rules_of_one_share(program):
    share_id = program.new_share()
    clients = [f"10.0.{number}.0/24" for number in range(THREADS)]
    statuses = together(
        lambda client: (
            program.act(
                share_id, "allow_access", {"access_type": "ip", "access_to": client}
            ).status
        ),
        clients,
    )
    assert statuses == [200] * THREADS
    program.drain()
    held = program.read_share(share_id)
    assert held.instance.access_rules_status == RulesStatus.ACTIVE
    with program.sessions.begin() as session:
        assert set(session.scalars(sa.select(AccessMapping.state))) == {RuleState.ACTIVE}
    program.check()


def test_one_rule_is_added_once(program):
    share_id = program.new_share()
    client = {"access_type": "ip", "access_to": "10.0.0.1"}
    statuses = together(
        lambda _: program.act(share_id, "allow_access", client).status, range(THREADS)
    )
    assert collections.Counter(statuses) == {200: 1, 400: THREADS - 1}
    program.drain()
    program.check()


def test_shares_that_name_each_other_come_and_go(program):
    two = [program.new_share() for _ in range(2)]
    program.put(f"/quota-sets/{PROJECT}", {"quota_set": {"shares": -1}}, as_=ADMIN)

    def come(named):
        hints = {"different_host": named}
        body = {"share_proto": "NFS", "size": 1, "share_type": "default", "scheduler_hints": hints}
        return program.post("/shares", {"share": body})["share"]["id"]

    def kept(share_id):
        found = program.get(f"/shares/{share_id}/metadata")["metadata"]
        return sorted(found.get("__affinity_different_host", "").split(","))

    came = together(come, [",".join(two), ",".join(reversed(two))] * (THREADS // 2))
    assert kept(two[0]) == kept(two[1]) == sorted(came)

    def go(share_id):
        program.sessions.run(lambda session: share_metadata.unname(session, share_id))

    together(go, [*came[1:], two[0]])
    assert kept(two[1]) == [came[0]]
    assert kept(came[0]) == [two[1]]
