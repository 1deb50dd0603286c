"""Replicas, to read: a share whose type has replication is one, and only that."""

from __future__ import annotations

import pytest
import wire
from inprocess import ADMIN, MEMBER, NOBODY, STRANGER
from test_shares_errors import refused

from fileshare.api.microversions import VERSIONS

EXPERIMENTAL = {"X-OpenStack-Manila-API-Experimental": "True"}


@pytest.fixture
def replicated(program):
    """Two shares of a type with replication, beside one of a type without."""
    program.share_type("replicated", replication_type="readable")
    program.new_share()
    return [program.new_share(share_type="replicated") for _ in range(2)]


def listed(program, query="", **how):
    return program.get(f"/share-replicas/detail{query}", **how)["share_replicas"]


def test_every_key_at_every_microversion(program, replicated):
    for version in list(VERSIONS)[11:]:
        for as_, admin in ((ADMIN, True), (MEMBER, False)):
            how = {"as_": as_, "version": version, "headers": EXPERIMENTAL}
            rows = listed(program, **how)
            path = f"/share-replicas/{rows[0]['id']}"
            assert program.get(path, **how)["share_replica"] == rows[0]
            assert set(rows[0]) == wire.keys("share_replica_detail", version, admin=admin)
        short = program.get("/share-replicas", version=version, headers=EXPERIMENTAL)
        assert set(short["share_replicas"][0]) == {"id", "share_id", "status", "replica_state"}
    assert program.get("/share-replicas", version="2.55").status == 404
    assert program.get("/share-replicas", version="2.10", headers=EXPERIMENTAL).status == 404


def test_values(program, replicated):
    rows = listed(program, as_=ADMIN)
    assert [row["share_id"] for row in rows] == replicated
    share = program.show(replicated[0])
    same = ("availability_zone", "host", "status")
    assert share["status"] == "available"
    assert {key: rows[0][key] for key in same} == {key: share[key] for key in same}
    assert (rows[0]["replica_state"], rows[0]["cast_rules_to_readonly"]) == ("active", False)
    assert listed(program, "?limit=1&offset=1", as_=ADMIN) == rows[1:]
    assert listed(program, f"?share_id={replicated[1]}", as_=ADMIN) == rows[1:]
    program.delete(f"/shares/{replicated[0]}")
    program.drain()
    assert [row["share_id"] for row in listed(program)] == replicated[1:]
    assert program.get(f"/share-replicas/{rows[0]['id']}").status == 404


def test_only_their_own(program, replicated):
    (first, _) = listed(program)
    program.put(f"/shares/{replicated[0]}", {"share": {"is_public": True}}, as_=ADMIN)
    assert listed(program, as_=STRANGER) == []
    assert listed(program, f"?share_id={replicated[0]}", as_=STRANGER) == []
    refused(program.get(f"/share-replicas/{first['id']}", as_=STRANGER), 404)
    for query in (f"?share_id={replicated[1]}", f"?share_id={NOBODY}"):
        refused(program.get(f"/share-replicas{query}", as_=STRANGER), 404)


@pytest.mark.parametrize("as_", [MEMBER, STRANGER])
def test_a_member_sees_the_replicas_of_its_project_alone(program, replicated, as_):
    """C075: by list, show, export locations and metadata; also of a share that is public."""
    program.new_share(share_type="replicated", as_=STRANGER)
    every = listed(program, "?all_tenants=1", as_=ADMIN)
    assert len(every) == 3
    own = [row["id"] for row in every if (row["share_id"] in replicated) == (as_ == MEMBER)]
    for row in every:
        program.put(f"/shares/{row['share_id']}", {"share": {"is_public": True}}, as_=ADMIN)
    for path in ("", "/detail", "?all_tenants=1", "/detail?all_tenants=1"):
        answer = program.get(f"/share-replicas{path}", as_=as_)
        assert answer.status == 200
        assert [row["id"] for row in answer["share_replicas"]] == own, path
    for row in every:
        for part in ("", "/export-locations", "/metadata"):
            answer = program.get(f"/share-replicas/{row['id']}{part}", as_=as_)
            assert answer.status == (200 if row["id"] in own and not part else 404), part
