"""Scheduler hints of a new share, and what stands for a type that was not given."""

from __future__ import annotations

import inprocess
import pytest
from inprocess import ADMIN, MEMBER, NOBODY, PROJECT, STRANGER
from refusals import refused

GOOD = {"share_proto": "NFS", "size": 1, "share_type": "default"}


def create(program, as_=MEMBER, **values):
    answer = program.post("/shares", {"share": {**GOOD, **values}}, as_=as_)
    program.drain()
    return answer


def host_of(program, share_id):
    return program.show(share_id)["host"]


def test_near_and_far(program):
    first = program.new_share()
    near = create(program, scheduler_hints={"same_host": first})["share"]
    far = create(program, scheduler_hints={"different_host": first, "unknown": "x"})["share"]
    assert near["metadata"] == {"__affinity_same_host": first}
    assert far["metadata"] == {"__affinity_different_host": first}
    assert host_of(program, near["id"]) == host_of(program, first)
    assert host_of(program, far["id"]) not in {None, host_of(program, first)}
    both = f"{first}, {near['id']} ,"
    third = create(program, metadata={"k": "v"}, scheduler_hints={"same_host": both})["share"]
    assert third["metadata"] == {"k": "v", "__affinity_same_host": f"{first},{near['id']}"}
    assert program.get(f"/shares/{third['id']}/metadata")["metadata"] == third["metadata"]
    nowhere = {"same_host": first, "different_host": first}
    failed = create(program, scheduler_hints=nowhere)["share"]
    assert program.show(failed["id"])["status"] == "error"
    program.check()


def named(program, share_id):
    """What a share keeps about others."""
    return program.get(f"/shares/{share_id}/metadata", as_=ADMIN)["metadata"]


def test_the_named_share_keeps_it_too(program):
    first = program.new_share(metadata={"k": "v"})
    near, nearer = (
        create(program, scheduler_hints={"same_host": first})["share"]["id"] for _ in range(2)
    )
    far = create(program, scheduler_hints={"different_host": f"{first},{near}"})["share"]["id"]
    assert named(program, first) == {
        "k": "v",
        "__affinity_same_host": f"{near},{nearer}",
        "__affinity_different_host": far,
    }
    assert named(program, near) == {
        "__affinity_same_host": first,
        "__affinity_different_host": far,
    }
    program.delete(f"/shares/{near}")
    program.drain()
    assert named(program, first)["__affinity_same_host"] == nearer
    assert named(program, far) == {"__affinity_different_host": first}
    program.delete(f"/shares/{first}")
    program.drain()
    assert named(program, nearer) == named(program, far) == {}
    program.check()


def test_a_refused_create_is_not_kept(program):
    first = program.new_share()
    program.put(f"/quota-sets/{PROJECT}", {"quota_set": {"shares": 1}}, as_=ADMIN)
    refused(create(program, scheduler_hints={"same_host": first}), 413)
    refused(create(program, scheduler_hints={"same_host": f"{first},{NOBODY}"}), 404)
    assert named(program, first) == {}


def test_a_share_of_another_project_is_not_written_to(program):
    other = program.new_share(as_=STRANGER)
    program.put(f"/shares/{other}", {"share": {"is_public": True}}, as_=ADMIN)
    mine = create(program, scheduler_hints={"same_host": other})["share"]["id"]
    assert named(program, mine) == {"__affinity_same_host": other}
    assert named(program, other) == {}
    theirs = create(program, as_=ADMIN, scheduler_hints={"same_host": other})["share"]["id"]
    assert named(program, other) == {"__affinity_same_host": theirs}


def test_more_than_a_value_holds(program):
    first = program.new_share()
    program.put(
        f"/quota-sets/{PROJECT}", {"quota_set": {"shares": -1, "gigabytes": -1}}, as_=ADMIN
    )
    made = [
        create(program, scheduler_hints={"same_host": first})["share"]["id"] for _ in range(28)
    ]
    assert named(program, first) == {"__affinity_same_host": ",".join(made[:27])}
    assert named(program, made[27]) == {"__affinity_same_host": first}


def test_whoever_names_a_share_does_not_hinder_its_placement(program):
    first = program.new_share(drain=False)
    late = program.post(
        "/shares", {"share": {**GOOD, "scheduler_hints": {"different_host": first}}}
    )["share"]["id"]
    for share_id in (first, late):
        assert list(named(program, share_id)) == ["__affinity_different_host"]
    program.drain()
    assert program.show(first)["status"] == "available"


def test_hints_of_shares_that_the_caller_cannot_see(program):
    other = program.new_share(as_=STRANGER)
    for share_id in (other, NOBODY):
        for name in ("same_host", "different_host"):
            refused(create(program, scheduler_hints={name: share_id}), 404)
    refused(create(program, scheduler_hints={"same_host": f"{other},{other}"}), 404)
    assert create(program, as_=ADMIN, scheduler_hints={"same_host": other}).status == 200
    program.put(f"/shares/{other}", {"share": {"is_public": True}}, as_=ADMIN)
    assert create(program, scheduler_hints={"same_host": other}).status == 200


def test_malformed_hints(program):
    share_id = program.new_share()
    many = ",".join([share_id] * 28)
    for hints in ({"same_host": many}, {"same_host": "x"}, {"same_host": 5}, {"a": {}}, [], "x"):
        refused(create(program, scheduler_hints=hints), 400)
    for hints in (None, {}, {"same_host": ""}, {"different_host": " , "}):
        assert create(program, scheduler_hints=hints).status == 200


def test_only_operators_choose_a_pool(program):
    pools = {pool["name"] for pool in program.get("/scheduler-stats/pools", as_=ADMIN)["pools"]}
    assert len(pools) == 2
    for pool in sorted(pools) * 2:
        made = create(program, as_=ADMIN, scheduler_hints={"only_host": pool})["share"]
        assert host_of(program, made["id"]) == pool
    nowhere = create(program, as_=ADMIN, scheduler_hints={"only_host": "node@gamma#x"})["share"]
    assert program.show(nowhere["id"])["status"] == "error"
    for hint in ("node@gamma#x", *pools):
        refused(create(program, scheduler_hints={"only_host": hint}), 403)
    assert create(program, scheduler_hints={"only_host": ""}).status == 200
    program.books()


@pytest.fixture
def with_default(tmp_path):
    with inprocess.running(tmp_path, default_share_type="default") as made:
        yield made


def test_a_type_that_was_not_given(with_default):
    names = (
        "share_type", "volume_type", "metadata", "scheduler_hints", "name", "description",
        "availability_zone", "snapshot_id", "share_network_id", "share_group_id",
        "mount_point_name", "encryption_key_ref",
    )  # fmt: skip
    null = dict.fromkeys(names)
    for body in ({"share_proto": "NFS", "size": 1}, {"share_proto": "NFS", "size": 1, **null}):
        answer = with_default.post("/shares", {"share": body})
        assert (answer.status, answer["share"]["share_type_name"]) == (200, "default")
    body = {"share_proto": "NFS", "size": 1, "volume_type": "default", "share_type": None}
    assert with_default.post("/shares", {"share": body}, version="2.0").status == 200
