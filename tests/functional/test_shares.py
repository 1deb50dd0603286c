"""The life of a share over HTTP."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, MEMBER, NOBODY, STRANGER

NEW = {"share_proto": "nfs", "size": 2, "name": "mine", "metadata": {"k": "v"}}


def test_create(api):
    answer = api.post("/shares", {"share": NEW})
    assert answer.status == 400  # no share type, and no default
    answer = api.post("/shares", {"share": {**NEW, "share_type": "default"}})
    share = answer["share"]
    assert (answer.status, share["status"], share["share_proto"]) == (200, "creating", "NFS")
    assert share["metadata"] == {"k": "v"}
    api.drain()
    share = api.show(share["id"])
    assert (share["status"], share["progress"], share["size"]) == ("available", "100%", 2)
    assert api.read_share(share["id"]).share.host.partition("#")[0] in {"node@alpha", "node@beta"}
    exports = api.get(f"/shares/{share['id']}/export_locations")["export_locations"]
    assert len(exports) >= 1
    api.check()


def test_extend_and_shrink(api):
    id = api.new_share(size=2)
    assert api.act(id, "extend", {"new_size": 5}).status == 202
    assert api.show(id)["status"] == "extending"
    api.drain()
    assert (api.show(id)["status"], api.show(id)["size"]) == ("available", 5)
    assert api.act(id, "shrink", {"new_size": 3}).status == 202
    api.drain()
    assert (api.show(id)["status"], api.show(id)["size"]) == ("available", 3)
    assert api.act(id, "extend", {"new_size": 3}).status == 400
    assert api.act(id, "shrink", {"new_size": 3}).status == 400
    api.check()


def test_delete(api):
    id = api.new_share()
    assert api.delete(f"/shares/{id}").status == 202
    assert api.show(id)["status"] == "deleting"
    api.drain()
    assert api.get(f"/shares/{id}").status == 404
    assert api.on_backends() == {}
    api.check()


def test_another_project_sees_nothing(api):
    id = api.new_share()
    missing = api.get(f"/shares/{NOBODY}", as_=STRANGER)
    found = api.get(f"/shares/{id}", as_=STRANGER)
    assert (found.status, missing.status) == (404, 404)
    assert str(found.body).replace(id, "ID") == str(missing.body).replace(NOBODY, "ID")
    for action in (
        {"extend": {"new_size": 3}},
        {"allow_access": {"access_type": "ip", "access_to": "10.0.0.1"}},
    ):
        assert api.post(f"/shares/{id}/action", action, as_=STRANGER).status == 404
    assert api.delete(f"/shares/{id}", as_=STRANGER).status == 404


def test_access(api):
    id = api.new_share()
    wanted = {"access_type": "ip", "access_to": "10.0.0.0/24", "access_level": "ro"}
    rule = api.act(id, "allow_access", wanted)
    assert (rule.status, rule["access"]["state"]) == (200, "queued_to_apply")
    assert api.show(id)["access_rules_status"] == "syncing"
    again = api.act(id, "allow_access", {"access_type": "ip", "access_to": "10.0.0.0/24"})
    assert again.status == 400
    api.drain()
    access_id = rule["access"]["id"]
    listed = api.get(f"/share-access-rules?share_id={id}")["access_list"]
    assert [(item["id"], item["state"]) for item in listed] == [(access_id, "active")]
    assert api.show(id)["access_rules_status"] == "active"
    assert api.act(id, "deny_access", {"access_id": access_id}).status == 202
    assert api.get(f"/share-access-rules/{access_id}")["access"]["state"] == "queued_to_deny"
    api.drain()
    assert api.get(f"/share-access-rules/{access_id}").status == 404
    api.check()


def test_list(api):
    ids = [api.new_share(name=f"share-{number}") for number in range(3)]
    listed = api.get("/shares?sort_key=created_at&sort_dir=asc")["shares"]
    assert [share["id"] for share in listed] == ids
    page = api.get("/shares/detail?limit=2&sort_dir=asc&with_count=true")
    assert (len(page["shares"]), page["count"]) == (2, 3)
    link = page["shares_links"][0]["href"]
    rest = api.get(link.partition("/v2")[2])
    assert [share["id"] for share in rest["shares"]] == ids[2:]
    assert api.get("/shares?name=share-1")["shares"][0]["id"] == ids[1]
    assert api.get("/shares", as_=STRANGER)["shares"] == []
    assert len(api.get("/shares?all_tenants=1", as_=ADMIN)["shares"]) == 3
    assert len(api.get("/shares?all_tenants=1", as_=STRANGER)["shares"]) == 0


def test_force_delete_of_a_stuck_share(api):
    id = api.new_share(drain=False)
    assert api.act(id, "force_delete", as_=MEMBER).status == 403
    assert api.act(id, "force_delete", as_=ADMIN).status == 202
    api.drain()
    assert api.get(f"/shares/{id}").status == 404
    api.check()


@pytest.mark.parametrize("point", ["lost", "doubled"])
def test_a_ring_may_be_lost_or_doubled(api, point):
    id = api.new_share(drain=False)
    if point == "lost":
        api.bell.rung.clear()
        api.poll()
    else:
        api.bell.rung.extend(list(api.bell.rung))
        api.drain()
    assert api.show(id)["status"] == "available"
    api.check()


def test_an_export_location_says_when_it_was_updated(api):
    id = api.new_share()
    first = api.get(f"/shares/{id}/export_locations")["export_locations"][0]
    location = api.get(f"/shares/{id}/export_locations/{first['id']}")["export_location"]
    assert location["updated_at"] is not None
    assert location["created_at"] is not None
