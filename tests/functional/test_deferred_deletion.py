"""Deletions in the background: out of sight and free of charge at once, done when it can be."""

from __future__ import annotations

import datetime as dt
import json

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, PROJECT
from refusals import refused

from fileshare.db import models
from fileshare.domain.periods import Period
from fileshare.operations import usage
from fileshare.scheduler import recycle_bin


@pytest.fixture
def deferring(program):
    program.conf.set_override("is_deferred_deletion_enabled", True)
    return program


def fail(program, *faults):
    for name in program.drivers:
        path = program.state / name / "control.json"
        if faults:
            path.write_text(json.dumps({"fail": list(faults)}))
        else:
            path.unlink()


def used(program):
    return program.get(f"/quota-sets/{PROJECT}/detail")["quota_set"]["gigabytes"]["in_use"]


def statuses(program):
    shown = program.get("/shares/detail?all_tenants=1", as_=ADMIN)["shares"]
    return [share["status"] for share in shown]


def seen(program):
    return [share["id"] for share in program.get("/shares")["shares"]]


def test_a_deleted_share_is_out_of_sight_and_free_at_once(deferring):
    share_id = deferring.new_share(size=3)
    heard = deferring.listen()
    assert deferring.delete(f"/shares/{share_id}").status == 202
    assert (seen(deferring), used(deferring)) == ([], 0)
    refused(deferring.get(f"/shares/{share_id}"), 404)
    refused(deferring.delete(f"/shares/{share_id}"), 404)
    refused(deferring.delete(f"/shares/{share_id}", as_=ADMIN), 403)
    assert statuses(deferring) == ["deferred_deleting"]
    assert deferring.on_backends() != {}
    deferring.books()
    deferring.drain()
    assert (statuses(deferring), deferring.on_backends()) == ([], {})
    assert [notice.event for notice in heard] == ["share.delete.start", "share.delete.end"]
    deferring.check()


def test_no_other_way_leads_to_a_deleted_share(deferring):
    """What was deleted is gone for its project, whatever is asked of it and however."""
    share_id = deferring.new_share(size=2)
    rule = {"access_type": "ip", "access_to": "10.0.0.1"}
    rule_id = deferring.act(share_id, "allow_access", rule)["access"]["id"]
    deferring.drain()
    (export,) = deferring.get(f"/shares/{share_id}/export_locations")["export_locations"]
    deferring.delete(f"/shares/{share_id}")
    pairs = {"metadata": {"k": "v"}}
    share, access = f"/shares/{share_id}", f"/share-access-rules/{rule_id}"
    exports = f"{share}/export_locations"
    for path in (share, f"{share}/metadata", exports, f"{exports}/{export['id']}", access):
        refused(deferring.get(path), 404)
    for path, body in (
        (share, {"share": {"display_name": "again"}}),
        (f"{share}/metadata", pairs),
        (f"{exports}/{export['id']}/metadata", pairs),
        (f"{access}/metadata", pairs),
        (access, {"update_access": {"access_level": "ro"}}),
    ):
        refused(deferring.put(path, body), 404)
    for action, value in (
        ("extend", {"new_size": 3}),
        ("shrink", {"new_size": 1}),
        ("allow_access", {"access_type": "ip", "access_to": "10.0.0.2"}),
        ("deny_access", {"access_id": rule_id}),
        ("soft_delete", None),
        ("restore", None),
    ):
        refused(deferring.act(share_id, action, value), 404)
    refused(deferring.act(share_id, "access_list", version="2.44"), 404)
    refused(deferring.get(f"/share-access-rules?share_id={share_id}"), 400)
    for kind, id in (("share", share_id), ("access_rule", rule_id)):
        lock = {"resource_lock": {"resource_type": kind, "resource_id": id}}
        refused(deferring.post("/resource-locks", lock), 400)
    new = {"share_proto": "NFS", "size": 1, "share_type": "default"}
    near = {"share": {**new, "scheduler_hints": {"same_host": share_id}}}
    refused(deferring.post("/shares", near), 404)
    assert deferring.get(f"{share}/metadata", as_=ADMIN)["metadata"] == {}
    assert deferring.get(access, as_=ADMIN)["access"]["access_level"] == "rw"
    assert deferring.count(models.ResourceLock) == 0
    deferring.drain()
    deferring.check()


def test_a_public_share_that_was_deleted_is_out_of_everybodys_sight(deferring):
    share_id = deferring.new_share(is_public=True, as_=ADMIN)
    deferring.delete(f"/shares/{share_id}", as_=ADMIN)
    refused(deferring.get(f"/shares/{share_id}"), 404)
    refused(deferring.get(f"/shares/{share_id}/export_locations"), 404)
    refused(deferring.act(share_id, "extend", {"new_size": 2}), 404)
    assert deferring.act(share_id, "force_delete", as_=ADMIN).status == 202
    deferring.drain()
    deferring.check()


def test_what_the_back_end_could_not_delete_is_tried_again(deferring):
    share_id = deferring.new_share()
    fail(deferring, "delete error=failed")
    deferring.delete(f"/shares/{share_id}")
    deferring.drain()
    assert statuses(deferring) == ["error_deferred_deleting"]
    assert (seen(deferring), used(deferring)) == ([], 0)
    (message,) = deferring.messages(share_id)
    assert (message.action_id, message.resource_id) == ("007", share_id)
    assert recycle_bin.empty(deferring.runtime) == 0
    assert recycle_bin.try_again(deferring.runtime) == 1
    assert statuses(deferring) == ["deferred_deleting"]
    deferring.drain()
    assert statuses(deferring) == ["error_deferred_deleting"]
    fail(deferring)
    assert recycle_bin.try_again(deferring.runtime) == 1
    deferring.drain()
    assert (statuses(deferring), deferring.on_backends()) == ([], {})
    assert used(deferring) == 0
    deferring.check()


def test_an_administrator_can_have_it_back(deferring):
    share_id = deferring.new_share(size=2)
    fail(deferring, "delete error=failed")
    deferring.delete(f"/shares/{share_id}")
    deferring.drain()
    refused(deferring.delete(f"/shares/{share_id}", as_=ADMIN), 403)
    reset = {"status": "available"}
    assert deferring.act(share_id, "reset_status", reset, as_=ADMIN).status == 202
    assert (seen(deferring), used(deferring)) == ([share_id], 2)
    fail(deferring)
    deferring.check()


def test_what_it_had_claimed_of_its_pool_stays_until_it_is_gone(deferring):
    """A driver's call that was superseded may still take the room."""
    share_id = deferring.new_share(size=5)
    mine = models.ShareInstance.share_id == share_id
    deferring.write(sa.update(models.ShareInstance).where(mine).values(claimed_gb=5))
    deferring.delete(f"/shares/{share_id}")
    deferring.report()
    claimed = sa.select(models.ShareInstance.claimed_gb).where(mine)
    assert deferring.scalar(claimed) == 5


def test_it_takes_no_more_changes_of_its_rules(deferring):
    share_id = deferring.new_share()
    allowed = {"access_type": "ip", "access_to": "203.0.113.7"}
    rule = deferring.act(share_id, "allow_access", allowed)["access"]["id"]
    deferring.drain()
    deferring.delete(f"/shares/{share_id}")
    other = {**allowed, "access_to": "203.0.113.8"}
    level = {"update_access": {"access_level": "ro"}}
    for as_, status in ((ADMIN, 400), (MEMBER, 404)):
        refused(deferring.act(share_id, "allow_access", other, as_=as_), status)
        refused(deferring.act(share_id, "deny_access", {"access_id": rule}, as_=as_), status)
        refused(deferring.put(f"/share-access-rules/{rule}", level, as_=as_), status)
    deferring.drain()
    assert statuses(deferring) == []
    deferring.check()


def told(program):
    """The events of the usage audit for this day and the ones beside it."""
    day = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    period = Period(day - dt.timedelta(days=1), day + dt.timedelta(days=1))
    return [notice.event for notice in usage.audit(program.runtime, period, actions=True)]


def test_the_usage_audit_knows_that_it_had_been_made(deferring):
    share_id = deferring.new_share()
    made = ["share.exists", "share.create.start", "share.create.end"]
    deferring.delete(f"/shares/{share_id}")
    assert told(deferring) == made
    deferring.drain()
    assert told(deferring) == [*made, "share.delete.start", "share.delete.end"]


def test_by_force_it_is_gone(deferring):
    share_id = deferring.new_share()
    deferring.delete(f"/shares/{share_id}")
    assert deferring.act(share_id, "force_delete", as_=ADMIN).status == 202
    deferring.drain()
    assert (statuses(deferring), used(deferring)) == ([], 0)
    deferring.check()


def test_a_share_that_no_back_end_holds_is_gone_at_once(deferring):
    share_id = deferring.new_share(drain=False)
    assert deferring.act(share_id, "reset_status", {"status": "error"}, as_=ADMIN).status == 202
    assert deferring.delete(f"/shares/{share_id}").status == 202
    assert (statuses(deferring), used(deferring)) == ([], 0)


def test_out_of_the_bin_it_does_not_come_back(deferring):
    share_id = deferring.new_share()
    deferring.act(share_id, "soft_delete")
    fail(deferring, "delete error=failed")
    assert deferring.delete(f"/shares/{share_id}").status == 202
    deferring.drain()
    refused(deferring.act(share_id, "restore", as_=ADMIN), 403)
    refused(deferring.act(share_id, "restore", as_=MEMBER), 404)
    fail(deferring)
    assert recycle_bin.try_again(deferring.runtime) == 1
    deferring.drain()
    assert statuses(deferring) == []


def test_without_the_option_the_user_sees_it_to_the_end(program):
    share_id = program.new_share(size=3)
    program.delete(f"/shares/{share_id}")
    assert (seen(program), used(program)) == ([share_id], 3)
    program.drain()
    assert (seen(program), used(program)) == ([], 0)
