"""Every change is announced: what a daemon does, and what a request changes at once."""

from __future__ import annotations

import json

import examples
import pytest
import things_at_hand
from inprocess import ADMIN, HOST, MEMBER, PROJECT, STRANGER
from oslo_db.exception import DBDeadlock

from fileshare.api import policy
from fileshare.db import shares
from fileshare.domain.hosts import parse
from fileshare.domain.notices import Phase
from fileshare.drivers.dummy.driver import USED
from fileshare.drivers.dummy.state import SHARES
from fileshare.intents.rounds import always
from fileshare.share import usage
from fileshare.share.service import ShareDaemon
from fileshare.share.usage import gather

READS = {"shares.action.access_list"}
CHANGES = [op for op in policy.all_operations() if op.method != "GET" and op.id not in READS]

# Beyond what a schema asks for; the name of a collection stands for the id of what is there.
GIVEN = {
    "quota_sets.update": {"shares": 9},
    "resource_locks.create": {"resource_id": "shares"},
    "services.update": {"binary": "manila-share"},
    "share_types.action.removeProjectAccess": {"project": PROJECT},
    "share_types.create": {"extra_specs": {"driver_handles_share_servers": "False"}},
    "share_types.update": {"name": "another"},
    "shares.action.allow_access": {"access_to": "10.1.1.1"},
    "shares.action.deny_access": {"access_id": "share-access-rules"},
    "shares.action.shrink": {"new_size": 1},
    "shares.create": {"share_type": "default"},
}
# Collectors of the peer match on these payloads, which hold the type alone;
# group types are told of in the same way.
AS_IN_THE_PEER = ("share_type.", "share_type_extra_specs.")
AS_IN_THE_PEER += ("share_group_type.", "share_group_type_specs.")
FIRST = {
    "shares.action.restore": ("soft_delete", None),
    "shares.action.shrink": ("extend", {"new_size": 2}),
}


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    with things_at_hand.lasting_program(tmp_path_factory.mktemp("notices")) as made:
        made.listen()
        yield made, things_at_hand.Things(made)


def changed(program, operation, ids, as_=ADMIN):
    version = operation.span.last
    path = operation.path
    variables = things_at_hand.values_of(path, ids)
    for name, value in variables.items():
        path = path.replace(f"{{{name}}}", value)
    given = GIVEN.get(operation.id.removesuffix(".legacy"), {})
    given = {name: ids.get(v, v) if isinstance(v, str) else v for name, v in given.items()}
    body = examples.body(operation, version, variables, **given)
    headers = {"X-OpenStack-Manila-API-Experimental": "true"}
    return program.ask(
        operation.method, path, body, version=str(version), as_=as_, headers=headers
    )


def prepare(program, operation, ids):
    if operation.path.startswith(("/shares", "/share_instances")):
        assert program.delete(f"/resource-locks/{ids['resource-locks']}").status == 204
    if operation.id in FIRST:
        assert program.act(ids["shares"], *FIRST[operation.id]).status == 202
    program.drain()


def phases(events):
    """What has begun, and what has ended, well or not."""
    words = [event.rpartition(".") for event in events]
    begun = sorted(what for what, _, phase in words if phase == Phase.START)
    return begun, sorted(what for what, _, phase in words if phase in (Phase.END, Phase.ERROR))


@pytest.mark.parametrize("operation", CHANGES, ids=lambda operation: operation.id)
def test_every_change_is_announced_once(lasting, operation):
    """C149, C183: every route that changes anything, with who asked and nothing secret."""
    program, things = lasting
    ids = things.all()
    prepare(program, operation, ids)
    heard = program.listener.heard
    heard.clear()
    answer = changed(program, operation, ids)
    assert answer.status < 300, answer.body
    program.drain()
    events = [notice.event for notice in heard]
    assert events
    assert len(set(events)) == len(events)
    request_id = answer.headers["x-compute-request-id"]
    assert answer.headers["x-openstack-request-id"] == request_id
    begun, ended = phases(events)
    assert begun == ended
    assert {notice.request_id for notice in heard} == {request_id}
    for notice in heard:
        assert notice.user_id
        assert notice.project_id
        told = json.dumps(dict(notice.payload))
        assert json.loads(told)
        for secret in (ADMIN, "access_key", "password"):
            assert secret not in told
        if not notice.event.startswith(AS_IN_THE_PEER):
            assert notice.payload["request_id"] == request_id
            assert notice.payload["payload_version"] == "1.0"


@pytest.fixture
def heard(program):
    return program.listen()


def test_a_change_of_a_share_says_what_all_its_events_say(program, heard):
    share = program.new_share(name="old")
    heard.clear()
    values = {"display_name": "new", "display_description": "said"}
    assert program.put(f"/shares/{share}", {"share": values}, as_=ADMIN).status == 200
    (notice,) = heard
    assert (notice.event, notice.publisher, notice.priority) == (
        "share.update",
        "api.node",
        "info",
    )
    assert notice.project_id == PROJECT
    facts = {"share_id": share, "project_id": PROJECT, "user_id": "alice", "name": "new"}
    facts |= {"changed": ["display_description", "display_name"], "size": 1, "proto": "NFS"}
    assert facts.items() <= notice.payload.items()


def test_what_is_refused_or_changes_nothing_is_no_news(program, heard):
    share = program.new_share()
    heard.clear()
    assert program.put(f"/shares/{share}", {"share": {}}, as_=STRANGER).status == 404
    assert program.act(share, "reset_status", {"status": "error"}).status == 403
    assert program.act(share, "reset_status", {"status": "x"}, as_=ADMIN).status == 400
    assert program.act(share, "restore", as_=MEMBER).status == 200
    assert program.delete(f"/shares/{share}/metadata/absent").status == 404
    assert heard == []


def test_a_change_whose_transaction_starts_over_is_told_once(program, heard, monkeypatch):
    share = program.new_share()
    heard.clear()
    update, failures = shares.update, iter([DBDeadlock()])

    def deadlock(*given):
        update(*given)
        for failure in failures:
            raise failure

    monkeypatch.setattr(shares, "update", deadlock)
    assert program.put(f"/shares/{share}", {"share": {"display_name": "n"}}).status == 200
    assert [notice.event for notice in heard] == ["share.update"]


def test_the_metadata_of_a_hidden_rule_tells_nothing_of_its_client(program, heard):
    share = program.new_share()
    rule = {"access_type": "ip", "access_to": "10.9.8.7", "lock_visibility": True}
    access = program.act(share, "allow_access", rule)["access"]["id"]
    program.drain()
    pair = {"metadata": {"k": "v"}}
    assert program.put(f"/share-access-rules/{access}/metadata", pair).status == 200
    assert heard[-1].event == "access_metadata.update"
    assert heard[-1].payload["access_id"] == access
    assert "10.9.8.7" not in str(heard)


def told_of(program, names=("alpha", "beta")):
    heard = program.listen()
    heard.clear()
    found = sum(gather(program.runtime, f"{HOST}@{name}", program.drivers[name]) for name in names)
    assert found == len(heard)
    return {notice.payload["share_id"]: notice for notice in heard}


def test_what_shares_hold_is_told(program, monkeypatch):
    monkeypatch.setattr(usage, "BATCH", 2)
    shares = [program.new_share(size=3) for _each in range(5)]
    failed = program.new_share()
    assert program.act(failed, "reset_status", {"status": "error"}, as_=ADMIN).status == 202
    instance = program.read_share(shares[0]).instance
    driver = program.drivers[parse(instance.host).backend]
    record = driver.state.read(SHARES, instance.id)
    driver.state.write(SHARES, instance.id, {**record, USED: 2})
    told = told_of(program)
    assert set(told) == set(shares)
    notice = told[shares[0]]
    assert (notice.event, notice.publisher) == (
        "share.consumed.size",
        f"share.{driver_host(instance)}",
    )
    facts = {"used_size": 2.0, "size": 3, "project_id": PROJECT, "share_instance_id": instance.id}
    assert facts.items() <= notice.payload.items()
    assert notice.payload["gathered_at"]
    assert {told[share].payload["used_size"] for share in shares[1:]} == {0.0}
    program.listener.is_on = False
    assert gather(program.runtime, f"{HOST}@alpha", program.drivers["alpha"]) == 0


def driver_host(instance):
    return instance.host.partition("#")[0]


@pytest.mark.parametrize("wanted", [True, False])
def test_a_daemon_asks_where_that_is_wanted(program, heard, wanted):
    program.new_share()
    program.conf.set_override("enable_gathering_share_usage_size", wanted)
    heard.clear()
    for name in program.drivers:
        daemon = ShareDaemon(program.runtime, name, "test")
        (task,) = (each for each in daemon.daemon.periodics if each.name == "gather usage")
        assert task.seconds == 300
        task.action(always)
        (program.state / name / "control.json").write_text(json.dumps({"fail": ["used"]}))
        task.action(always)
    assert [notice.event for notice in heard] == ["share.consumed.size"] * wanted
