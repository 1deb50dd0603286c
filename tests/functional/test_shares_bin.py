"""The recycle bin: soft deletion, restoring, and what becomes of shares in it."""

from __future__ import annotations

import datetime as dt
import json
import threading

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, NOBODY, READER, STRANGER
from refusals import refused, set_share

from fileshare.db import models
from fileshare.db.clock import after
from fileshare.domain.statuses import SHARE_STATUSES
from fileshare.intents.rounds import always
from fileshare.scheduler import recycle_bin
from fileshare.scheduler.service import chores

WEEK = dt.timedelta(days=7)


def in_the_bin(program, **values):
    share_id = program.new_share(**values)
    assert program.act(share_id, "soft_delete").status == 202
    return share_id


def expire(program):
    """Let the time of everything in the bin be over."""
    program.write(
        sa.update(models.Share)
        .where(models.Share.is_soft_deleted.is_(True))
        .values(scheduled_to_be_deleted_at=after(-1))
    )


def empty(program):
    begun = recycle_bin.empty(program.runtime)
    program.drain()
    return begun


def listed(program, query="", **how):
    return [share["id"] for share in program.get(f"/shares{query}", **how)["shares"]]


def test_into_the_bin_and_out(program):
    share_id = program.new_share(metadata={"k": "v"})
    kept = program.new_share()
    before = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    assert program.act(share_id, "soft_delete").status == 202
    shown = program.show(share_id, as_=MEMBER)
    assert (shown["status"], shown["is_soft_deleted"]) == ("available", True)
    until = dt.datetime.fromisoformat(shown["scheduled_to_be_deleted_at"])
    assert abs(until - before - WEEK) < dt.timedelta(seconds=60)
    assert listed(program) == [kept]
    assert listed(program, "?is_soft_deleted=true") == [share_id]
    assert listed(program, "?is_soft_deleted=True", version="2.68") == [kept]
    assert listed(program, "?is_soft_deleted=1", as_=STRANGER) == []
    assert listed(program, "?is_soft_deleted=1&all_tenants=1", as_=ADMIN) == [share_id]
    page = program.get("/shares/detail?is_soft_deleted=1&with_count=1&limit=1")
    assert (page["count"], page["shares"][0]["is_soft_deleted"]) == (1, True)
    refused(program.get("/shares?is_soft_deleted=perhaps"), 400)
    assert empty(program) == 0
    assert program.act(share_id, "restore").status == 202
    shown = program.show(share_id)
    assert (shown["is_soft_deleted"], shown["scheduled_to_be_deleted_at"]) == (False, None)
    assert set(listed(program)) == {share_id, kept}
    program.check()


def test_a_share_that_is_not_in_the_bin_need_not_be_restored(program):
    share_id = program.new_share()
    assert program.act(share_id, "restore").status == 200
    assert program.act(share_id, "restore").body is None


def test_both_came_in_2_69(program):
    share_id = program.new_share()
    for action in ("soft_delete", "restore"):
        refused(program.act(share_id, action, version="2.68"), 404)
        assert program.act(share_id, action, version="2.69").status == 202
        refused(program.act(NOBODY, action), 404)
        refused(program.act(share_id, action, as_=STRANGER), 404)
        refused(program.act(share_id, action, as_=READER), 403)
    program.put(f"/shares/{share_id}", {"share": {"is_public": True}}, as_=ADMIN)
    for action in ("soft_delete", "restore"):
        refused(program.act(share_id, action, as_=STRANGER), 403)


def test_what_keeps_a_share_from_the_bin(program):
    share_id = program.new_share()
    for word in sorted(SHARE_STATUSES - {"available", "error", "inactive"}):
        set_share(program, share_id, status=word)
        # Who may not see shares whose deletion is deferred is told that there is none.
        assert word in refused(program.act(share_id, "soft_delete", as_=ADMIN), 403)
    set_share(program, share_id, status="available", task_state="migration_in_progress")
    refused(program.act(share_id, "soft_delete"), 403)
    set_share(program, share_id, task_state=None, has_replicas=True)
    refused(program.act(share_id, "soft_delete"), 409)
    set_share(program, share_id, has_replicas=False)
    assert program.show(share_id)["is_soft_deleted"] is False
    for word in ("error", "inactive", "available"):
        set_share(program, share_id, status=word)
        assert program.act(share_id, "soft_delete").status == 202
        refused(program.act(share_id, "soft_delete"), 403)
        assert program.act(share_id, "restore").status == 202


def test_a_locked_share(program):
    share_id = program.new_share()
    body = {"resource_lock": {"resource_id": share_id, "resource_type": "share"}}
    assert program.post("/resource-locks", body).status == 200
    refused(program.act(share_id, "soft_delete"), 403)
    refused(program.delete(f"/shares/{share_id}"), 403)
    refused(program.act(share_id, "force_delete", as_=ADMIN), 400)
    shown = program.show(share_id)
    assert (shown["status"], shown["is_soft_deleted"]) == ("available", False)


@pytest.mark.parametrize("status", ["available", "error", "extending"])
def test_what_is_refused_in_the_bin(program, status):
    share_id = in_the_bin(program, size=5)
    set_share(program, share_id, status=status)
    wanted = {"access_type": "ip", "access_to": "10.0.0.1"}
    for answer in (
        program.put(f"/shares/{share_id}", {"share": {"display_name": "x"}}),
        program.put(f"/shares/{share_id}", {"share": {}}),
        program.act(share_id, "extend", {"new_size": 9}),
        program.act(share_id, "shrink", {"new_size": 1}),
        program.act(share_id, "allow_access", wanted),
        program.act(share_id, "reset_status", {"status": "error"}, as_=ADMIN),
    ):
        refused(answer, 403)
    assert program.show(share_id)["status"] == status


@pytest.mark.parametrize("how", ["delete", "force_delete"])
def test_a_share_may_leave_the_bin_for_good(program, how):
    share_id = in_the_bin(program)
    if how == "delete":
        assert program.delete(f"/shares/{share_id}").status == 202
    else:
        assert program.act(share_id, "force_delete", as_=ADMIN).status == 202
    refused(program.act(share_id, "restore"), 403)
    program.drain()
    assert program.get(f"/shares/{share_id}").status == 404
    program.check()


def test_the_time_in_the_bin_ends(program):
    gone, kept = in_the_bin(program, size=3), program.new_share()
    expire(program)
    assert empty(program) == 1
    refused(program.get(f"/shares/{gone}"), 404)
    assert program.show(kept)["status"] == "available"
    assert empty(program) == 0
    program.check()


def test_a_share_that_is_restored_in_the_last_moment_stays(program, monkeypatch):
    """The chore has seen it in the bin, and comes to it when it is there no more."""
    restored, renewed, failed = (in_the_bin(program) for _ in range(3))
    live = program.new_share()
    expire(program)
    for share_id in (restored, renewed, failed):
        assert program.act(share_id, "restore").status == 202
    assert program.act(renewed, "soft_delete").status == 202
    set_share(program, failed, status="error_deleting")
    seen = [restored, renewed, failed, live]
    monkeypatch.setattr(recycle_bin.recycle_bin, "expired", lambda *_args, **_more: seen)
    assert empty(program) == 0
    statuses = [program.show(share_id)["status"] for share_id in seen]
    assert statuses == ["available", "available", "error_deleting", "available"]


def test_the_chore_is_the_schedulers(program):
    share_id = in_the_bin(program)
    expire(program)
    chore = next(
        task for task in chores(program.runtime, threading.Event()) if "recycle bin" in task.name
    )
    assert (chore.seconds, chore.shared) == (3600, "recycle-bin")
    chore.action(always)
    assert program.show(share_id)["status"] == "deleting"


def test_one_that_cannot_go_does_not_keep_the_others(program, monkeypatch):
    monkeypatch.setattr(recycle_bin, "BATCH", 2)
    shares = [in_the_bin(program) for _ in range(7)]
    expire(program)
    set_share(program, shares[0], has_replicas=True)
    set_share(program, shares[1], task_state="migration_in_progress")
    set_share(program, shares[2], status="extending")
    assert empty(program) == 4
    assert sorted(listed(program, "?is_soft_deleted=1")) == sorted(shares[:3])
    set_share(program, shares[0], has_replicas=False)
    assert empty(program) == 1
    set_share(program, shares[1], task_state=None)
    set_share(program, shares[2], status="available")
    assert empty(program) == 2
    program.check()


def test_what_a_back_end_could_not_remove_is_tried_again(program):
    share_id = in_the_bin(program)
    expire(program)
    for name in ("alpha", "beta"):
        (program.state / name / "control.json").write_text(json.dumps({"fail": ["delete"]}))
    assert empty(program) == 1
    assert program.show(share_id)["status"] == "error_deleting"
    refused(program.act(share_id, "restore"), 403)
    assert [message.action_id for message in program.messages(share_id)] == ["007"]
    for name in ("alpha", "beta"):
        (program.state / name / "control.json").unlink()
    assert empty(program) == 1
    assert program.get(f"/shares/{share_id}").status == 404
    program.check()


def test_a_share_that_no_pool_held_goes_at_once(program):
    for name in ("alpha", "beta"):
        (program.state / name / "control.json").write_text(json.dumps({"fail": ["create"]}))
    share_id = in_the_bin(program)
    assert program.show(share_id)["host"] is None
    expire(program)
    assert recycle_bin.empty(program.runtime) == 1
    assert program.get(f"/shares/{share_id}").status == 404
    program.check()
