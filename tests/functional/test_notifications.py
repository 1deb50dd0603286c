"""What billing and monitoring hear of shares: each verb's start and its end or error, once."""

from __future__ import annotations

import collections
import datetime as dt
import json

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER, PROJECT, STRANGER

from fileshare.db import models
from fileshare.domain.lifecycle import SHARE
from fileshare.intents import reaper

BASE = {
    "share_id",
    "user_id",
    "project_id",
    "snapshot_id",
    "share_group_id",
    "size",
    "name",
    "description",
    "proto",
    "is_public",
    "availability_zone",
    "host",
    "status",
    "share_type_id",
    "share_type",
}
ADDED = {"request_id", "payload_version"}


@pytest.fixture
def heard(program):
    return program.listen()


def order(program, *failures, names=("alpha", "beta")):
    """Let back ends fail as told; without failures, no more."""
    for name in names:
        control = program.state / name / "control.json"
        control.write_text(json.dumps({"fail": failures}))


def leave(program, free):
    """Let every pool report that so much is free."""
    news = models.PoolReport.report_seq + 1
    values = {"total_gb": 1000.0, "free_gb": float(free), "thin": False, "report_seq": news}
    program.write(sa.update(models.PoolReport).values(**values))


def events(heard):
    return [notice.event for notice in heard]


def allow(program, share_id, to, **more):
    rule = {"access_type": "ip", "access_to": to, "access_level": "rw", **more}
    answer = program.act(share_id, "allow_access", rule)
    assert answer.status == 200, answer.body
    return answer["access"]["id"]


def deny(program, share_id, access_id):
    assert program.act(share_id, "deny_access", {"access_id": access_id}).status == 202


def turn(program, times=20):
    for _turn in range(times):
        program.make_due()
        program.poll()


def test_a_creation_is_told_with_all_facts_of_the_share(program, heard):
    share_id = program.new_share(name="data", description="mine", metadata={"k": "v"})
    share = program.show(share_id)
    start, end = heard
    assert (start.event, end.event) == ("share.create.start", "share.create.end")
    backend = share["host"].partition("#")[0]
    for notice in heard:
        assert set(notice.payload) == BASE | ADDED
        assert notice.publisher == f"share.{backend}"
        assert notice.priority == "info"
        assert (notice.project_id, notice.user_id) == (PROJECT, "alice")
        assert notice.request_id == notice.payload["request_id"]
        assert notice.request_id.startswith("req-")
    assert start.payload["status"] == "creating"
    facts = {key: end.payload[key] for key in BASE}
    assert facts == {
        "share_id": share_id,
        "user_id": "alice",
        "project_id": PROJECT,
        "snapshot_id": None,
        "share_group_id": None,
        "size": 1,
        "name": "data",
        "description": "mine",
        "proto": "NFS",
        "is_public": False,
        "availability_zone": share["availability_zone"],
        "host": share["host"],
        "status": "available",
        "share_type_id": share["share_type"],
        "share_type": "default",
    }


VERBS = {
    "extend": ({"new_size": 3}, 1, 3),
    "shrink": ({"new_size": 1}, 3, 1),
}


@pytest.mark.parametrize("verb", VERBS)
def test_resizing_is_told_with_the_size_before_and_after(program, heard, verb):
    value, before, after = VERBS[verb]
    share_id = program.new_share(size=before)
    heard.clear()
    program.act(share_id, verb, value)
    program.drain()
    assert events(heard) == [f"share.{verb}.start", f"share.{verb}.end"]
    assert [notice.payload["size"] for notice in heard] == [before, after]
    assert [notice.payload["status"] for notice in heard] == [SHARE[verb].during, "available"]


@pytest.mark.parametrize("verb", ["extend", "shrink"])
def test_a_resizing_that_fails_is_told_once_with_its_reason(program, heard, verb):
    share_id = program.new_share(size=2)
    heard.clear()
    order(program, verb, "resize")
    program.act(share_id, verb, {"new_size": 3 if verb == "extend" else 1})
    program.drain()
    turn(program, 2)
    start, error = heard
    assert (start.event, error.event) == (f"share.{verb}.start", f"share.{verb}.error")
    assert (start.priority, error.priority) == ("info", "error")
    assert set(error.payload) == BASE | ADDED | {"reason"}
    assert "Told to fail" in error.payload["reason"]
    assert error.payload["size"] == 2


@pytest.mark.parametrize("forced", [False, True])
def test_a_deletion_is_told_as_such_forced_or_not(program, heard, forced):
    share_id = program.new_share()
    heard.clear()
    if forced:
        order(program, "delete")
        program.act(share_id, "force_delete", as_=ADMIN)
    else:
        program.delete(f"/shares/{share_id}")
    program.drain()
    start, end = heard
    assert (start.event, end.event) == ("share.delete.start", "share.delete.end")
    assert (start.payload["status"], end.payload["status"]) == ("deleting", "deleted")
    assert end.payload["share_id"] == share_id
    assert end.payload["host"].startswith(f"{HOST}@")


def test_a_share_that_no_back_end_held_is_told_of_too(program, heard):
    order(program, "create")
    share_id = program.new_share()
    heard.clear()
    program.delete(f"/shares/{share_id}")
    assert events(heard) == ["share.delete.start", "share.delete.end"]
    assert {notice.publisher for notice in heard} == {f"api.{HOST}"}


def test_a_share_without_room_has_a_start_an_error_and_the_scheduler_s_word(program, heard):
    leave(program, 10)
    share_id = program.new_share(size=500)
    start, error, refusal = heard
    assert (start.event, error.event) == ("share.create.start", "share.create.error")
    assert refusal.event == "scheduler.create_share"
    assert {notice.publisher for notice in heard} == {f"scheduler.{HOST}"}
    assert refusal.priority == error.priority == "error"
    payload = refusal.payload
    assert set(payload) - ADDED == {
        "request_spec",
        "share_properties",
        "share_id",
        "state",
        "method",
        "reason",
    }
    assert payload["share_id"] == payload["share_properties"]["share_id"] == share_id
    assert payload["share_properties"]["size"] == 500
    assert payload["state"] == {"status": "error"}
    assert payload["method"] == "create_share"
    assert payload["reason"]
    assert error.payload["host"] is None


def test_an_extension_without_room_is_told_by_the_scheduler(program, heard):
    share_id = program.new_share()
    heard.clear()
    leave(program, 10)
    program.act(share_id, "extend", {"new_size": 500})
    program.drain()
    names = ["share.extend.start", "share.extend.error", "scheduler.extend_share"]
    assert events(heard) == names
    assert heard[1].payload["status"] == "available"
    assert heard[2].payload["share_id"] == share_id


def test_another_pool_is_no_other_creation(program, heard):
    """The back end that cannot make it and the one that can are parts of one story."""
    order(program, "create", names=["alpha"])
    for _share in range(4):
        program.new_share()
    starts = collections.Counter(
        notice.payload["share_id"] for notice in heard if notice.event.endswith(".start")
    )
    assert set(starts.values()) == {1}
    assert collections.Counter(events(heard)) == {
        "share.create.start": 4,
        "share.create.end": 4,
    }


def test_work_that_is_tried_again_starts_once(program, heard):
    order(program, "create error=busy times=3")
    share_id = program.new_share(drain=False)
    turn(program)
    assert program.show(share_id)["status"] == "available"
    assert events(heard) == ["share.create.start", "share.create.end"]


def test_doubled_and_late_rings_are_no_news(program, heard):
    share_id = program.new_share(drain=False)
    program.bell.rung.extend(list(program.bell.rung) * 3)
    program.drain()
    turn(program, 2)
    assert events(heard) == ["share.create.start", "share.create.end"]
    heard.clear()
    program.delete(f"/shares/{share_id}")
    program.bell.rung.extend(list(program.bell.rung) * 3)
    program.drain()
    assert events(heard) == ["share.delete.start", "share.delete.end"]


def test_a_worker_that_takes_over_tells_the_end_only(program, heard, monkeypatch):
    """The first one dies in the driver, after it said that the work starts."""
    share_id = program.new_share(drain=False)
    create = type(program.drivers["alpha"]).create

    class KilledError(BaseException):
        pass

    def die(_driver, _share):
        raise KilledError

    monkeypatch.setattr(type(program.drivers["alpha"]), "create", die)
    with pytest.raises(KilledError):
        program.drain()
    monkeypatch.setattr(type(program.drivers["alpha"]), "create", create)
    assert events(heard) == ["share.create.start"]
    turn(program, 3)
    assert program.show(share_id)["status"] == "available"
    assert events(heard) == ["share.create.start", "share.create.end"]


def test_what_is_superseded_ends_in_an_error(program, heard):
    share_id = program.new_share()
    heard.clear()
    program.act(share_id, "extend", {"new_size": 2})
    program.act(share_id, "force_delete", as_=ADMIN)
    program.drain()
    assert events(heard) == [
        "share.extend.start",
        "share.extend.error",
        "share.delete.start",
        "share.delete.end",
    ]
    assert heard[1].payload["reason"] == "superseded by force_delete"


def test_what_is_given_up_ends_in_an_error(program, heard):
    share_id = program.new_share(drain=False)
    (_destination, intent_id) = program.bell.rung.popleft()
    assert reaper.give_up(program.runtime, intent_id)
    assert not reaper.give_up(program.runtime, intent_id)
    assert events(heard)[:2] == ["share.create.start", "share.create.error"]
    assert {notice.payload["share_id"] for notice in heard} == {share_id}


def test_a_forced_deletion_that_is_given_up_is_a_deletion(program, heard):
    share_id = program.new_share()
    heard.clear()
    program.act(share_id, "force_delete", as_=ADMIN)
    (_destination, intent_id) = program.bell.rung.popleft()
    assert reaper.give_up(program.runtime, intent_id)
    assert events(heard) == ["share.delete.start", "share.delete.end"]
    assert heard[1].payload["status"] == "deleted"


def test_a_refused_request_is_no_news(program, heard):
    share_id = program.new_share()
    heard.clear()
    assert program.post("/shares", {"share": {"size": 0}}).status == 400
    assert program.act(share_id, "shrink", {"new_size": 9}).status == 400
    assert program.delete(f"/shares/{share_id}", as_=STRANGER).status == 404
    program.drain()
    assert heard == []


# -- access rules ------------------------------------------------------------------------------


def rule_events(heard):
    return sorted((notice.event, notice.payload["access_id"]) for notice in heard)


def test_each_rule_is_told_of(program, heard):
    share_id = program.new_share()
    heard.clear()
    one, two = allow(program, share_id, "10.0.0.1"), allow(program, share_id, "10.0.0.2")
    program.drain()
    assert rule_events(heard) == sorted(
        (f"access.allow.{phase}", id) for id in (one, two) for phase in ("start", "end")
    )
    (end,) = (n for n in heard if n.event == "access.allow.end" and n.payload["access_id"] == one)
    assert set(end.payload) - BASE - ADDED == {
        "access_id",
        "access_type",
        "access_to",
        "access_level",
        "share_instance_id",
    }
    assert end.publisher == f"share.{end.payload['host'].partition('#')[0]}"
    assert (end.payload["access_to"], end.payload["access_level"]) == ("10.0.0.1", "rw")
    assert end.payload["share_id"] == share_id
    heard.clear()
    deny(program, share_id, one)
    program.drain()
    assert events(heard) == ["access.deny.start", "access.deny.end"]
    assert {notice.payload["access_id"] for notice in heard} == {one}


def test_a_level_that_changes_is_told_of(program, heard):
    share_id = program.new_share()
    access_id = allow(program, share_id, "10.0.0.1")
    program.drain()
    heard.clear()
    body = {"update_access": {"access_level": "ro"}}
    assert program.put(f"/share-access-rules/{access_id}", body).status == 200
    program.drain()
    assert events(heard) == ["access.update.start", "access.update.end"]
    assert heard[1].payload["access_level"] == "ro"


def test_a_bad_rule_is_an_error_and_its_neighbour_none(program, heard):
    share_id = program.new_share()
    heard.clear()
    order(program, "apply_access access_to=10.0.0.66")
    good, bad = allow(program, share_id, "10.0.0.1"), allow(program, share_id, "10.0.0.66")
    program.drain()
    told = rule_events(heard)
    assert ("access.allow.end", good) in told
    assert ("access.allow.error", bad) in told
    assert len(told) == 4
    (error,) = (notice for notice in heard if notice.priority == "error")
    assert "10.0.0.66" in error.payload["reason"]
    heard.clear()
    allow(program, share_id, "10.0.0.2")
    program.drain()
    assert events(heard) == ["access.allow.start", "access.allow.end"]  # not of the bad one again


def test_a_back_end_that_refuses_all_is_an_error_of_each_rule(program, heard):
    share_id = program.new_share()
    heard.clear()
    order(program, "apply_access")
    ids = [allow(program, share_id, f"10.0.0.{number}") for number in (1, 2)]
    program.drain()
    assert rule_events(heard) == sorted(
        (f"access.allow.{phase}", id) for id in ids for phase in ("start", "error")
    )


def test_rules_that_are_tried_again_start_once(program, heard):
    share_id = program.new_share()
    heard.clear()
    order(program, "apply_access error=busy times=2")
    allow(program, share_id, "10.0.0.1")
    turn(program)
    assert events(heard) == ["access.allow.start", "access.allow.end"]


def test_a_rule_that_comes_while_others_are_applied_has_its_start(program, heard):
    share_id = program.new_share()
    heard.clear()
    late = []
    for driver in program.drivers.values():
        apply = driver.apply_access

        def interrupted(*args, apply=apply):
            if not late:
                late.append(allow(program, share_id, "10.0.0.2"))
            return apply(*args)

        driver.apply_access = interrupted
    first = allow(program, share_id, "10.0.0.1")
    program.drain()
    assert rule_events(heard) == sorted(
        (f"access.allow.{phase}", id) for id in (first, *late) for phase in ("start", "end")
    )


# -- secrets -----------------------------------------------------------------------------------


def test_no_key_and_no_hidden_client_is_told(program, heard):
    share_id = program.new_share()
    lock = {"lock_visibility": True}
    allow(program, share_id, "10.77.77.77", **lock)
    program.drain()
    order(program, "apply_access access_to=10.88.88.88")
    allow(program, share_id, "10.88.88.88", **lock)
    program.drain()
    assert "access.allow.error" in events(heard)
    everything = json.dumps([dict(notice.payload) for notice in heard])
    assert "10.77.77.77" not in everything
    assert "10.88.88.88" not in everything
    assert "access_key" not in everything
    assert MEMBER not in everything  # the token


def test_payloads_are_plain_json(program, heard):
    share_id = program.new_share()
    leave(program, 10)
    program.new_share(size=500)
    allow(program, share_id, "10.0.0.1")
    program.drain()
    program.delete(f"/shares/{share_id}")
    program.drain()
    assert len(heard) > 8
    for notice in heard:
        assert json.loads(json.dumps(dict(notice.payload))) == dict(notice.payload)
        assert not any(isinstance(value, dt.datetime) for value in notice.payload.values())


def test_nothing_is_read_where_nobody_listens(program, monkeypatch):
    """Payloads cost statements; a cloud without listeners does not pay for them."""
    from fileshare.db import usage

    def refuse(*_args):
        raise AssertionError("nobody listens")

    monkeypatch.setattr(usage, "of_share", refuse)
    monkeypatch.setattr(usage, "of_rules", refuse)
    share_id = program.new_share()
    allow(program, share_id, "10.0.0.1")
    program.drain()
    program.delete(f"/shares/{share_id}")
    program.drain()
    assert program.listener.heard == []
