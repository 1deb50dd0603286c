"""Metadata of shares and of their export locations."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, MEMBER, NOBODY, READER, STRANGER
from refusals import refused

ODD = [
    {"": "v"},
    {"k" * 256: "v"},
    {"k": ""},
    {"k": "v" * 1024},
    {"k": None},
    {"k": 1},
    {"k": {}},
    {"k": ["v"]},
]


@pytest.fixture(params=["share", "export location"])
def path(request, program):
    """The path of the metadata of a share, or of its first export location."""
    share_id = program.new_share()
    if request.param == "share":
        return f"/shares/{share_id}/metadata"
    rows = program.get(f"/shares/{share_id}/export_locations")["export_locations"]
    return f"/shares/{share_id}/export_locations/{rows[0]['id']}/metadata"


def ours(answer):
    """The pairs of an answer, without what every export location has."""
    assert answer.status == 200, answer.body
    return {key: value for key, value in answer["metadata"].items() if key != "preferred"}


def test_the_life_of_metadata(program, path):
    assert ours(program.get(path)) == {}
    assert ours(program.post(path, {"metadata": {"a": "1", "b": "2"}})) == {"a": "1", "b": "2"}
    merged = {"a": "1", "b": "3", "c": "4"}
    assert ours(program.post(path, {"metadata": {"b": "3", "c": "4"}})) == merged
    assert ours(program.get(path)) == merged
    assert program.get(f"{path}/b").body == {"meta": {"b": "3"}}
    item = program.post(f"{path}/d", {"metadata": {"d": "5"}})
    assert (item.status, item.body) == (200, {"metadata": {"d": "5"}})
    assert ours(program.get(path)) == {**merged, "d": "5"}
    gone = program.delete(f"{path}/a")
    assert (gone.status, gone.body) == (200, None)
    assert ours(program.put(path, {"metadata": {"c": "6", "e": "7"}})) == {"c": "6", "e": "7"}
    assert ours(program.get(path)) == {"c": "6", "e": "7"}
    assert ours(program.post(path, {"metadata": {}})) == {"c": "6", "e": "7"}
    assert ours(program.put(path, {"metadata": {}})) == {}
    assert ours(program.get(path, as_=ADMIN)) == {}


def test_keys_may_hold_anything(program, path):
    pairs = {"Ü ß/%": "→ 'x' \"y\"", "k" * 255: "v" * 1023, "K": "1", "k": "2", " ": " "}
    assert ours(program.post(path, {"metadata": pairs})) == pairs
    assert program.get(f"{path}/%C3%9C%20%C3%9F%2F%25").status in {200, 404}
    assert program.get(f"{path}/K")["meta"] == {"K": "1"}


def test_what_is_malformed(program, path):
    for pairs in ODD:
        for method in ("POST", "PUT"):
            refused(program.ask(method, path, {"metadata": pairs}), 400)
    for body in ({}, {"metadata": None}, {"metadata": []}, {"metadata": "x"}, {"meta": {}}, []):
        for method in ("POST", "PUT"):
            refused(program.ask(method, path, body), 400)
        refused(program.post(f"{path}/k", body), 400)
    for pairs in ({}, {"other": "v"}, {"k": "v", "other": "v"}):
        refused(program.post(f"{path}/k", {"metadata": pairs}), 400)
    refused(program.post(path), 400)
    assert ours(program.get(path)) == {}


def test_what_is_not_there(program, path):
    message = refused(program.get(f"{path}/k"), 404)
    assert message.startswith("MetadataItemNotFound: ")
    refused(program.delete(f"{path}/k"), 404)
    elsewhere = path.replace(path.split("/")[2], NOBODY)
    for method, tail, body in (
        ("GET", "", None),
        ("GET", "/k", None),
        ("POST", "", {"metadata": {"k": "v"}}),
        ("PUT", "", {"metadata": {"k": "v"}}),
        ("POST", "/k", {"metadata": {"k": "v"}}),
        ("DELETE", "/k", None),
    ):
        refused(program.ask(method, elsewhere + tail, body), 404)
        refused(program.ask(method, path + tail, body, as_=STRANGER), 404)
        if method != "GET":
            refused(program.ask(method, path + tail, body, as_=READER), 403)
    assert program.get(path, as_=READER).status == 200


def test_of_a_share_that_everybody_sees(program, path):
    program.post(path, {"metadata": {"k": "v"}})
    program.put(f"/shares/{path.split('/')[2]}", {"share": {"is_public": True}}, as_=ADMIN)
    assert ours(program.get(path, as_=STRANGER)) == {"k": "v"}
    assert program.get(f"{path}/k", as_=STRANGER)["meta"] == {"k": "v"}
    for method, tail, body in (
        ("POST", "", {"metadata": {"k": "w"}}),
        ("PUT", "", {"metadata": {}}),
        ("POST", "/k", {"metadata": {"k": "w"}}),
        ("DELETE", "/k", None),
    ):
        refused(program.ask(method, path + tail, body, as_=STRANGER), 403)
    assert ours(program.get(path)) == {"k": "v"}


def test_keys_of_operators(program):
    path = f"/shares/{program.new_share(metadata={'k': 'v'})}/metadata"
    key = "__managed_at"
    for method, tail in (("POST", ""), ("PUT", ""), ("POST", f"/{key}")):
        refused(program.ask(method, path + tail, {"metadata": {key: "x"}}), 403)
    assert ours(program.post(path, {"metadata": {key: "x"}}, as_=ADMIN)) == {"k": "v", key: "x"}
    refused(program.delete(f"{path}/{key}"), 403)
    assert ours(program.put(path, {"metadata": {"new": "v"}})) == {"new": "v", key: "x"}
    assert ours(program.put(path, {"metadata": {"k": "v"}}, as_=ADMIN)) == {"k": "v"}
    assert ours(program.post(path, {"metadata": {key: "y"}}, version="2.67"))[key] == "y"
    assert program.delete(f"{path}/{key}", version="2.67").status == 200
    assert program.post(f"{path}/{key}", {"metadata": {key: "z"}}, as_=ADMIN).status == 200
    assert program.delete(f"{path}/{key}", as_=ADMIN).status == 200
    assert ours(program.get(path)) == {"k": "v"}


def test_at_the_first_version(program):
    path = f"/shares/{program.new_share()}/metadata"
    assert program.post(path, {"metadata": {"k": "v"}}, version="2.0").status == 200
    assert program.get(f"{path}/k", version="2.0")["meta"] == {"k": "v"}


def locations(program, share_id, **how):
    return program.get(f"/shares/{share_id}/export_locations", **how)["export_locations"]


def test_a_preferred_location(program):
    share_id = program.new_share()
    row = locations(program, share_id)[0]
    path = f"/shares/{share_id}/export_locations/{row['id']}"
    before = str(row["preferred"])
    assert program.get(f"{path}/metadata")["metadata"] == {"preferred": before}
    for method, tail in (("POST", ""), ("PUT", ""), ("POST", "/preferred")):
        body = {"metadata": {"preferred": "False"}}
        refused(program.ask(method, f"{path}/metadata{tail}", body), 403)
        body = {"metadata": {"preferred": "perhaps"}}
        refused(program.ask(method, f"{path}/metadata{tail}", body, as_=ADMIN), 400)
    refused(program.delete(f"{path}/metadata/preferred"), 403)
    for word, truth in (("False", False), ("true", True)):
        body = {"metadata": {"preferred": word, "k": "v"}}
        assert program.post(f"{path}/metadata", body, as_=ADMIN)["metadata"] == {
            "preferred": str(truth),
            "k": "v",
        }
        shown = program.get(path)["export_location"]
        assert (shown["preferred"], shown["metadata"]) == (truth, {"k": "v"})
        assert shown["updated_at"]
    assert program.put(f"{path}/metadata", {"metadata": {"a": "b"}})["metadata"] == {
        "preferred": "True",
        "a": "b",
    }
    assert program.delete(f"{path}/metadata/preferred", as_=ADMIN).status == 200
    assert program.get(path)["export_location"]["preferred"] is False


def test_locations_of_operators(program):
    share_id = program.new_share()
    hidden = [row for row in locations(program, share_id, as_=ADMIN) if row["is_admin_only"]]
    assert hidden
    assert {row["id"] for row in hidden}.isdisjoint(
        row["id"] for row in locations(program, share_id)
    )
    path = f"/shares/{share_id}/export_locations/{hidden[0]['id']}"
    refused(program.get(path), 403)
    refused(program.get(f"{path}/metadata"), 404)
    refused(program.post(f"{path}/metadata", {"metadata": {"k": "v"}}), 404)
    body = {"metadata": {"k": "v"}}
    assert program.post(f"{path}/metadata", body, as_=ADMIN).status == 200


def test_location_metadata_came_in_2_87(program):
    share_id = program.new_share()
    row = locations(program, share_id)[0]
    path = f"/shares/{share_id}/export_locations/{row['id']}/metadata"
    refused(program.get(path, version="2.86"), 404)
    assert program.get(path, version="2.87").status == 200
    other = program.new_share()
    refused(program.get(path.replace(share_id, other)), 404)
    refused(program.get(path.replace(row["id"], NOBODY), as_=MEMBER), 404)
