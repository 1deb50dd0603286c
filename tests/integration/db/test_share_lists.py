"""Lists of shares are the same on every database server."""

from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.db import exports, instances, share_metadata, shares
from fileshare.db.query import ALL, Scope
from fileshare.domain.listing import Page
from tests.fixtures.databases import KINDS
from tests.integration.db import rows

pytestmark = pytest.mark.parametrize("kind", KINDS)

NAMES = ("ant", None, "Bee", "ant", "50% off", None, "a_b")


@pytest.fixture
def ids(sessions):
    """Shares of the names above, in their order."""
    with sessions.begin() as session:
        return [rows.add_share(session, display_name=name) for name in NAMES]


def find(sessions, filters=None, **page):
    with sessions.begin() as session:
        found = shares.find(session, ALL, filters or {}, Page(**page))
        return [row.id for row in found.rows]


def test_a_marker_finds_its_place(sessions, ids):
    for key in shares.SORT_KEYS:
        for way in ("asc", "desc"):
            how = {"sort_key": key, "sort_dir": way}
            whole = find(sessions, **how)
            assert sorted(whole) == sorted(ids)
            for place, marker in enumerate(whole):
                rest = whole[place + 1 :][:3]
                assert (how, find(sessions, limit=3, marker=marker, **how)) == (how, rest)


def test_what_has_no_name_is_the_least(sessions, ids):
    names = dict(zip(ids, NAMES, strict=True))
    for way in ("asc", "desc"):
        found = [names[id] for id in find(sessions, sort_key="name", sort_dir=way)]
        assert (found[:2] if way == "asc" else found[-2:]) == [None, None]


def test_patterns(sessions, ids):
    known = dict(zip(ids, NAMES, strict=True))
    for pattern, names in (
        ("ant", ["ant", "ant"]),
        ("^a", ["a_b", "ant", "ant"]),
        ("e$", ["Bee"]),
        ("b|t", ["a_b", "ant", "ant"]),
        ("0%", ["50% off"]),
        ("[0-9]+", ["50% off"]),
        ("", ["50% off", "Bee", "a_b", "ant", "ant"]),
        ("zzz", []),
    ):
        assert sorted(known[id] for id in find(sessions, {"name~": pattern})) == names, pattern


def test_a_pattern_that_the_server_does_not_take(sessions, ids):
    assert ids
    with pytest.raises(errors.InvalidInput):
        find(sessions, {"name~": "(unbalanced"})


def test_every_filter_runs(sessions, ids):
    for filters in (
        {"metadata": {"k": "v"}},
        {"extra_specs": {"k": "v"}},
        {"export_location_id": "x"},
        {"export_location_path": "x"},
        {"availability_zone": "nowhere"},
        *({name: "x"} for name in shares.EQUALS if not name.startswith("is_")),
    ):
        assert find(sessions, filters) == []
    assert sorted(find(sessions, {"metadata": {}, "is_soft_deleted": False})) == sorted(ids)
    with sessions.begin() as session:
        page = Page(limit=1, with_count=True)
        found = shares.find(session, Scope("p1"), {"availability_zone": "nowhere"}, page)
        assert found.total == 0
        for filters in (
            {"host": "x", "status": "x", "share_server_id": "x"},
            {"export_location_id": "x", "export_location_path": "x", "is_soft_deleted": True},
        ):
            assert instances.find(session, filters) == []


ODD = {
    'a"b': 'c"d',
    "back\\slash": "x\\y",
    "new\nline": "t\tab",
    "quote'": "</o'x>",
    "☃": "𝄞 é 😀",
    "\x01": "\x1f\x7f",
    "empty": "",
    "A": "1",
    "a": "2",
    "long": "é" * 1023,
}


def test_metadata_of_a_page(sessions, ids):
    with sessions.begin() as session:
        for share_id, pairs in ((ids[0], ODD), (ids[1], {}), (ids[2], {"a": "3"})):
            old = share_metadata.hold(session, share_id)
            share_metadata.change(session, share_id, old, pairs)
        rows = shares.find(session, Scope("p1"), {}, Page()).rows
        found = {row.id: row.metadata for row in rows}
        assert [found[share_id] for share_id in ids[:3]] == [ODD, {}, {"a": "3"}]
        assert list(found[ids[0]]) == sorted(ODD)
        assert shares.get(session, Scope("p1"), ids[0]).metadata == ODD


def test_metadata_and_exports(sessions, ids):
    with sessions.begin() as session:
        first = ids[0]
        old = share_metadata.hold(session, first)
        share_metadata.change(session, first, old, {"a": "1", "A": "2", "é ": "→"})
        new = {"a": "1", "b": "3"}
        share_metadata.change(session, first, share_metadata.hold(session, first), new)
        assert share_metadata.of(session, first) == new
        (instance,) = instances.of_share(session, first)
        row = {"path": "/x", "preferred": True, "is_admin_only": False, "extra": {"k": "v"}}
        exports.replace(session, instance.id, [row])
        (location,) = exports.of_shares(session, ids)[first]
        exports.hold(session, location.id)
        exports.update(session, location.id, {"extra": {"é": "→"}, "preferred": False})
        exports.replace(session, instance.id, [row, {**row, "path": "/y"}], flags=False)
        kept, added = exports.of_instances(session, [instance.id])[instance.id]
        assert (kept.id, kept.extra, kept.preferred) == (location.id, {"é": "→"}, False)
        assert (added.path, added.extra) == ("/y", {"k": "v"})
        exports.replace(session, instance.id, [{**row, "path": "/y"}])
        assert [r.id for r in exports.of_shares(session, ids)[first]] == [added.id]
