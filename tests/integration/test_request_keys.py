"""A create that is sent again makes one share, on each kind of database."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, PROJECT, STRANGER, Program

from fileshare.db import request_keys, sweeps
from fileshare.db.clock import after
from fileshare.db.models import RequestKey, Share

SHARE = {"share_proto": "NFS", "size": 1, "share_type": "default"}


@pytest.fixture
def program(any_url, tmp_path):
    made = Program(any_url, tmp_path)
    made.share_type()
    yield made
    made.sessions.dispose()


def create(program, key, *, as_=MEMBER, **values):
    headers = {} if key is None else {"Idempotency-Key": key}
    return program.post("/shares", {"share": {**SHARE, **values}}, as_=as_, headers=headers)


def test_sent_again(program):
    """C156"""
    answers = [create(program, "once") for _time in range(20)]
    program.drain()
    answers += [create(program, "once") for _time in range(5)]
    assert {answer.status for answer in answers} == {200}
    assert len({answer["share"]["id"] for answer in answers}) == 1
    assert program.count(Share) == 1
    assert answers[-1]["share"]["status"] == "available"
    assert len({create(program, None)["share"]["id"] for _time in range(2)}) == 2
    program.drain()
    program.check()


def test_sent_by_many_at_once(program):
    ready, found = threading.Barrier(8), []

    def ask():
        ready.wait()
        found.append(create(program, "at once"))

    threads = [threading.Thread(target=ask) for _each in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.status for answer in found} == {200}
    assert len({answer["share"]["id"] for answer in found}) == 1
    assert program.count(Share) == 1
    program.drain()
    program.check()


def test_another_request_or_another_user(program):
    mine = create(program, "key")["share"]["id"]
    assert create(program, "key", size=2).status == 409
    assert create(program, "key", metadata={"k": "v"}).status == 409
    others = {
        create(program, "key", as_=as_)["share"]["id"]
        for as_ in (STRANGER, f"bob:{PROJECT}:member")
    }
    assert len({mine, *others}) == 3
    assert program.count(Share) == 3


def test_what_was_refused_may_be_sent_again(program):
    path, none = f"/quota-sets/{PROJECT}", {"quota_set": {"shares": 0}}
    assert program.put(path, none, as_=ADMIN).status == 200
    assert create(program, "again").status == 413
    assert program.put(path, {"quota_set": {"shares": 5}}, as_=ADMIN).status == 200
    assert create(program, "again").status == 200
    assert program.count(Share) == 1


def test_what_was_made_may_be_gone(program):
    share = create(program, "gone")["share"]["id"]
    program.drain()
    assert program.delete(f"/shares/{share}").status == 202
    program.drain()
    assert create(program, "gone").status == 409


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_keys_that_are_none(program, key):
    assert create(program, key).status == 400
    assert program.count(Share) == 0


def test_keys_are_forgotten(program):
    first = create(program, "old")["share"]["id"]
    create(program, "new")
    old = sa.update(RequestKey).where(RequestKey.resource_id == first)
    program.write(old.values(created_at=after(-90000)))
    for removed in (1, 0):
        done = sweeps.run(program.sessions, request_keys.old(86400), sweeps.Pace())
        assert done.total() == removed
    assert create(program, "old")["share"]["id"] != first
    assert program.count(RequestKey) == 2
