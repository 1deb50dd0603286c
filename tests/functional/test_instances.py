"""Share instances, as operators see them."""

from __future__ import annotations

import json

import pytest
import wire
from inprocess import ADMIN, MEMBER, NOBODY, READER
from refusals import refused

from fileshare.api.microversions import VERSIONS
from fileshare.domain.statuses import RESETTABLE, SHARE_STATUSES


def instances(program, query="", **how):
    answer = program.get(f"/share_instances{query}", as_=ADMIN, **how)
    assert answer.status == 200, answer.body
    return answer["share_instances"]


def ids(program, query, **how):
    return [row["id"] for row in instances(program, query, **how)]


def test_every_key_at_every_microversion(program):
    share_id = program.new_share()
    for version in list(VERSIONS)[3:]:
        wanted = wire.keys("share_instance", version, admin=True)
        (row,) = instances(program, version=version)
        path = f"/share_instances/{row['id']}"
        shown = program.get(path, as_=ADMIN, version=version)["share_instance"]
        of_share = program.get(f"/shares/{share_id}/instances", as_=ADMIN, version=version)
        assert set(row) == wanted, version
        assert [row] == [shown] == of_share["share_instances"], version
    assert program.get("/share_instances", as_=ADMIN, version="2.2").status == 404


def test_values(program):
    share_id = program.new_share()
    share = program.show(share_id)
    (row,) = instances(program)
    same = ("availability_zone", "host", "status", "access_rules_status", "progress")
    assert {key: row[key] for key in same} == {key: share[key] for key in same}
    assert (row["share_id"], row["share_type_id"]) == (share_id, share["share_type"])
    assert (row["replica_state"], row["cast_rules_to_readonly"]) == (None, False)
    (old,) = instances(program, version="2.3")
    paths = program.show(share_id, version="2.3")["export_locations"]
    assert (old["export_locations"], old["export_location"]) == (paths, paths[0])


def test_only_operators_see_them(program):
    share_id = program.new_share()
    (row,) = instances(program)
    for path in (
        "/share_instances",
        f"/share_instances/{row['id']}",
        f"/share_instances/{row['id']}/export_locations",
        f"/shares/{share_id}/instances",
    ):
        for persona in (MEMBER, READER):
            refused(program.get(path, as_=persona), 403)
    for action in ({"reset_status": {"status": "error"}}, {"force_delete": None}):
        refused(program.post(f"/share_instances/{row['id']}/action", action), 403)


def test_filters(program):
    one, two = (program.new_share() for _ in range(2))
    by_share = {row["share_id"]: row for row in instances(program)}
    first = by_share[one]["id"]
    export = program.get(f"/shares/{one}/export_locations")["export_locations"][0]
    assert ids(program, f"?export_location_id={export['id']}") == [first]
    assert ids(program, f"?export_location_path={export['path']}") == [first]
    assert len(ids(program, f"?export_location_path={export['path']}", version="2.34")) == 2
    assert ids(program, f"?export_location_id={NOBODY}") == []
    hosts = {row["host"] for row in by_share.values()}
    for host in hosts:
        quoted = host.replace("#", "%23")
        found = instances(program, f"?host={quoted}")
        assert {row["host"] for row in found} == {host}
    assert ids(program, "?host=nowhere") == []
    assert len(ids(program, "?status=available")) == 2
    assert ids(program, "?status=error") == []
    assert ids(program, f"?share_server_id={NOBODY}") == []
    assert len(ids(program, "?nonsense=1&limit=x")) == 2
    assert program.act(two, "soft_delete").status == 202
    assert ids(program, "?is_soft_deleted=false") == [first]
    assert ids(program, "?is_soft_deleted=1") == [by_share[two]["id"]]
    assert len(ids(program, "")) == 2
    refused(program.get("/share_instances?is_soft_deleted=perhaps", as_=ADMIN), 400)


def test_a_link_to_the_next_page(program):
    program.new_share()
    body = program.get("/share_instances?limit=1", as_=ADMIN).body
    assert body["share_instances_links"][0]["rel"] == "next"
    assert "share_instances_links" not in program.get("/share_instances?limit=2", as_=ADMIN).body


def test_export_locations(program):
    share_id = program.new_share()
    (row,) = instances(program)
    path = f"/share_instances/{row['id']}/export_locations"
    rows = program.get(path, as_=ADMIN)["export_locations"]
    assert (
        rows == program.get(f"/shares/{share_id}/export_locations", as_=ADMIN)["export_locations"]
    )
    for version in ("2.9", "2.13", "2.14", "2.86", "2.87", "2.99"):
        listed = program.get(path, as_=ADMIN, version=version)["export_locations"]
        assert set(listed[0]) == wire.keys("export_location", version, admin=True)
        shown = program.get(f"{path}/{rows[0]['id']}", as_=ADMIN, version=version)
        wanted = wire.keys("export_location_detail", version, admin=True)
        assert set(shown["export_location"]) == wanted
    refused(program.get(path, as_=ADMIN, version="2.8"), 404)
    refused(program.get(f"{path}/{NOBODY}", as_=ADMIN), 404)
    refused(program.get(f"/share_instances/{NOBODY}/export_locations", as_=ADMIN), 404)


def test_what_is_not_there(program):
    refused(program.get(f"/share_instances/{NOBODY}", as_=ADMIN), 404)
    refused(program.get(f"/shares/{NOBODY}/instances", as_=ADMIN), 404)
    for action in ({"reset_status": {"status": "error"}}, {"force_delete": None}):
        refused(program.post(f"/share_instances/{NOBODY}/action", action, as_=ADMIN), 404)


def act(program, instance_id, action, **how):
    return program.post(f"/share_instances/{instance_id}/action", action, as_=ADMIN, **how)


def test_reset_status(program):
    share_id = program.new_share()
    (row,) = instances(program)
    for word in [*sorted(SHARE_STATUSES - set(RESETTABLE)), "", None, 5]:
        refused(act(program, row["id"], {"reset_status": {"status": word}}), 400)
    refused(act(program, row["id"], {"reset_status": {}}), 400)
    for word in RESETTABLE:
        assert act(program, row["id"], {"reset_status": {"status": word}}).status == 202
        assert instances(program)[0]["status"] == program.show(share_id)["status"] == word
    old = {"os-reset_status": {"status": "available"}}
    assert act(program, row["id"], old, version="2.6").status == 202
    refused(act(program, row["id"], old, version="2.7"), 404)
    assert program.show(share_id)["status"] == "available"
    program.check()


@pytest.mark.parametrize("verb", ["extend", "shrink"])
def test_reset_status_stops_what_works_on_the_share(program, verb):
    share_id = program.new_share(size=5)
    (row,) = instances(program)
    program.act(share_id, verb, {"new_size": 9 if verb == "extend" else 2})
    act(program, row["id"], {"reset_status": {"status": "available"}})
    program.drain()
    shown = program.show(share_id)
    assert (shown["status"], shown["size"]) == ("available", 5)
    program.check()


def test_reset_status_books_a_share_that_failed(program):
    for name in ("alpha", "beta"):
        (program.state / name / "control.json").write_text(json.dumps({"fail": ["create"]}))
    share_id = program.new_share()
    assert program.show(share_id)["status"] == "error"
    (row,) = instances(program)
    act(program, row["id"], {"reset_status": {"status": "available"}})
    assert program.read_share(share_id).share.is_charged
    assert program.delete(f"/shares/{share_id}").status == 202
    program.drain()
    program.check()


@pytest.mark.parametrize("status", ["available", "creating", "deleting", "error_deleting"])
def test_force_delete(program, status):
    share_id = program.new_share()
    (row,) = instances(program)
    act(program, row["id"], {"reset_status": {"status": status}})
    assert act(program, row["id"], {"force_delete": None}).status == 202
    assert program.show(share_id)["status"] == "deleting"
    program.drain()
    assert program.get(f"/shares/{share_id}").status == 404
    assert instances(program) == []
    program.check()


def test_force_delete_of_what_is_being_made(program):
    program.new_share(drain=False)
    (row,) = instances(program)
    assert row["host"] is None
    assert act(program, row["id"], {"os-force_delete": None}, version="2.6").status == 202
    program.drain()
    assert instances(program) == []
    program.check()
