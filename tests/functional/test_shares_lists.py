"""Lists of shares: filters, order, pages, and whose shares are in them."""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest
from inprocess import (
    ADMIN,
    ADMIN_PROJECT,
    MEMBER,
    NOBODY,
    OTHER_PROJECT,
    PROJECT,
    READER,
    STRANGER,
)
from refusals import refused, set_share

from fileshare.api.resources.shares import LIST
from fileshare.db.shares import SORT_KEYS


def listed(program, path="/shares", *, as_=MEMBER, version="2.99", **query):
    """The names on a page."""
    text = urlencode({key.replace("__", "~"): value for key, value in query.items()})
    answer = program.get(f"{path}?{text}", as_=as_, version=version)
    assert answer.status == 200, answer.body
    return [share["name"] for share in answer["shares"]]


def found(program, **query):
    """The names that a filter finds, in both lists alike."""
    names = sorted(listed(program, **query))
    assert sorted(listed(program, "/shares/detail", **query)) == names
    return names


@pytest.fixture
def shares(program):
    """Ids by name: ant and bee are the member's, ape a stranger's, owl the administrator's.

    ::

        name  size  project  description   metadata
        ant   3     member   six legs      legs=6 sort=insect
        bee   1     member   legs & wings  legs=6 wings=2
        ape   2     other    -             legs=2
        owl   2     admin    100% wings    -
    """
    ids = {}
    for name, as_, values in (
        ("ant", MEMBER, {"size": 3, "description": "six legs", "metadata": {"legs": "6", "sort": "insect"}}),
        ("bee", MEMBER, {"size": 1, "description": "legs & wings", "metadata": {"legs": "6", "wings": "2"}}),
        ("ape", STRANGER, {"size": 2, "metadata": {"legs": "2"}}),
        ("owl", ADMIN, {"size": 2, "description": "100% wings"}),
    ):  # fmt: skip
        ids[name] = program.new_share(name=name, as_=as_, **values)
    return ids


def test_whose_shares(program, shares):
    assert found(program) == ["ant", "bee"]
    assert found(program, as_=READER) == ["ant", "bee"]
    assert found(program, as_=STRANGER) == ["ape"]
    assert found(program, as_=ADMIN) == ["owl"]
    for truth in ("1", "true", "Yes", "on", "t", "y"):
        assert found(program, as_=ADMIN, all_tenants=truth) == sorted(shares)
    assert found(program, as_=ADMIN, all_tenants="no") == ["owl"]
    assert found(program, all_tenants="1") == ["ant", "bee"]
    refused(program.get("/shares?all_tenants=perhaps", as_=ADMIN), 400)
    assert found(program, as_=ADMIN, project_id=PROJECT) == ["ant", "bee"]
    assert found(program, as_=ADMIN, all_tenants="1", project_id=OTHER_PROJECT) == ["ape"]
    assert found(program, as_=ADMIN, project_id=ADMIN_PROJECT) == ["owl"]
    assert found(program, project_id=OTHER_PROJECT) == ["ant", "bee"]


def test_an_empty_all_tenants_is_true(program, shares):
    assert found(program, as_=ADMIN, all_tenants="") == sorted(shares)


def test_shares_that_everybody_sees(program, shares):
    program.put(f"/shares/{shares['ape']}", {"share": {"is_public": True}}, as_=ADMIN)
    assert found(program) == ["ant", "bee"]
    assert found(program, is_public="true") == ["ant", "ape", "bee"]
    assert found(program, is_public="false") == ["ant", "bee"]
    assert found(program, is_public="True", name="ape") == ["ape"]
    refused(program.get("/shares?is_public=perhaps"), 400)
    assert program.show(shares["ape"], as_=MEMBER)["name"] == "ape"
    program.act(shares["ape"], "soft_delete", as_=STRANGER)
    assert found(program, is_public="true") == ["ant", "bee"]


def test_filters(program, shares):
    ant = program.show(shares["ant"])
    export = program.get(f"/shares/{ant['id']}/export_locations")["export_locations"][0]
    for query, names in (
        ({"name": "ant"}, ["ant"]),
        ({"display_name": "bee"}, ["bee"]),
        ({"name": "an"}, []),
        ({"name": "ANT"}, []),
        ({"status": "available"}, ["ant", "bee"]),
        ({"status": "error"}, []),
        ({"status": "nonsense"}, []),
        ({"description": "six legs"}, ["ant"]),
        ({"display_description": "six legs"}, ["ant"]),
        ({"share_type_id": ant["share_type"]}, ["ant", "bee"]),
        ({"share_type_id": NOBODY}, []),
        ({"share_type_id": "no-uuid"}, []),
        ({"snapshot_id": NOBODY}, []),
        ({"share_network_id": NOBODY}, []),
        ({"share_group_id": NOBODY}, []),
        ({"share_group_snapshot_id": NOBODY}, ["ant", "bee"]),
        ({"metadata": "{'legs': '6'}"}, ["ant", "bee"]),
        ({"metadata": '{"legs": "6", "wings": "2"}'}, ["bee"]),
        ({"metadata": "{'legs': '5'}"}, []),
        ({"metadata": "{}"}, ["ant", "bee"]),
        ({"export_location_id": export["id"]}, ["ant"]),
        ({"export_location_path": export["path"]}, ["ant"]),
        ({"export_location_id": "no-uuid"}, []),
        ({"name__": "n"}, ["ant"]),
        ({"display_name__": "e"}, ["bee"]),
        ({"description__": "legs"}, ["ant", "bee"]),
        ({"display_description__": "& w"}, ["bee"]),
        ({"name__": "^a"}, ["ant"]),
        ({"name__": "a|b"}, ["ant", "bee"]),
        ({"name__": "x"}, []),
        ({"mount_point_name": "x"}, []),
        ({"availability_zone": ant["availability_zone"], "name": "ant"}, ["ant"]),
        ({"availability_zone": "nowhere"}, []),
        ({"is_soft_deleted": "false"}, ["ant", "bee"]),
        ({"name": "ant", "status": "available", "description__": "zzz"}, []),
        ({"nonsense": "1"}, ["ant", "bee"]),
        ({"deleted": "True"}, ["ant", "bee"]),
        ({"user_id": "mallory"}, ["ant", "bee"]),
    ):
        assert (query, found(program, **query)) == (query, names)


def test_filters_of_operators(program, shares):
    ant = program.show(shares["ant"])
    everybodys = {"as_": ADMIN, "all_tenants": "1"}
    assert "ant" in found(program, host=ant["host"], **everybodys)
    assert found(program, host="nowhere", **everybodys) == []
    assert found(program, share_server_id=NOBODY, **everybodys) == []
    specs = "{'snapshot_support': 'True'}"
    assert found(program, extra_specs=specs, **everybodys) == sorted(shares)
    assert found(program, extra_specs="{'snapshot_support': 'no'}", **everybodys) == []
    assert found(program, encryption_key_ref=NOBODY, **everybodys) == []
    assert found(program, encryption_key_ref=NOBODY) == ["ant", "bee"]
    for query in ("host=x", f"share_server_id={NOBODY}", f"extra_specs={quote(specs)}"):
        refused(program.get(f"/shares?{query}"), 403)
        refused(program.get(f"/shares/detail?{query}"), 403)
    set_share(program, ant["id"], status="deferred_deleting")
    assert "ant" not in found(program)
    refused(program.get(f"/shares/{ant['id']}"), 404)
    assert program.show(ant["id"])["status"] == "deferred_deleting"
    assert "ant" in found(program, **everybodys)
    for status in ("deferred_deleting", "error_deferred_deleting"):
        refused(program.get(f"/shares?status={status}"), 403)
    assert found(program, status="deferred_deleting", **everybodys) == ["ant"]


def test_filters_came_one_by_one(program, shares):
    for last, query in (
        ("2.30", {"share_group_id": NOBODY}),
        ("2.34", {"export_location_id": NOBODY}),
        ("2.34", {"export_location_path": "x"}),
        ("2.35", {"name__": "x"}),
        ("2.35", {"description__": "zzz"}),
        ("2.35", {"description": "x"}),
        ("2.68", {"is_soft_deleted": "true"}),
        ("2.96", {"availability_zone": "nowhere"}),
    ):
        first = f"2.{int(last.split('.')[1]) + 1}"
        assert len(listed(program, version=last, **query)) == 2, query
        assert listed(program, version=first, **query) == [], query


MALFORMED = {
    "limit": ["-1", "x", "1.5", "", "9" * 30, "%201x"],
    "offset": ["-1", "x", "1.5", "9" * 30],
    "sort_key": ["nonsense", "__class__", "metadata", "", "id;drop", "intent_id", "deleted_at"],
    "sort_dir": ["sideways", "", "1"],
    "with_count": ["perhaps", "2"],
    "is_soft_deleted": ["perhaps"],
    "metadata": ["x", "[1]", "5", "{1: 2}", "{'a': {}}", "{", "{'a': 1}", "__import__('os')"],
    "name~": ["[", "(", "*", "a" * 300],
}


def test_what_is_malformed(program):
    for path in ("/shares", "/shares/detail"):
        for name, texts in MALFORMED.items():
            for text in texts:
                query = urlencode({name: text})
                answer = program.get(f"{path}?{query}", as_=ADMIN)
                assert (query, answer.status) == (query, 400)
    refused(program.get("/shares?extra_specs=x", as_=ADMIN), 400)
    refused(program.get("/shares?name=%ff"), 400)
    refused(program.get("/shares?name=%00"), 400)


@pytest.mark.parametrize("name", ["name~", "description~"])
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)+$", "(a*)*b", "(a?){9}", "a?" * 9, "(a)*(a)*(a)*b"]
)
def test_a_pattern_that_could_take_for_ever(program, name, pattern):
    """On SQLite it is this process that matches, and everybody waits meanwhile."""
    program.new_share(name="a" * 9, description="a" * 9, drain=False)
    refused(program.get(f"/shares?{urlencode({name: pattern})}"), 400)
    assert len(program.get(f"/shares?{urlencode({name: '^a.*a+$'})}")["shares"]) == 1


def test_no_value_of_a_filter_is_an_error_of_the_server(program, shares):
    texts = ["", " ", "%", "'", "\\", "é", "😀", "x" * 2000, "null", "[]", "{}", "-1", "1e9"]
    for field in LIST.fields:
        for text in texts:
            query = urlencode({field.name: text})
            for as_ in (MEMBER, ADMIN):
                answer = program.get(f"/shares/detail?{query}", as_=as_)
                assert answer.status < 500, query


def test_order(program, shares):
    made = ["ant", "bee", "ape", "owl"]
    how = {"as_": ADMIN, "all_tenants": "1"}
    assert listed(program, **how) == made[::-1]
    assert listed(program, sort_dir="asc", **how) == made
    assert listed(program, sort_dir="ASC", **how) == made
    assert listed(program, sort_key="name", sort_dir="asc", **how) == sorted(made)
    assert listed(program, sort_key="display_name", **how) == sorted(made, reverse=True)
    sizes = listed(program, sort_key="size", sort_dir="asc", **how)
    assert (sizes[0], sizes[3], set(sizes[1:3])) == ("bee", "ant", {"ape", "owl"})
    ids = listed(program, sort_key="id", sort_dir="asc", **how)
    assert ids == sorted(made, key=shares.get)
    for key in SORT_KEYS:
        for way in ("asc", "desc"):
            names = listed(program, sort_key=key, sort_dir=way, **how)
            assert sorted(names) == sorted(made), key


def test_pages_by_offset(program, shares):
    how = {"as_": ADMIN, "all_tenants": "1", "sort_dir": "asc"}
    assert listed(program, limit=0, **how) == []
    assert listed(program, limit=3, **how) == ["ant", "bee", "ape"]
    assert listed(program, limit=3, offset=2, **how) == ["ape", "owl"]
    assert listed(program, limit=3, offset=9, **how) == []
    assert listed(program, limit=2**31, **how) == ["ant", "bee", "ape", "owl"]
    assert listed(program, limit=2**62, offset=0, **how) == ["ant", "bee", "ape", "owl"]
    assert listed(program, offset=2, **how) == ["ant", "bee", "ape", "owl"]
    for public in ({}, {"is_public": "true"}):
        assert listed(program, limit=3, offset=2**63 - 1, **how, **public) == []
        assert listed(program, limit=3, offset=2**63 - 1, **public) == []


def test_pages_by_marker(program, shares):
    """Following the links meets every share once, also where the key is null or the same."""
    program.put(f"/shares/{shares['bee']}", {"share": {"display_name": None}})
    for key in SORT_KEYS:
        for way in ("asc", "desc"):
            path = f"/shares/detail?limit=1&all_tenants=1&sort_key={key}&sort_dir={way}"
            whole = program.get(path.replace("limit=1", "limit=9"), as_=ADMIN)["shares"]
            assert len(whole) == len(shares)
            assert followed(program, path, len(shares)) == [share["id"] for share in whole]


def followed(program, path, most):
    """The ids on all pages from *path* on."""
    met = []
    while path and len(met) <= most:
        body = program.get(path, as_=ADMIN).body
        met += [share["id"] for share in body["shares"]]
        links = body.get("shares_links", [])
        path = links[0]["href"].partition("/v2")[2] if links else ""
    return met


def test_links_to_the_next_page(program, shares):
    body = program.get("/shares?limit=2&name~=e&sort_dir=asc", as_=MEMBER).body
    assert "shares_links" not in body
    body = program.get("/shares?limit=1&sort_dir=asc", as_=MEMBER).body
    (link,) = body["shares_links"]
    assert link["rel"] == "next"
    assert link["href"].endswith(f"/v2/shares?limit=1&sort_dir=asc&marker={shares['ant']}")
    detail = program.get(f"/{PROJECT}/shares/detail?limit=1")["shares_links"][0]["href"]
    assert f"/v2/{PROJECT}/shares/detail?limit=1&marker=" in detail
    assert "shares_links" not in program.get("/shares").body
    assert program.get(f"/shares?marker={NOBODY}")["shares"] == []


def test_counts(program, shares):
    for path, version, count in (
        ("/shares?with_count=1", "2.41", None),
        ("/shares?with_count=1", "2.42", 2),
        ("/shares/detail?with_count=true", "2.42", 2),
        ("/shares?with_count=false", "2.99", None),
        ("/shares?with_count=1&limit=1", "2.99", 2),
        ("/shares?with_count=1&limit=0", "2.99", 2),
        ("/shares?with_count=1&limit=1&offset=5", "2.99", 2),
        ("/shares?with_count=1&name=ant", "2.99", 1),
        ("/shares?with_count=1&name=nobody", "2.99", 0),
        ("/shares?with_count=1&availability_zone=nowhere", "2.99", 0),
        ("/shares", "2.99", None),
    ):
        body = program.get(path, version=version).body
        assert (path, body.get("count")) == (path, count)
    everybodys = "/shares?with_count=1&all_tenants=1&limit=1"
    assert program.get(everybodys, as_=ADMIN)["count"] == 4
    found_there = f"/shares?with_count=1&availability_zone={'manila-zone-0'}&all_tenants=1"
    body = program.get(found_there, as_=ADMIN).body
    assert body["count"] == len(body["shares"])


def test_the_detailed_list_counts_at_every_version(program, shares):
    assert program.get("/shares/detail?with_count=1", version="2.0")["count"] == 2
