"""Metadata that is handed to the back end."""

from __future__ import annotations

import json

import inprocess
import pytest
import sqlalchemy as sa

from fileshare.db import models, share_metadata
from fileshare.drivers.dummy.driver import METADATA
from fileshare.drivers.dummy.state import SHARES
from fileshare.intents import destinations

FAILED, DONE, NOT_DELETED = ("027", "030"), ("027", "029"), ("027", "031")


@pytest.fixture
def updating(tmp_path):
    """The program with two keys that back ends are told of."""
    with inprocess.running(tmp_path, driver_updatable_metadata="tier,weight") as made:
        yield made


def told(program, share_id):
    """What the back end knows."""
    instance = program.read_share(share_id).instance
    driver = program.drivers[instance.host.partition("@")[2].partition("#")[0]]
    return driver.state.read(SHARES, instance.id).get(METADATA)


def messages(program, share_id):
    return [(message.action_id, message.detail_id) for message in program.messages(share_id)]


def states(program, share_id):
    return program.scalars(
        sa.select(models.Intent.state)
        .where(models.Intent.share_id == share_id, models.Intent.event == "metadata.update")
        .order_by(models.Intent.created_at)
    )


def test_the_back_end_is_told(updating):
    share_id = updating.new_share()
    path = f"/shares/{share_id}/metadata"
    body = {"metadata": {"tier": "fast", "k": "v"}}
    assert updating.post(path, body)["metadata"] == {"tier": "fast", "k": "v"}
    assert updating.show(share_id)["status"] == "available"
    updating.drain()
    assert told(updating, share_id) == {"tier": "fast"}
    assert messages(updating, share_id) == [DONE]
    (message,) = updating.get("/messages")["messages"]
    assert message["user_message"].startswith("update_metadata: ")
    for method, tail, pairs in (
        ("POST", "/weight", {"weight": "5"}),
        ("PUT", "", {"tier": "slow", "weight": "6"}),
    ):
        assert updating.ask(method, path + tail, {"metadata": pairs}).status == 200
        updating.drain()
        assert told(updating, share_id).items() >= pairs.items()
    updating.check()


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_back_end_that_is_chosen_meanwhile_is_told(updating, monkeypatch, method):
    """It makes the share with the metadata of before, so the change must be told besides."""
    share_id = updating.new_share(drain=False, metadata={"tier": "slow"})
    hold = share_metadata.hold

    def be_late(session, id):
        monkeypatch.setattr(share_metadata, "hold", hold)
        updating.drain()
        return hold(session, id)

    monkeypatch.setattr(share_metadata, "hold", be_late)
    pairs = {"metadata": {"tier": "fast"}}
    assert updating.ask(method, f"/shares/{share_id}/metadata", pairs).status == 200
    assert updating.show(share_id)["status"] == "available"
    updating.drain()
    assert told(updating, share_id) == {"tier": "fast"}
    updating.check()


@pytest.mark.parametrize("made_at", ["the first", "another"])
def test_the_back_end_is_told_when_it_has_made_the_share(updating, made_at):
    share_id = updating.new_share(drain=False, metadata={"tier": "slow"})
    destination, placing = updating.bell.rung.popleft()
    updating.consumers[destination].perform(placing)
    first = destinations.share(updating.show(share_id)["host"])
    if made_at == "another":
        control = updating.state / first.partition("@")[2] / "control.json"
        control.write_text(json.dumps({"fail": ["create error=failed"]}))
    pairs = {"metadata": {"tier": "fast"}}
    assert updating.post(f"/shares/{share_id}/metadata", pairs).status == 200
    updating.bell.rung.reverse()  # another thread of the daemon may be quicker
    updating.drain()
    assert (states(updating, share_id), messages(updating, share_id)) == (["open"], [])
    assert updating.show(share_id)["status"] == "available"
    assert (destinations.share(updating.show(share_id)["host"]) == first) is (made_at != "another")
    updating.make_due()
    updating.poll()
    assert told(updating, share_id) == {"tier": "fast"}
    assert (states(updating, share_id), messages(updating, share_id)) == (["done"], [DONE])
    updating.check()


def test_nobody_is_told_of_a_share_that_was_not_made(updating):
    share_id = updating.new_share(drain=False, metadata={"tier": "slow"})
    destination, placing = updating.bell.rung.popleft()
    updating.consumers[destination].perform(placing)
    for name in updating.drivers:
        control = updating.state / name / "control.json"
        control.write_text(json.dumps({"fail": ["create error=failed"]}))
    pairs = {"metadata": {"tier": "fast"}}
    assert updating.post(f"/shares/{share_id}/metadata", pairs).status == 200
    updating.drain()
    shown = updating.show(share_id)
    assert (shown["status"], shown["host"]) == ("error", None)
    updating.make_due()
    updating.poll()
    assert states(updating, share_id) == ["done"]
    assert FAILED not in messages(updating, share_id)
    updating.check()


def test_other_keys_are_the_users_alone(updating):
    share_id = updating.new_share()
    updating.post(f"/shares/{share_id}/metadata", {"metadata": {"k": "v"}})
    assert list(updating.bell.rung) == []


def test_no_key_is_the_back_ends_by_default(program):
    share_id = program.new_share()
    program.post(f"/shares/{share_id}/metadata", {"metadata": {"tier": "fast"}})
    assert list(program.bell.rung) == []
    assert states(program, share_id) == []


def test_a_deleted_key_stays_in_force(updating):
    share_id = updating.new_share(metadata={"tier": "fast", "weight": "5"})
    path = f"/shares/{share_id}/metadata"
    assert updating.delete(f"{path}/tier").status == 200
    assert messages(updating, share_id) == [NOT_DELETED]
    assert list(updating.bell.rung) == []
    assert updating.put(path, {"metadata": {"k": "v"}}).status == 200
    assert messages(updating, share_id) == [NOT_DELETED] * 2


def test_only_the_last_of_many_changes_counts(updating):
    share_id = updating.new_share()
    for tier in ("slow", "fast", "slow", "fast"):
        updating.post(f"/shares/{share_id}/metadata", {"metadata": {"tier": tier}})
    updating.drain()
    assert told(updating, share_id) == {"tier": "fast"}
    assert sorted(states(updating, share_id)) == ["done", "failed", "failed", "failed"]
    assert messages(updating, share_id) == [DONE]


def test_a_back_end_that_cannot_follow(updating):
    for name in ("alpha", "beta"):
        control = updating.state / name / "control.json"
        control.write_text(json.dumps({"fail": ["update_metadata"]}))
    share_id = updating.new_share()
    updating.post(f"/shares/{share_id}/metadata", {"metadata": {"tier": "fast"}})
    updating.drain()
    assert messages(updating, share_id) == [FAILED]
    shown = updating.show(share_id)
    assert (shown["status"], shown["metadata"]) == ("available", {"tier": "fast"})
    updating.check()


def test_a_share_that_is_gone_before_it_is_told(updating):
    share_id = updating.new_share()
    updating.post(f"/shares/{share_id}/metadata", {"metadata": {"tier": "fast"}})
    waiting = updating.bell.rung.popleft()
    updating.delete(f"/shares/{share_id}")
    updating.drain()
    updating.bell.rung.append(waiting)
    updating.drain()
    assert states(updating, share_id) == ["done"]
    assert messages(updating, share_id) == []
    updating.check()
