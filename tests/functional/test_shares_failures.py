"""Back ends that fail: statuses, messages, and books that stay right."""

from __future__ import annotations

import json

import pytest
from inprocess import ADMIN, PROJECT
from refusals import limits, refused

from fileshare.domain.quotas import PROJECT as OF_PROJECT

BACKENDS = ("alpha", "beta")


def tell(program, *failures):
    """Let every back end fail at what is said; at nothing: they work again."""
    for name in BACKENDS:
        control = program.state / name / "control.json"
        control.write_text(json.dumps({"fail": failures}))


def booked(program):
    """What the project's books say of shares and gigabytes."""
    books = program.books()
    return tuple(books.get((PROJECT, OF_PROJECT, name), 0) for name in ("shares", "gigabytes"))


def told(program, share_id):
    return sorted((message.action_id, message.detail_id) for message in program.messages(share_id))


def again_and_again(program, turns=20):
    """Let time pass until all work that waits has been tried as often as it may be."""
    for _ in range(turns):
        program.make_due()
        program.poll()


@pytest.mark.parametrize("how", ["create", "create when=after", "create error=differently"])
def test_a_share_that_cannot_be_made(program, how):
    tell(program, how)
    share_id = program.new_share(size=3)
    shown = program.show(share_id)
    assert (shown["status"], shown["host"], shown["progress"]) == ("error", None, "0%")
    assert booked(program) == (0, 0)
    assert told(program, share_id) == [("001", "011")]
    (message,) = program.get("/messages")["messages"]
    assert "No storage could be allocated for this share request" in message["user_message"]
    assert program.on_backends() == {}
    for action in ({"extend": {"new_size": 9}}, {"shrink": {"new_size": 1}}):
        refused(program.post(f"/shares/{share_id}/action", action), 400)
    assert program.delete(f"/shares/{share_id}").status == 202
    assert program.get(f"/shares/{share_id}").status == 404
    assert booked(program) == (0, 0)
    program.check()


def test_a_share_of_an_impossible_type(program):
    program.share_type("impossible", storage_protocol="carrier pigeon")
    share_id = program.new_share(share_type="impossible")
    assert program.show(share_id)["status"] == "error"
    assert (booked(program), told(program, share_id)) == ((0, 0), [("001", "008")])


@pytest.mark.parametrize(
    ("verb", "size", "how", "status", "message"),
    [
        ("extend", 9, "extend", "extending_error", ("008", "015")),
        ("extend", 9, "extend when=after", "extending_error", ("008", "015")),
        ("shrink", 2, "shrink", "shrinking_error", ("009", "001")),
        ("shrink", 2, "shrink when=after", "shrinking_error", ("009", "001")),
        ("shrink", 2, "shrink error=shrink", "available", ("009", "018")),
    ],
)
def test_a_share_that_cannot_change_its_size(program, verb, size, how, status, message):
    share_id = program.new_share(size=5)
    tell(program, how)
    assert program.act(share_id, verb, {"new_size": size}).status == 202
    program.drain()
    shown = program.show(share_id)
    assert (shown["status"], shown["size"]) == (status, 5)
    assert booked(program) == (1, 5)
    assert told(program, share_id) == [message]
    tell(program)
    if status != "available":
        refused(program.act(share_id, verb, {"new_size": size}), 400)
        body = {"status": "available"}
        assert program.act(share_id, "reset_status", body, as_=ADMIN).status == 202
    assert program.act(share_id, verb, {"new_size": size}).status == 202
    program.drain()
    shown = program.show(share_id)
    assert (shown["status"], shown["size"]) == ("available", size)
    assert booked(program) == (1, size)
    program.check()


def ask(program, verb, share_id):
    """Ask for work on a share of 5 GiB."""
    if verb == "delete":
        answer = program.delete(f"/shares/{share_id}")
    else:
        answer = program.act(share_id, verb, {"new_size": 9 if verb == "extend" else 2})
    assert answer.status == 202, answer.body


@pytest.mark.parametrize("verb", ["extend", "shrink", "delete"])
def test_a_back_end_that_stays_busy(program, verb):
    """It is asked again, and in the end the work is given up."""
    share_id = program.new_share(size=5)
    tell(program, f"{verb} error=busy")
    ask(program, verb, share_id)
    program.drain()
    during = {"extend": "extending", "shrink": "shrinking", "delete": "deleting"}[verb]
    assert program.show(share_id)["status"] == during
    again_and_again(program)
    failed = {"extend": "extending_error", "shrink": "shrinking_error", "delete": "error_deleting"}
    assert program.show(share_id)["status"] == failed[verb]
    assert booked(program) == (1, 5)
    assert len(told(program, share_id)) == 1


@pytest.mark.parametrize("verb", ["extend", "shrink", "delete"])
def test_a_back_end_that_is_busy_for_a_while(program, verb):
    share_id = program.new_share(size=5)
    tell(program, f"{verb} error=busy times=2")
    ask(program, verb, share_id)
    again_and_again(program, 4)
    answer = program.get(f"/shares/{share_id}")
    assert answer.status == 404 if verb == "delete" else answer["share"]["status"] == "available"
    assert told(program, share_id) == []
    program.check()


def test_a_share_that_cannot_be_deleted(program):
    share_id = program.new_share(size=5)
    tell(program, "delete")
    program.delete(f"/shares/{share_id}")
    program.drain()
    assert program.show(share_id)["status"] == "error_deleting"
    assert (booked(program), told(program, share_id)) == ((1, 5), [("007", "001")])
    refused(program.delete(f"/shares/{share_id}"), 403)
    assert program.act(share_id, "force_delete", as_=ADMIN).status == 202
    program.drain()
    assert program.get(f"/shares/{share_id}").status == 404
    assert booked(program) == (0, 0)


def test_deletion_of_what_the_back_end_does_not_have(program):
    share_id = program.new_share()
    for driver in program.drivers.values():
        for instance_id in list(driver.instances()):
            held = program.read_share(share_id)
            assert held.instance.id == instance_id
    assert program.delete(f"/shares/{share_id}").status == 202
    program.bell.rung.extend(program.bell.rung)
    program.drain()
    program.check()


def test_a_share_that_failed_is_booked_again_where_it_is_declared_good(program):
    tell(program, "create")
    share_id = program.new_share(size=5)
    assert booked(program) == (0, 0)
    limits(program, gigabytes=4)
    available = {"status": "available"}
    refused(program.act(share_id, "reset_status", available, as_=ADMIN), 413)
    assert program.show(share_id)["status"] == "error"
    for word in ("error_deleting", "error", "creating"):
        program.act(share_id, "reset_status", {"status": word}, as_=ADMIN)
        assert booked(program) == (0, 0)
    limits(program, gigabytes=9)
    for _ in range(2):
        assert program.act(share_id, "reset_status", available, as_=ADMIN).status == 202
        assert booked(program) == (1, 5)
    assert program.delete(f"/shares/{share_id}").status == 202
    program.drain()
    assert booked(program) == (0, 0)


@pytest.mark.parametrize("verb", ["create", "extend", "shrink", "delete"])
def test_what_works_on_a_share_is_stopped_by_reset_status(program, verb):
    share_id = program.new_share(size=5, drain=verb != "create")
    if verb == "delete":
        program.delete(f"/shares/{share_id}")
    elif verb != "create":
        program.act(share_id, verb, {"new_size": 9 if verb == "extend" else 2})
    assert program.act(share_id, "reset_status", {"status": "error"}, as_=ADMIN).status == 202
    program.drain()
    again_and_again(program, 3)
    shown = program.show(share_id)
    assert (shown["status"], shown["size"]) == ("error", 5)
    assert booked(program) == (1, 5)
    assert told(program, share_id) == []
    assert program.delete(f"/shares/{share_id}").status == 202
    program.drain()
    assert (booked(program), program.on_backends()) == ((0, 0), {})
    program.check()


def test_no_work_is_promised_on_a_share_that_no_back_end_holds(program):
    """Nobody would take it up, and the share would wait for that until it is given up."""
    program.share_type("impossible", absent="True")
    share_id = program.new_share(size=5, share_type="impossible")
    assert program.act(share_id, "reset_status", {"status": "available"}, as_=ADMIN).status == 202
    for action, size in (("shrink", 1), ("extend", 9)):
        answer = program.act(share_id, action, {"new_size": size})
        assert answer.status == (202 if action == "extend" else 400)
        program.drain()
        assert program.show(share_id)["status"] == "available"
    rule = {"access_type": "ip", "access_to": "203.0.113.7"}
    refused(program.act(share_id, "allow_access", rule), 400)
    assert program.delete(f"/shares/{share_id}").status == 202
    program.check()
