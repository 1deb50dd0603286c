"""How many statements a request on shares costs, whatever the number of shares."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, MEMBER
from queries import assert_queries, recorded


@pytest.fixture
def counted(program):
    """A function that makes a request and fails where it costs more than so many statements."""

    def request(most, method, path, body=None, *, as_=MEMBER, status=200, **how):
        with assert_queries(program.sessions.engine, most):
            answer = program.ask(method, path, body, as_=as_, **how)
        assert answer.status == status, answer.body
        return answer

    return request


@pytest.mark.parametrize("number", [1, 12])
def test_a_list_costs_the_same_for_any_number(program, counted, number):
    for place in range(number):
        program.new_share(name=f"share-{place}", metadata={"a": "1", "b": "2"})
    for path in ("/shares", "/shares/detail"):
        for version in ("2.0", "2.99"):
            exports = version == "2.0" and path.endswith("detail")
            rows = counted(2 + exports, "GET", path, version=version)["shares"]
            assert len(rows) == number
        assert counted(3, "GET", f"{path}?with_count=1&limit=3")["count"] == number
        counted(2, "GET", f"{path}?all_tenants=1", as_=ADMIN)
    for version in ("2.3", "2.99"):
        rows = counted(2, "GET", "/share_instances", as_=ADMIN, version=version)
        assert len(rows["share_instances"]) == number


def test_reads(program, counted):
    share_id = program.new_share(metadata={"a": "1"})
    path = f"/shares/{share_id}"
    counted(3, "GET", path, version="2.0")
    counted(2, "GET", path)
    exports = counted(2, "GET", f"{path}/export_locations")["export_locations"]
    counted(2, "GET", f"{path}/export_locations/{exports[0]['id']}")
    counted(2, "GET", f"{path}/export_locations/{exports[0]['id']}/metadata")
    counted(2, "GET", f"{path}/metadata")
    counted(2, "GET", f"{path}/metadata/a")
    (instance,) = counted(3, "GET", f"{path}/instances", as_=ADMIN)["share_instances"]
    counted(2, "GET", f"/share_instances/{instance['id']}", as_=ADMIN)
    counted(2, "GET", f"/share_instances/{instance['id']}/export_locations", as_=ADMIN)


def test_writes(program, counted):
    first = {"share": {"share_proto": "NFS", "size": 3, "share_type": "default"}}
    program.post("/shares", first)  # opens the books of the project
    program.drain()
    share_id = counted(12, "POST", "/shares", first)["share"]["id"]
    program.drain()
    path = f"/shares/{share_id}"
    counted(5, "PUT", path, {"share": {"display_name": "x"}})
    counted(5, "POST", f"{path}/metadata", {"metadata": {"a": "1", "b": "2"}})
    counted(6, "PUT", f"{path}/metadata", {"metadata": {"b": "3", "c": "4"}})
    counted(4, "DELETE", f"{path}/metadata/b")
    for most, action in (
        (8, {"extend": {"new_size": 5}}),
        (8, {"shrink": {"new_size": 2}}),
    ):
        counted(most, "POST", f"{path}/action", action, status=202)
        program.drain()
    counted(3, "POST", f"{path}/action", {"soft_delete": None}, status=202)
    counted(1, "POST", f"{path}/action", {"restore": None}, status=202)
    counted(5, "DELETE", path, status=202)


def test_the_whole_way_of_a_share(program):
    body = {"share": {"share_proto": "NFS", "size": 1, "share_type": "default"}}
    program.post("/shares", body)
    program.drain()
    with assert_queries(program.sessions.engine, 30):
        share_id = program.post("/shares", body)["share"]["id"]
        program.drain()
    assert program.show(share_id)["status"] == "available"
    for most, change in ((25, {"extend": {"new_size": 5}}), (18, {"shrink": {"new_size": 2}})):
        with assert_queries(program.sessions.engine, most):
            assert program.post(f"/shares/{share_id}/action", change).status == 202
            program.drain()
    with assert_queries(program.sessions.engine, 20):
        assert program.delete(f"/shares/{share_id}").status == 202
        program.drain()
    program.check()


def test_refusals_are_cheap(program):
    share_id = program.new_share()
    for method, path, body in (
        ("POST", "/shares", {"share": {"share_proto": "NFS"}}),
        ("POST", f"/shares/{share_id}/action", {"extend": {"new_size": "x"}}),
        ("PUT", f"/shares/{share_id}", {"share": {"display_name": 5}}),
        ("GET", "/shares?limit=x", None),
    ):
        with recorded(program.sessions.engine) as statements:
            assert program.ask(method, path, body).status == 400
        assert statements == []
