"""Lists in pages: every row once and in order, for each sort key, on each kind of database."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
import rows
import sqlalchemy as sa

from fileshare.db import messages, shares
from fileshare.db.clock import after
from fileshare.db.models import AvailabilityZone, Message, Share
from fileshare.db.query import ALL, Scope
from fileshare.domain.listing import Page
from fileshare.domain.statuses import Status
from tests.fixtures.databases import KINDS

pytestmark = pytest.mark.parametrize("kind", KINDS)

SHARES = 23


@pytest.fixture
def some(sessions):
    """Shares of two projects, in which nothing and the same value come often."""
    with sessions.begin() as session:
        session.execute(sa.insert(AvailabilityZone).values(id="z", name="zone"))
        type_id = rows.add_type(session)
        for number in range(SHARES):
            rows.add_share(
                session,
                project_id="p1" if number % 3 else "p2",
                display_name=(None, "b", "B", "a", "ä")[number % 5],
                display_description=None if number % 2 else "text",
                host=None if number % 4 else rows.HOST,
                status=Status.ERROR if number % 7 == 0 else Status.AVAILABLE,
                size=number % 3,
                is_public=number % 2 == 0,
                availability_zone_id=None if number % 5 else "z",
                share_type_id=type_id if number % 3 else None,
                updated_at=None if number % 2 else after(number // 4),
            )
    return sessions


def walk(find, limit, *, by, **order):
    """All rows, page after page, by marker or by offset."""
    seen = []
    while True:
        place = {"marker": seen[-1].id} if by == "marker" and seen else {"offset": len(seen)}
        found = find(Page(limit=limit, sort_key=order["key"], sort_dir=order["dir"], **place))
        seen += found
        if len(found) < limit:
            return seen


@pytest.mark.parametrize("public", [False, True])
def test_pages_of_shares(some, public):
    scope = Scope("p1")
    with some.begin() as session:

        def find(page, scope=scope):
            return list(shares.find(session, scope, {}, page, public=public).rows)

        for key, dir in itertools.product(sorted(shares.SORT_KEYS), ("asc", "desc")):
            whole = [row.id for row in find(Page(sort_key=key, sort_dir=dir))]
            assert len(set(whole)) == len(whole) == (19 if public else 15)
            for by in ("marker", "offset"):
                pages = walk(find, 4, by=by, key=key, dir=dir)
                assert [row.id for row in pages] == whole, (key, dir, by)


def test_nothing_comes_before_everything(some):
    with some.begin() as session:
        for dir in ("asc", "desc"):
            page = Page(sort_key="name", sort_dir=dir)
            names = [row.display_name for row in shares.find(session, ALL, {}, page).rows]
            assert names.count(None) == 5
            assert (names[:5] if dir == "asc" else names[-5:]) == [None] * 5


def test_both_parts_are_counted(some):
    with some.begin() as session:

        def total(scope, filters, **kw):
            page = Page(limit=2, with_count=True)
            return shares.find(session, scope, filters, page, **kw).total

        assert total(Scope("p1"), {}) == 15
        assert total(Scope("p1"), {}, public=True) == 19
        assert total(ALL, {}, public=True) == SHARES
        in_zone = {"availability_zone": "zone"}
        assert total(ALL, in_zone) == len(shares.find(session, ALL, in_zone, Page()).rows) == 5
        assert total(ALL, {"availability_zone": "z"}) == 5
        assert total(ALL, {"availability_zone": "nowhere"}) == 0


def test_a_public_share_of_mine_is_listed_once(some):
    with some.begin() as session:
        found = shares.find(session, Scope("p1"), {}, Page(limit=100), public=True).rows
        assert len(found) == len({row.id for row in found}) == 19
        mine = [row for row in found if row.project_id == "p1"]
        assert len(mine) == 15
        assert all(row.is_public for row in found if row.project_id != "p1")


def test_a_marker_that_is_gone_ends_the_list(some):
    with some.begin() as session:
        for key in ("created_at", "name"):
            page = Page(limit=5, marker="nobody", sort_key=key)
            assert list(shares.find(session, ALL, {}, page).rows) == []


def test_names_of_zone_and_type(some):
    with some.begin() as session:
        found = shares.find(session, ALL, {}, Page(limit=5, offset=3)).rows
        assert len(found) == 5
        every = shares.find(session, ALL, {}, Page()).rows
    zones = {(row.availability_zone_id, row.availability_zone) for row in every}
    assert zones == {(None, None), ("z", "zone")}
    assert {(row.share_type_id is None, row.share_type_name) for row in every} == {
        (True, None),
        (False, "gold"),
    }


def test_filters_of_shares(some):
    with some.begin() as session:
        whole = shares.find(session, ALL, {}, Page()).rows

        def ids(**filters):
            return {row.id for row in shares.find(session, ALL, filters, Page()).rows}

        assert ids(name="b") == {row.id for row in whole if row.display_name == "b"}
        assert ids(status=Status.ERROR) == {r.id for r in whole if r.status == Status.ERROR}
        assert ids(status_not_in=(Status.ERROR,)) == {
            r.id for r in whole if r.status != Status.ERROR
        }
        assert ids(host=rows.HOST, name="a") == {
            r.id for r in whole if r.host == rows.HOST and r.display_name == "a"
        }
        one = whole[0].id
        shares_metadata(session, one)
        assert ids(metadata={"k": "v"}) == {one}
        assert ids(metadata={"k": "v", "l": "w"}) == set()


def shares_metadata(session, share_id):
    from fileshare.db.models import ShareMetadata

    session.execute(sa.insert(ShareMetadata).values(share_id=share_id, key="k", value="v"))


def test_pages_of_messages(sessions):
    with sessions.begin() as session:
        for number in range(11):
            row = SimpleNamespace(
                project_id="p1",
                action_id=f"00{number % 3}",
                detail_id=None if number % 2 else "001",
                resource_type=None if number % 3 else "SHARE",
                request_id=None if number % 4 else "req",
                message_level="ERROR",
                created_at=after(number // 3),
            )
            session.execute(sa.insert(Message).values(**vars(row)))

        def find(page):
            return list(messages.find(session, Scope("p1"), {}, page))

        for key, dir in itertools.product(sorted(messages.SORT_KEYS), ("asc", "desc")):
            whole = [row.id for row in find(Page(sort_key=key, sort_dir=dir))]
            assert len(whole) == 11
            for by in ("marker", "offset"):
                pages = walk(find, 4, by=by, key=key, dir=dir)
                assert [row.id for row in pages] == whole, (key, dir, by)


def test_deleted_shares_are_not_listed(some):
    with some.begin() as session:
        session.execute(sa.update(Share).values(deleted_at=after(0)))
        assert list(shares.find(session, ALL, {}, Page(with_count=True)).rows) == []
        assert shares.find(session, Scope("p1"), {}, Page(with_count=True), public=True).total == 0
