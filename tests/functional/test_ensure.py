"""Bringing back what a back end may have lost, when it changed or when an operator asks."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER

from fileshare.db import services
from fileshare.db.models import ExportLocation, Intent, Service, Share, ShareInstance, new_id
from fileshare.drivers import loader
from fileshare.drivers.dummy.state import SHARES
from fileshare.intents import reaper
from fileshare.share import ensure
from fileshare.share.ensure import Watch
from tests.fixtures.queries import recorded

ALPHA = f"{HOST}@alpha"


@pytest.fixture
def watch(program):
    return Watch(program.runtime, ALPHA, program.drivers["alpha"])


@pytest.fixture
def alpha(program):
    """A program whose shares are all on one back end."""
    body = {"host": f"{HOST}@beta", "binary": "manila-share"}
    assert program.put("/services/disable", body, as_=ADMIN).status == 200
    return program


def calls(program, name="alpha"):
    """Driver calls as (operation, instance id); from the first use on."""
    program.conf.set_override("dummy_record_calls", True, name)
    notes = program.drivers[name].state.notes("calls")
    return [(note["operation"], note["id"]) for note in notes]


def instance_of(program, share_id):
    return program.read_share(share_id).instance.id


def service(program, host=ALPHA):
    rows = program.get(f"/services?host={host}", as_=ADMIN)["services"]
    return rows[0]


def stored_hash(program):
    return program.scalar(sa.select(Service.info_hash).where(Service.host == ALPHA))


def change(program, *addresses):
    """Let the back end export at other addresses, and say so."""
    program.conf.set_override("dummy_export_addresses", list(addresses), "alpha")


def exports(program, share_id):
    rows = program.get(f"/shares/{share_id}/export_locations", as_=ADMIN)["export_locations"]
    return {row["path"]: row for row in rows}


def fail(program, *faults):
    path = program.drivers["alpha"].state.root / "control.json"
    path.write_text(json.dumps({"fail": list(faults)}))


def allow(program, share_id, to="10.0.0.1"):
    body = {"access_type": "ip", "access_to": to, "access_level": "rw"}
    answer = program.act(share_id, "allow_access", body)
    assert answer.status == 200, answer.body
    program.drain()
    return answer["access"]["id"]


def rules_on_backend(program, share_id):
    record = program.drivers["alpha"].state.read(SHARES, instance_of(program, share_id))
    return [rule["to"] for rule in record["rules"]]


def lose_rules(program, share_id):
    state, id = program.drivers["alpha"].state, instance_of(program, share_id)
    state.write(SHARES, id, {**state.read(SHARES, id), "rules": []})


def test_a_changed_back_end_is_noticed_once(alpha, watch):
    share_id = alpha.new_share()
    calls(alpha)
    assert watch.look() is True
    assert service(alpha)["ensuring"] is True
    assert watch.look() is False
    alpha.drain()
    assert service(alpha)["ensuring"] is False
    assert alpha.show(share_id)["status"] == "available"
    found = calls(alpha)
    assert found == [("ensure", instance_of(alpha, share_id)), ("apply_access", found[0][1])]
    assert stored_hash(alpha) == loader.fingerprint(alpha.drivers["alpha"], alpha.conf)
    # The same back end, asked by the same and by a new process.
    assert watch.look() is False
    assert Watch(alpha.runtime, ALPHA, alpha.drivers["alpha"]).look() is False
    assert calls(alpha) == found
    alpha.check()


def insert_shares(program, number):
    """Shares as the database has them, without a back end that made them."""

    def work(session):
        for _ in range(number):
            share_id, instance_id = new_id(), new_id()
            session.execute(
                sa.insert(Share).values(
                    id=share_id, project_id="p", size=1, share_proto="NFS", status="available",
                    host=f"{ALPHA}#pool", is_charged=False,
                )
            )  # fmt: skip
            session.execute(
                sa.insert(ShareInstance).values(
                    id=instance_id, share_id=share_id, status="available", host=f"{ALPHA}#pool"
                )
            )

    program.sessions.run(work)


def test_a_start_costs_the_same_however_many_shares_there_are(alpha):
    driver = alpha.drivers["alpha"]
    calls(alpha)
    assert Watch(alpha.runtime, ALPHA, driver).look() is True
    alpha.drain()
    insert_shares(alpha, 1000)
    with recorded(alpha.sessions.engine) as statements:
        assert Watch(alpha.runtime, ALPHA, driver).look() is False
    assert len(statements) == 1
    assert calls(alpha) == []
    assert not alpha.bell.rung


def test_new_exports_are_recorded_and_old_paths_keep_their_ids(alpha, watch):
    """C032: and the preferred path is the one that is configured."""
    share_id = alpha.new_share()
    watch.look()
    alpha.drain()
    before = exports(alpha, share_id)
    change(alpha, "10.9.9.9", "10.254.0.10")
    assert watch.look() is True
    alpha.drain()
    after = exports(alpha, share_id)
    kept = before.keys() & after.keys()
    assert kept
    assert all(before[path]["id"] == after[path]["id"] for path in kept)
    preferred = [path for path, row in after.items() if row["preferred"]]
    assert [path.startswith("10.9.9.9:") for path in preferred] == [True]
    assert not any(after[path]["preferred"] for path in kept)
    assert {path for path in before if path not in after} == {
        path for path, row in before.items() if row["is_admin_only"]
    }


def test_lost_rules_come_back(alpha, watch):
    share_id = alpha.new_share()
    allow(alpha, share_id)
    denied = allow(alpha, share_id, "10.0.0.2")
    assert alpha.act(share_id, "deny_access", {"access_id": denied}).status == 202
    lose_rules(alpha, share_id)
    watch.look()
    # The walk comes first: what was denied meanwhile is not granted again.
    alpha.bell.rung.reverse()
    alpha.drain()
    assert rules_on_backend(alpha, share_id) == ["10.0.0.1"]
    rows = alpha.get(f"/share-access-rules?share_id={share_id}")["access_list"]
    assert [(row["access_to"], row["state"]) for row in rows] == [("10.0.0.1", "active")]


def test_a_rule_that_waits_is_not_taken_away(alpha, watch):
    """Another worker may have applied it a moment ago, without having said so yet."""
    share_id = alpha.new_share()
    body = {"access_type": "ip", "access_to": "10.0.0.7", "access_level": "rw"}
    assert alpha.act(share_id, "allow_access", body).status == 200
    watch.look()
    alpha.bell.rung.rotate(1)
    alpha.consumers[f"share.{ALPHA}"].perform(alpha.bell.rung[0][1])
    assert rules_on_backend(alpha, share_id) == ["10.0.0.7"]
    alpha.drain()
    assert rules_on_backend(alpha, share_id) == ["10.0.0.7"]


def test_rules_that_cannot_be_brought_back_are_in_error(alpha, watch):
    share_id = alpha.new_share()
    allow(alpha, share_id)
    fail(alpha, "apply_access access_to=10.0.0.1")
    watch.look()
    alpha.drain()
    share = alpha.show(share_id)
    assert (share["status"], share["access_rules_status"]) == ("available", "error")
    assert any(message.action_id == "010" for message in alpha.messages(share_id))


def lose_data(program, share_id):
    program.drivers["alpha"].state.remove(SHARES, instance_of(program, share_id))


@pytest.mark.parametrize("shown", [True, False])
def test_a_lost_share_is_in_error_and_its_neighbours_are_not(alpha, watch, shown):
    alpha.conf.set_override("update_shares_status_on_ensure", shown)
    lost, *others = (alpha.new_share() for _ in range(3))
    lose_data(alpha, lost)
    watch.look()
    alpha.drain()
    assert alpha.show(lost)["status"] == "error"
    assert [alpha.show(id)["status"] for id in others] == ["available"] * 2
    (message,) = alpha.messages(lost)
    assert (message.action_id, message.message_level) == ("005", "ERROR")
    assert not any(alpha.messages(id) for id in others)
    assert watch.look() is False, "what there is has been ensured"
    # Nobody is told twice, and the share can be deleted.
    ask(alpha)
    alpha.drain()
    assert len(alpha.messages(lost)) == 1
    assert alpha.delete(f"/shares/{lost}").status == 202
    alpha.drain()
    alpha.check()


def ask(program, host=ALPHA, **kw):
    return program.post("/services/ensure-shares", {"host": host}, **{"as_": ADMIN, **kw})


def test_a_back_end_that_does_not_work_loses_no_share(alpha, watch):
    share_id = alpha.new_share()
    fail(alpha, "ensure", "check")
    watch.look()
    alpha.drain()
    assert alpha.show(share_id)["status"] == "ensuring"
    for _ in range(alpha.conf.intents.max_attempts):
        alpha.make_due()
        alpha.poll()
    assert alpha.show(share_id)["status"] == "available", "as it was"
    assert service(alpha)["ensuring"] is False
    assert stored_hash(alpha) is None
    assert not alpha.messages(share_id)
    fail(alpha)
    assert watch.look() is True, "tried again, because it never succeeded"
    alpha.drain()
    assert stored_hash(alpha) is not None
    alpha.check()


def test_shares_show_that_they_are_ensured(alpha, watch):
    free, busy = alpha.new_share(), alpha.new_share()
    assert alpha.act(busy, "extend", {"new_size": 2}).status == 202
    real = alpha.drivers["alpha"].ensure
    shown = {}

    def seen(ref):
        shown[ref.share_id] = alpha.show(ref.share_id)["status"]
        answer = alpha.act(ref.share_id, "extend", {"new_size": 9})
        shown[ref.share_id, "extend"] = answer.status
        return real(ref)

    alpha.drivers["alpha"].ensure = seen
    watch.look()
    walk = alpha.bell.rung.pop()
    alpha.consumers[walk[0]].perform(walk[1])
    assert shown == {free: "ensuring", (free, "extend"): 400}
    assert alpha.show(free)["status"] == "available"
    assert service(alpha)["ensuring"] is True, "one share is in work and comes later"
    alpha.drain()
    alpha.make_due()
    alpha.poll()
    assert set(shown) >= {free, busy}
    assert service(alpha)["ensuring"] is False
    alpha.check()


def test_an_operator_may_delete_a_share_meanwhile(alpha, watch):
    shares = {alpha.new_share() for _ in range(3)}
    driver = alpha.drivers["alpha"]
    real, gone = driver.ensure, []

    def ensure_and_delete(ref):
        if not gone:
            gone.append(ref.share_id)
            answer = alpha.act(ref.share_id, "force_delete", as_=ADMIN)
            assert answer.status == 202
        return real(ref)

    driver.ensure = ensure_and_delete
    watch.look()
    alpha.drain()
    assert alpha.get(f"/shares/{gone[0]}").status == 404
    assert {alpha.show(id)["status"] for id in shares - {*gone}} == {"available"}
    alpha.check()


def test_statements_of_a_walk(alpha, watch):
    for _ in range(10):
        alpha.new_share()
    watch.look()
    with recorded(alpha.sessions.engine) as statements:
        alpha.drain()
    assert len(statements) <= 8 * 10 + 15


def test_batches(alpha, watch, monkeypatch):
    monkeypatch.setattr(ensure, "BATCH", 2)
    shares = {alpha.new_share() for _ in range(5)}
    calls(alpha)
    watch.look()
    alpha.drain()
    ensured = [id for operation, id in calls(alpha) if operation == "ensure"]
    assert sorted(ensured) == sorted(instance_of(alpha, id) for id in shares)


def test_another_daemon_goes_on_with_the_walk_of_a_killed_one(alpha, watch, monkeypatch):
    monkeypatch.setattr(ensure, "BATCH", 2)
    shares = [alpha.new_share() for _ in range(5)]
    driver = alpha.drivers["alpha"]
    real, done = driver.ensure, []

    class Killed(BaseException):
        pass

    def ensure_some(ref):
        if len(done) == 3:
            raise Killed
        done.append(ref.share_id)
        return real(ref)

    driver.ensure = ensure_some
    watch.look()
    with pytest.raises(Killed):
        alpha.drain()
    assert service(alpha)["ensuring"] is True
    driver.ensure = real
    other = alpha.share_consumer("alpha", owner="other")
    calls(alpha)
    alpha.make_due()
    for intent_id in other.due():
        other.perform(intent_id)
    alpha.drain()
    assert len({id for operation, id in calls(alpha) if operation == "ensure"}) == 3
    assert {alpha.show(id)["status"] for id in shares} == {"available"}
    assert service(alpha)["ensuring"] is False
    alpha.check()


def test_on_demand(alpha, watch):
    share_id = alpha.new_share()
    watch.look()
    alpha.drain()
    calls(alpha)
    assert ask(alpha).status == 202
    assert service(alpha)["ensuring"] is True
    # Asked for twice before it began: it is done once.
    answer = alpha.post("/services/ensure-shares", {"ensure_shares": {"host": ALPHA}}, as_=ADMIN)
    assert answer.status == 202
    alpha.drain()
    assert [id for operation, id in calls(alpha) if operation == "ensure"] == [
        instance_of(alpha, share_id)
    ]
    assert service(alpha)["ensuring"] is False
    assert watch.look() is False


def test_the_preferred_path_moves_when_it_is_asked_for(alpha):
    """C032: to the new gateway, and the paths that are still there keep their ids."""
    path = f"/shares/{alpha.new_share()}/export_locations"
    addresses = alpha.conf["alpha"].dummy_export_addresses
    (old,) = alpha.get(path, version="2.14")["export_locations"]
    assert old["preferred"] is True
    change(alpha, "10.9.9.9", *addresses)
    assert ask(alpha).status == 202
    alpha.drain()
    found = {row["path"]: row for row in alpha.get(path, version="2.14")["export_locations"]}
    kept = found.pop(old["path"])
    assert (kept["id"], kept["preferred"]) == (old["id"], False)
    ((new, row),) = found.items()
    assert new.startswith("10.9.9.9:")
    assert row["preferred"] is True
    assert ask(alpha).status == 202
    alpha.drain()
    again = {row["path"]: row["id"] for row in alpha.get(path)["export_locations"]}
    assert again == {old["path"]: old["id"], new: row["id"]}


def test_refusals(alpha):
    assert ask(alpha, as_=MEMBER).status == 403
    assert ask(alpha, version="2.85").status == 404
    assert ask(alpha, host="nobody").status == 404
    assert ask(alpha, host=f"{ALPHA}#pool").status == 404
    for body in ({}, {"host": 3}, {"host": ALPHA, "more": 1}, {"ensure_shares": None}):
        answer = alpha.post("/services/ensure-shares", body, as_=ADMIN)
        assert answer.status == 400, body
    alpha.write(sa.update(Service).where(Service.host == ALPHA).values(state="down"))
    assert ask(alpha).status == 409
    assert not alpha.bell.rung


def test_a_walk_that_nobody_takes_ends(alpha):
    share_id = alpha.new_share()
    ask(alpha)
    (intent_id,) = alpha.scalars(
        sa.select(Intent.id).where(Intent.kind == "backend.ensure", Intent.state == "open")
    )
    assert reaper.give_up(alpha.runtime, intent_id)
    assert service(alpha)["ensuring"] is False
    assert alpha.show(share_id)["status"] == "available"


def test_two_daemons_with_different_options_do_not_take_turns(alpha):
    alpha.new_share()
    driver = alpha.drivers["alpha"]
    old, new = (Watch(alpha.runtime, ALPHA, driver) for _ in range(2))
    assert old.look() is True
    alpha.drain()
    assert old.look() is False

    def as_new(look):
        alpha.conf.set_override("share_backend_name", "NEW", "alpha")
        try:
            return look()
        finally:
            alpha.conf.clear_override("share_backend_name", "alpha")

    assert as_new(new.look) is True
    alpha.drain()
    assert [old.look(), as_new(new.look), old.look()] == [False, False, False]


def test_shares_of_a_similar_name_are_left_alone(alpha, watch):
    names = (f"{HOST}@alpha2#pool", f"{HOST}@Alpha#pool", f"{HOST}@alphax", "xnode@alpha#pool")

    def work(session):
        for host in names:
            share_id = new_id()
            session.execute(
                sa.insert(Share).values(
                    id=share_id, project_id="p", size=1, share_proto="NFS", status="available",
                    host=host, is_charged=False,
                )
            )  # fmt: skip
            session.execute(
                sa.insert(ShareInstance).values(share_id=share_id, status="available", host=host)
            )

    alpha.sessions.run(work)
    calls(alpha)
    watch.look()
    alpha.drain()
    assert calls(alpha) == []


def test_what_is_no_export_of_an_instance_stays(alpha, watch):
    one, two = alpha.new_share(), alpha.new_share()
    change(alpha, "10.7.7.7")
    watch.look()
    alpha.drain()
    rows = alpha.scalars(sa.select(ExportLocation))
    assert len(rows) == 4
    assert set(exports(alpha, one)).isdisjoint(exports(alpha, two))


def test_a_service_that_is_down_is_served_when_it_comes_back(alpha, watch):
    """The intent waits for a daemon; a restart of one does not need another."""
    share_id = alpha.new_share()
    ask(alpha)
    alpha.bell.rung.clear()
    alpha.sessions.run(lambda session: services.mark_down(session, -1))
    alpha.poll()
    assert alpha.show(share_id)["status"] == "available"
    assert service(alpha)["ensuring"] is False
