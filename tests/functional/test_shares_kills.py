"""Work that dies at any point is done again, and all is as if it had not died."""

from __future__ import annotations

import contextlib

import pytest
from inprocess import ADMIN

from fileshare.intents.failpoints import Injected

SIZE = 5
EVERYWHERE = ("claimed", "recording", "recorded")
AT_A_DRIVER = ("claimed", "driver.before", "driver.after", "recording", "recorded")

CASES = [
    *(("share.place", point) for point in (*EVERYWHERE, "rung")),
    *(("share.create", point) for point in AT_A_DRIVER),
    *(("share.extend_check", point) for point in (*EVERYWHERE, "rung")),
    *(("share.extend", point) for point in AT_A_DRIVER),
    *(("share.shrink", point) for point in AT_A_DRIVER),
    *(("share.delete", point) for point in AT_A_DRIVER),
    *(("share.deferred_delete", point) for point in AT_A_DRIVER),
    *(("share.force_delete", point) for point in AT_A_DRIVER),
    *(("access.sync", point) for point in AT_A_DRIVER),
]
ACTIONS = {
    "share.extend_check": ("extend", {"new_size": 9}),
    "share.extend": ("extend", {"new_size": 9}),
    "share.shrink": ("shrink", {"new_size": 2}),
    "share.force_delete": ("force_delete", None),
    "access.sync": ("allow_access", {"access_type": "ip", "access_to": "10.0.0.1"}),
}
DELETIONS = {"share.delete", "share.deferred_delete"}
GONE = {*DELETIONS, "share.force_delete"}


def ask(program, kind):
    """Make the request that the work of *kind* comes from; the share's id."""
    if kind in {"share.place", "share.create"}:
        return program.new_share(size=SIZE, drain=False)
    share_id = program.new_share(size=SIZE)
    if kind in DELETIONS:
        program.conf.set_override("is_deferred_deletion_enabled", kind != "share.delete")
        assert program.delete(f"/shares/{share_id}").status == 202
    else:
        action, value = ACTIONS[kind]
        assert program.act(share_id, action, value, as_=ADMIN).status in {200, 202}
    return share_id


def work(program):
    """Let the daemons work until they are done or killed; whether they were killed."""
    try:
        program.drain()
    except Injected:
        program.bell.rung.clear()  # a ring that nobody hears any more
        return True
    return False


def settled(program, kind, share_id):
    """Whether the share is as the request wanted it."""
    if kind in GONE:
        assert program.get(f"/shares/{share_id}").status == 404
        return
    shown = program.show(share_id)
    sizes = {"share.extend": 9, "share.extend_check": 9, "share.shrink": 2}
    assert (shown["status"], shown["size"]) == ("available", sizes.get(kind, SIZE))
    assert shown["access_rules_status"] == "active"
    if kind == "access.sync":
        (rule,) = program.get(f"/share-access-rules?share_id={share_id}")["access_list"]
        assert rule["state"] == "active"
    assert program.get(f"/shares/{share_id}/export_locations")["export_locations"]


@pytest.mark.parametrize(("kind", "point"), CASES)
def test_work_that_is_killed_is_done_again(program, monkeypatch, kind, point):
    share_id = ask(program, kind)
    monkeypatch.setenv("FILESHARE_FAILPOINTS", f"{point}@{kind}=raise")
    assert work(program)
    monkeypatch.delenv("FILESHARE_FAILPOINTS")
    program.make_due()
    program.poll()
    settled(program, kind, share_id)
    assert program.messages(share_id) == []
    program.check()


@pytest.mark.parametrize("kind", dict.fromkeys(kind for kind, _ in CASES))
def test_work_that_always_dies_is_given_up(program, monkeypatch, kind):
    share_id = ask(program, kind)
    monkeypatch.setenv("FILESHARE_FAILPOINTS", f"claimed@{kind}=raise")
    for _ in range(program.conf.intents.max_attempts):
        assert work(program)
        program.make_due()
        program.bell.rung.extend(due(program))
    monkeypatch.delenv("FILESHARE_FAILPOINTS")
    program.make_due()
    program.poll()
    program.books()
    if kind == "share.force_delete":
        assert program.get(f"/shares/{share_id}").status == 404
        return
    shown = program.show(share_id)
    failed = {
        "share.place": "error",
        "share.create": "error",
        "share.extend_check": "available",  # no back end was asked
        "share.extend": "extending_error",
        "share.shrink": "shrinking_error",
        "share.delete": "error_deleting",
        "share.deferred_delete": "error_deferred_deleting",
        "access.sync": "available",
    }
    assert (shown["status"], shown["size"]) == (failed[kind], SIZE)
    if kind == "access.sync":
        assert shown["access_rules_status"] == "error"
    (message,) = program.messages(share_id)
    assert message.detail_id == "001"


def due(program):
    return [
        (destination, intent_id)
        for destination, consumer in program.consumers.items()
        for intent_id in consumer.due()
    ]


@pytest.mark.parametrize("point", ["claimed", "driver.before", "recording", "recorded"])
def test_a_share_is_deleted_by_force_while_its_worker_is_dead(program, monkeypatch, point):
    share_id = ask(program, "share.create")
    monkeypatch.setenv("FILESHARE_FAILPOINTS", f"{point}@share.create=raise")
    assert work(program)
    monkeypatch.delenv("FILESHARE_FAILPOINTS")
    assert program.act(share_id, "force_delete", as_=ADMIN).status == 202
    program.drain()
    program.make_due()
    program.poll()
    assert program.get(f"/shares/{share_id}").status == 404
    program.check()


def test_a_worker_that_slept_writes_nothing(program, monkeypatch):
    """Its claim went to another one, which has finished."""
    share_id = program.new_share(size=SIZE)
    program.act(share_id, "extend", {"new_size": 9})
    destination, intent_id = program.bell.rung[0]
    program.consumers[destination].perform(intent_id)  # the check, which hands on
    destination, intent_id = program.bell.rung[-1]
    name = destination.rpartition("@")[2]
    driver = program.drivers[name]
    extend = driver.extend

    def sleeping(share, size):
        driver.extend = extend
        program.make_due()
        program.share_consumer(name, "other").perform(intent_id)
        extend(share, size)

    # The lock on the instance would keep the other one waiting: it is the sleeper's no more.
    driver.extend = sleeping
    consumer = program.consumers[destination]
    monkeypatch.setattr(program.runtime.locks, "lock", lambda _name: contextlib.nullcontext())
    assert consumer.perform(intent_id) is False
    program.bell.rung.clear()
    shown = program.show(share_id)
    assert (shown["status"], shown["size"]) == ("available", 9)
    program.check()
