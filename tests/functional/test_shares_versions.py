"""Shares at every microversion: which keys an answer has, and what changed its value."""

from __future__ import annotations

import pytest
import wire
from inprocess import ADMIN, MEMBER, PROJECT, READER

from fileshare.api.microversions import VERSIONS

ALL = list(VERSIONS)
PERSONAS = {"admin": ADMIN, "member": MEMBER, "reader": READER}


@pytest.mark.parametrize("persona", PERSONAS)
def test_every_key_at_every_microversion(program, persona):
    share_id = program.new_share(name="mine", metadata={"k": "v"})
    everybody = "?all_tenants=1" if persona == "admin" else ""
    for version in ALL:
        wanted = wire.keys("share_detail", version, admin=persona == "admin")
        how = {"version": version, "as_": PERSONAS[persona]}
        shown = program.get(f"/shares/{share_id}", **how)["share"]
        (listed,) = program.get(f"/shares/detail{everybody}", **how)["shares"]
        assert set(shown) == wanted, version
        assert listed == shown, version
        (brief,) = program.get(f"/shares{everybody}", **how)["shares"]
        assert set(brief) == {"id", "name", "links"}, version


def test_what_create_and_update_answer(program):
    body = {"share": {"share_proto": "nfs", "size": 1, "share_type": "default"}}
    for version in ALL[::9]:
        made = program.post("/shares", body, version=version)
        wanted = wire.keys("share_detail", version, admin=False)
        assert (made.status, set(made["share"])) == (200, wanted), version
        path = f"/shares/{made['share']['id']}"
        changed = program.put(path, {"share": {"display_name": "other"}}, version=version)
        assert (changed.status, set(changed["share"])) == (200, wanted), version
        assert changed["share"]["name"] == "other"


def test_values(program):
    type_id = program.sessions.run(_type_id)
    share_id = program.new_share(
        size=3,
        name="mine",
        description="all of it",
        metadata={"k": "v", "Ü": "ß"},
        availability_zone="manila-zone-1",
    )
    new = program.show(share_id, as_=MEMBER)
    old = program.show(share_id, as_=ADMIN, version="2.0")
    paths = [
        row["path"]
        for row in program.get(f"/shares/{share_id}/export_locations")["export_locations"]
    ]
    facts = {
        "id": share_id,
        "size": 3,
        "availability_zone": "manila-zone-1",
        "status": "available",
        "name": "mine",
        "description": "all of it",
        "project_id": PROJECT,
        "snapshot_id": None,
        "share_network_id": None,
        "share_proto": "NFS",
        "metadata": {"k": "v", "Ü": "ß"},
        "volume_type": "default",
        "is_public": False,
    }
    assert {key: new[key] for key in facts} == facts
    assert {key: old[key] for key in facts} == facts
    assert (old["share_type"], new["share_type"], new["share_type_name"]) == (
        "default",
        type_id,
        "default",
    )
    assert old["export_location"] in old["export_locations"]
    assert set(paths) <= set(old["export_locations"])
    later = {
        "snapshot_support": True,
        "task_state": None,
        "access_rules_status": "active",
        "replication_type": None,
        "has_replicas": False,
        "user_id": "alice",
        "create_share_from_snapshot_support": False,
        "revert_to_snapshot_support": False,
        "share_group_id": None,
        "source_share_group_snapshot_member_id": None,
        "mount_snapshot_support": False,
        "progress": "100%",
        "is_soft_deleted": False,
        "scheduled_to_be_deleted_at": None,
        "source_backup_id": None,
        "encryption_key_ref": None,
        "snapshot_inherit_share_access_support": False,
    }
    assert {key: new[key] for key in later} == later
    assert old["host"].startswith("node@beta#")
    assert old["share_server_id"] is None
    assert new["links"][0]["href"].endswith(f"/v2/shares/{share_id}")
    assert new["links"][1]["href"].endswith(f"/shares/{share_id}")
    assert "/v2/" not in new["links"][1]["href"]


def _type_id(session):
    from fileshare.db import types
    from fileshare.db.query import ALL as EVERYBODY

    return types.get(session, EVERYBODY, "default").id


def test_links_hold_the_project_where_the_request_did(program):
    share_id = program.new_share()
    shown = program.get(f"/{PROJECT}/shares/{share_id}")["share"]
    assert shown["links"][0]["href"].endswith(f"/v2/{PROJECT}/shares/{share_id}")


def test_old_versions_see_fewer_statuses(program):
    share_id = program.new_share()
    program.act(share_id, "allow_access", {"access_type": "ip", "access_to": "10.0.0.1"})
    seen = {
        version: program.show(share_id, version=version)["access_rules_status"]
        for version in ("2.10", "2.27", "2.28", "2.99")
    }
    assert list(seen.values()) == ["out_of_sync", "out_of_sync", "syncing", "syncing"]


def test_zones_are_honoured_from_2_1(program):
    zones = {
        version: program.post(
            "/shares",
            {
                "share": {
                    "share_proto": "nfs",
                    "size": 1,
                    "share_type": "default",
                    "availability_zone": "nowhere",
                }
            },
            version=version,
        ).status
        for version in ("2.0", "2.1")
    }
    assert zones == {"2.0": 200, "2.1": 404}


def test_actions_lost_their_prefix_in_2_7(program):
    share_id = program.new_share(size=5)
    for name, value in (
        ("extend", {"new_size": 4}),
        ("shrink", {"new_size": 6}),
        ("reset_status", {"status": "nonsense"}),
    ):
        for version, prefix, status in (
            ("2.6", "os-", 400),
            ("2.7", "", 400),
            ("2.6", "", 404),
            ("2.7", "os-", 404),
        ):
            answer = program.act(share_id, f"{prefix}{name}", value, version=version, as_=ADMIN)
            assert answer.status == status, (name, version, prefix, answer.body)
    assert program.act(share_id, "os-force_delete", version="2.7", as_=ADMIN).status == 404
    assert program.act(share_id, "force_delete", version="2.6", as_=ADMIN).status == 404
    assert program.act(share_id, "os-force_delete", version="2.6", as_=ADMIN).status == 202
