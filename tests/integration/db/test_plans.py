"""What the hot queries read on MariaDB, with twenty thousand shares: counted, not timed.

The server itself says what a statement read (``Handler_read_…``) and how many rows it sorted.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from filled import LARGE, POOLS, filled

from fileshare.db import (
    access,
    chores,
    clock,
    exports,
    intents,
    messages,
    pools,
    quotas,
    recycle_bin,
    services,
    share_metadata,
    shares,
    transitions,
)
from fileshare.db.models import ShareInstance
from fileshare.db.query import ALL, Scope
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.listing import Page
from fileshare.domain.statuses import Status
from tests.fixtures.queries import recorded

pytestmark = pytest.mark.integration

LIVING = {"is_soft_deleted": False, "status_not_in": (Status.DEFERRED_DELETING,)}
MINE, SMALL = Scope(LARGE), Scope("p-2")


@pytest.fixture(scope="module")
def many(mariadb):
    with filled(mariadb) as sessions:
        yield sessions


@pytest.fixture
def session(many):
    with many.begin() as session:
        yield session
        session.rollback()


@pytest.fixture
def cost(session, many):
    """Count what is read and sorted, and keep the plans for the message of a failure."""

    def status():
        rows = session.execute(
            sa.text(
                "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%'"
                " OR Variable_name = 'Sort_rows'"
            )
        )
        return {name: int(value) for name, value in rows}

    @contextlib.contextmanager
    def counted():
        found = SimpleNamespace(read=0, sorted=0, statements=0)
        session.execute(sa.text("FLUSH STATUS"))
        with recorded(many.engine) as statements:
            yield found
        values = status()
        found.sorted = values.pop("Sort_rows")
        found.read = sum(values.values())
        found.statements = len(statements)

    return counted


def page(**kw):
    return Page(**{"limit": 100, **kw})


def listed(scope, *, public=False, filters=None, **kw):
    def query(session):
        return shares.find(
            session, scope, LIVING | (filters or {}), page(**kw), public=public
        ).rows

    return query


def told(scope, filters=None, **kw):
    return lambda session: messages.find(session, scope, filters or {}, page(**kw))


ONE_BACKEND = ["fileshare-share.node@backend-3"]
HALF = [f"fileshare-share.node@backend-{number}" for number in range(1, 51)]
EVERYWHERE = [f"fileshare-share.node@backend-{number}" for number in range(1, POOLS + 1)]
IDS = [f"s-{number}" for number in range(1, 101)]

# Each query with how many rows it answers, the most that it may read, and the most it may sort.
# A list reads a row of the share, of its type and its zone, and of each of its metadata; and
# what it passes over, once.
LISTS = {
    "project, first page": (listed(MINE), 100, 800, 0),
    "project, last page": (listed(MINE, marker="s-19801"), 79, 500, 0),
    "project, by name": (listed(MINE, sort_key="name"), 100, 700, 0),
    "project, far by offset": (listed(MINE, offset=7900), 100, 19000, 100),
    "project, by status": (listed(MINE, filters={"status": Status.ERROR}), 100, 900, 200),
    "project, by name filter": (listed(MINE, filters={"name": "name-7"}), 1, 20, 1),
    "project, by metadata": (
        listed(MINE, filters={"metadata": {"key-0": "value-6"}}),
        20,
        200,
        20,
    ),
    "small project": (listed(SMALL), 100, 600, 0),
    "small project and public": (listed(SMALL, public=True), 100, 1500, 200),
    "small project and public, next page": (
        listed(SMALL, public=True, marker="s-10002"),
        74,
        1200,
        200,
    ),
    "large project and public": (listed(MINE, public=True), 100, 1700, 200),
    "large project and public, last page": (
        listed(MINE, public=True, marker="s-19801"),
        80,
        1200,
        200,
    ),
    "cloud, first page": (listed(ALL), 100, 700, 0),
    "cloud, last page": (listed(ALL, marker="s-19880"), 100, 700, 0),
    "cloud, oldest first": (listed(ALL, sort_dir="asc"), 100, 700, 0),
    "cloud, far by offset": (listed(ALL, offset=17000), 100, 18500, 100),
    "cloud, by a rare status": (listed(ALL, filters={"status": Status.CREATING}), 0, 5, 0),
    "cloud, by type": (listed(ALL, filters={"share_type_id": "t-3"}), 100, 1500, 0),
    "cloud, by host": (listed(ALL, filters={"host": "node@backend-7#pool"}), 100, 900, 200),
    "cloud, by project": (listed(ALL, filters={"project_id": LARGE}), 100, 800, 0),
    "cloud, by path": (listed(ALL, filters={"export_location_path": "/path-7"}), 1, 30, 1),
    "messages of a project": (told(MINE), 100, 110, 0),
    "messages of a project, last page": (told(MINE, marker="m-19801"), 99, 110, 0),
    "messages of the cloud": (told(ALL), 100, 110, 0),
    "messages of the cloud, last page": (told(ALL, marker="m-19900"), 100, 110, 0),
    "messages of a resource": (told(MINE, {"resource_id": "s-7"}), 1, 5, 1),
    "messages of a request": (told(MINE, {"request_id": "req-7"}), 4, 20, 4),
}
READS = {
    "one share": (lambda s: [shares.get(s, SMALL, "s-2")], 1, 10, 0),
    "one share with its instances": (lambda s: [transitions.read(s, "s-7")], 1, 10, 1),
    "metadata of a share": (lambda s: share_metadata.of(s, "s-7"), 2, 10, 2),
    "exports of a page": (lambda s: exports.of_shares(s, IDS), 90, 700, 100),
    "work of one back end": (lambda s: intents.due(s, ONE_BACKEND), 2, 10, 2),
    "work of many back ends": (lambda s: intents.due(s, HALF), 60, 500, 100),
    "work that nobody takes": (lambda s: intents.abandoned(s, 3600, EVERYWHERE), 100, 200, 0),
    "work of a share": (lambda s: intents.find(s, share_id="s-100"), 1, 10, 1),
    "pulses of the pools": (lambda s: pools.pulses(s, down_after=60), 100, 400, 0),
    "pulse of one pool": (
        lambda s: pools.pulses(s, down_after=60, host="node@backend-7#pool"),
        1,
        10,
        0,
    ),
    "reports of ten pools": (lambda s: pools.reports(s, list(range(1, 11))), 10, 60, 0),
    "services": (lambda s: services.find(s, 60), 100, 400, 0),
    "rules of a share": (lambda s: access.find(s, "s-1"), 301, 2500, 301),
    "rules of an instance": (lambda s: access.on_instance(s, "i-1"), 301, 2500, 301),
    "books of a project": (lambda s: [quotas.account(s, "p-2", ["user:u"], {})], 1, 30, 0),
    "chores": (lambda s: chores.candidates(s, "node@backend-7", "", 300), 200, 1000, 200),
    "number of a back end": (lambda s: [chores.number(s, "node@backend-7")], 1, 600, 0),
    "recycle bin": (recycle_bin.expired, 0, 10, 0),
}


@pytest.mark.parametrize("name", [*LISTS, *READS])
def test_cost(session, cost, name):
    query, rows, most_read, most_sorted = (LISTS | READS)[name]
    with cost() as found:
        answer = query(session)
    assert found.statements == 1
    assert (len(answer), found.sorted <= most_sorted) == (rows, True), vars(found)
    assert rows <= found.read <= most_read or rows == 0, vars(found)


# Far from the ends, where the server thinks that most of the table is to be read.
MIDDLE = ("s-5001", "s-9001", "s-13001", "s-17001")


@pytest.mark.parametrize("sort_dir", ["desc", "asc"])
@pytest.mark.parametrize(
    ("scope", "sort_key"),
    [
        (MINE, "created_at"),
        (MINE, "name"),
        (ALL, "created_at"),
        (ALL, "name"),
        (ALL, "size"),
        (ALL, "updated_at"),
    ],
)
def test_any_page_costs_what_the_first_does(session, cost, scope, sort_key, sort_dir):
    """C184"""
    costs = {}
    for marker in (None, *MIDDLE):
        with cost() as found:
            rows = listed(scope, sort_key=sort_key, sort_dir=sort_dir, marker=marker)(session)
        costs[marker] = found.read
        assert len(rows) == 100, marker
    assert max(costs.values()) <= 1.2 * costs[None], costs


def test_any_page_of_what_is_filtered_costs_what_the_first_does(session, cost):
    for filters in ({"status": Status.AVAILABLE}, {"share_type_id": "t-3"}):
        costs = {}
        for marker in (None, "s-5002", "s-9002", "s-13002"):
            with cost() as found:
                assert len(listed(ALL, filters=filters, marker=marker)(session)) == 100
            costs[marker] = found.read
        assert max(costs.values()) <= 1.2 * costs[None], costs


def test_a_filter_that_nothing_passes_reads_no_more_than_the_project(session, cost):
    for filters in ({"name~": "nothing"}, {"description": "nothing"}):
        with cost() as found:
            assert listed(SMALL, filters=filters)(session) == []
        assert found.read <= 120


def test_a_count_reads_an_index_and_nothing_twice(session, cost):
    with cost() as found:
        assert shares.find(session, SMALL, LIVING, page(with_count=True)).total == 100
    assert found.statements == 2
    assert found.read <= 700


@pytest.mark.parametrize(("claims", "most"), [(0, 30), (10, 110)])
def test_a_report_reads_the_claims_of_its_own_pool(session, cost, claims, most):
    """C187: whatever the pool holds, 200 instances here, and held."""
    row = {"pool": "pool", "capabilities": {}}
    ids = [f"i-{number}" for number in range(6, 6 + 100 * claims, 100)]
    claimed = sa.update(ShareInstance).where(ShareInstance.id.in_(ids))
    session.execute(claimed.values(claimed_gb=1, settled_at=ShareInstance.created_at))
    with cost() as found:
        services.report_pools(session, "node@backend-7", "zone-1", [row], clock.moment(session))
    left = sa.select(sa.func.sum(ShareInstance.claimed_gb))
    assert session.scalar(left) == 0
    assert found.read <= most


def test_a_verb_reads_its_own_share(session, cost):
    with cost() as found:
        transitions.begin(session, SHARE["extend"], "s-7", "intent", MINE)
    assert found.read <= 15
    assert found.statements <= 4
