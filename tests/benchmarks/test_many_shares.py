"""Lists of a cloud with 100,000 shares of 1,000 projects, as their readers see them."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
import requests
import sqlalchemy as sa

from fileshare.db.models import ExportLocation, Message, Share, ShareType
from tests.benchmarks.cloud import LARGE, SMALL, Cloud, roomy_database
from tests.benchmarks.figures import CLIENTS, compared, measured
from tests.chaos.deployment import ADMIN, until

SHARES = 100_000
PAGE = 1000
MEMBER = f"alice:{LARGE}:member"
OTHER = f"bob:{SMALL}:member"
CLOUD = f"/shares/detail?all_tenants=1&limit={PAGE}"
MINE = "/shares/detail?limit=100"
QUICK = 500.0
"""Milliseconds that 95 of 100 calls of a list may take at most."""
QUICK_OF_100 = 60.0


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """API processes on a filled database, without any daemon that works meanwhile."""
    directory = tmp_path_factory.mktemp("lists")
    with roomy_database(directory) as url:
        made = Cloud(directory, url)
        try:
            made.node(
                backends=("alpha",),
                delay=0,
                driver={"dummy_driver_fail": "create share=doomed", "dummy_pools": "pool:100000"},
                quota={"shares": -1, "gigabytes": -1},
                osapi_share_workers=2,
            )
            for program in ("api", "scheduler", "share"):
                made.start(program)
            until(made.serves, "the API serves")
            made.fill(SHARES)
            for program in ("scheduler", "share"):
                made.stop(program)
            yield made
        finally:
            made.close()


@pytest.fixture
def asked(cloud):
    """What makes clients of a path, see :func:`figures.measured`."""

    def client_of(path, token=ADMIN, version="2.80", rows=None):
        headers = {"X-OpenStack-Manila-API-Version": version, "X-Auth-Token": token}

        def client():
            session = requests.Session()
            session.headers.update(headers)

            def call():
                answer = session.get(cloud.url() + path, timeout=60)
                assert answer.status_code == 200, answer.text
                return answer

            if rows is not None:
                lists = [each for each in call().json().values() if isinstance(each, list)]
                assert rows(len(lists[0])), (path, len(lists[0]))
            return call

        return client

    return client_of


def full(number):
    return lambda found: found == number


def marker(cloud, place, *where, key=Share.created_at):
    """The id of the share in that place of a list, newest first."""
    statement = sa.select(Share.id).where(Share.deleted_at.is_(None), *where)
    ordered = statement.order_by(key.desc(), Share.id.desc()).offset(place).limit(1)
    return cloud.rows(ordered)[0].id


@pytest.mark.parametrize("clients", [1, CLIENTS])
def test_pages_of_a_thousand_and_of_a_hundred(asked, clients):
    """C184"""
    times = measured("cloud, page of 1000", asked(CLOUD, rows=full(PAGE)), clients=clients)
    assert times.p95 < QUICK
    for name, token in (("member", MEMBER), ("member of a small project", OTHER)):
        client = asked(MINE, token, rows=lambda found: found > 80)
        times = measured(f"{name}, page of 100", client, clients=clients)
        assert times.p95 < QUICK_OF_100


@pytest.mark.parametrize("version", ["2.8", "2.80"])  # before 2.9 with export locations
def test_statements_do_not_grow_with_the_page(cloud, asked, version):
    """C184"""
    for path, token in ((CLOUD, ADMIN), (MINE, MEMBER)):
        counts = set()
        for limit in (1, 100, 1000):
            call = asked(f"{path}&limit={limit}&with_count=true", token, version)()
            before = statements(cloud)
            call()
            counts.add(statements(cloud) - before)
        assert len(counts) == 1, counts
        assert counts.pop() <= 4


def statements(cloud):
    """How many the server has run; those that count them are not among these."""
    text = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Com_insert', 'Com_update')"
    return sum(int(value) for _, value in cloud.rows(sa.text(text)))


def test_the_last_page_comes_as_quickly_as_the_first(cloud, asked):
    """C184: and so does any other, also in other orders."""
    mine = Share.project_id == LARGE
    lists = [
        ("cloud", CLOUD, ADMIN, PAGE, [(), ()], Share.created_at),
        ("cloud by name", f"{CLOUD}&sort_key=name", ADMIN, PAGE, [(), ()], Share.display_name),
        ("cloud by size", f"{CLOUD}&sort_key=size", ADMIN, PAGE, [(), ()], Share.size),
        ("member", MINE, MEMBER, 100, [(mine,), (mine,)], Share.created_at),
    ]
    for name, path, token, rows, where, key in lists:
        number = SHARES if token == ADMIN else SHARES // 10
        places = (number // 2, number - rows - 10)
        far = [marker(cloud, place, *w, key=key) for place, w in zip(places, where, strict=True)]
        paths = [path, *(f"{path}&marker={id}" for id in far)]
        first, *others = compared(
            [f"{name}, {which} page" for which in ("first", "middle", "last")],
            [asked(each, token, rows=full(rows)) for each in paths],
        )
        for other in others:
            assert other.median <= 1.5 * first.median


def filters(cloud):
    """Lists by their names: a path, whose it is, and how many rows there may be."""
    path, export_id = cloud.rows(sa.select(ExportLocation.path, ExportLocation.id).limit(1))[0]
    (type_id,) = cloud.rows(sa.select(ShareType.id).where(ShareType.name == "type-2"))[0]
    value = {"metadata": "{'team': 'value-7'}"}
    specs = {"extra_specs": "{'snapshot_support': 'True'}"}
    some = [
        ("status", {"status": "error"}, 1000, 100),
        ("no such status", {"status": "creating"}, 0, 0),
        ("host", {"host": "node@b7#p3"}, 40, None),  # not for members
        ("type", {"share_type_id": type_id}, 1000, 100),
        ("metadata", value, 200, 0),
        ("extra specs", specs, 1000, None),
        ("name", {"name": "share-777"}, 1, 0),
        ("part of a name", {"name~": "share-77"}, 1000, 90),
        ("path", {"export_location_path": path}, 1, 0),
        ("export location", {"export_location_id": export_id}, 1, 0),
        ("bin", {"is_soft_deleted": "true"}, 0, 0),
        ("network", {"share_network_id": type_id}, 0, 0),
        ("by name", {"sort_key": "name"}, 1000, 100),
        ("by size", {"sort_key": "size"}, 1000, 100),
        ("by update", {"sort_key": "updated_at", "sort_dir": "asc"}, 1000, 100),
        ("with a count", {"with_count": "true"}, 1000, 100),
        ("far by offset", {"offset": None}, 1000, 100),
    ]
    for name, query, most, mine in some:
        for token, path, number, offset in (
            (ADMIN, CLOUD, most, SHARES - 2000),
            (MEMBER, MINE, mine, SHARES // 10 - 200),
        ):
            if number is None:
                continue
            given = {key: offset if text is None else text for key, text in query.items()}
            whose = "cloud" if token == ADMIN else "member"
            yield f"{whose}, {name}", f"{path}&{urlencode(given)}", token, number


def test_filters_and_orders(cloud, asked):
    slow = []
    for name, path, token, least in filters(cloud):
        client = asked(path, token, rows=lambda found, least=least: found >= least)
        times = measured(name, client, calls=40)
        if times.p95 >= (QUICK if token == ADMIN else 2 * QUICK_OF_100):
            slow.append(name)
    assert slow == []


def test_what_reads_every_row(cloud, asked):
    """Linear, and so they are watched: a pattern that nothing fits, orders without an index."""
    slow = []
    for name, query in (
        ("a pattern that nothing fits", "name~=nothing"),
        ("by host", "sort_key=host"),
        ("by status", "sort_key=status"),
        ("by project", "sort_key=project_id"),
    ):
        times = measured(f"cloud, {name}", asked(f"{CLOUD}&{query}"), calls=20)
        slow += [name] if times.p95 >= 2000 else []
    assert slow == []


def test_other_lists(cloud, asked):
    statement = sa.select(Share.id).where(Share.deleted_at.is_(None), Share.project_id == LARGE)
    (share_id,) = cloud.rows(statement.limit(1))[0]
    (request_id,) = cloud.rows(sa.select(Message.request_id).limit(1))[0]
    slow = []
    for name, path, token in (
        ("one share", f"/shares/{share_id}", MEMBER),
        ("rules of a share", f"/share-access-rules?share_id={share_id}", MEMBER),
        ("its export locations", f"/shares/{share_id}/export_locations", MEMBER),
        ("its instances", f"/shares/{share_id}/instances", ADMIN),
        ("instances of a pool", "/share_instances?host=node@b7%23p3", ADMIN),
        ("instances in error", "/share_instances?status=error", ADMIN),
        ("replicas", "/share-replicas/detail?limit=100", ADMIN),
        ("messages", "/messages?limit=100", MEMBER),
        ("messages of the cloud", "/messages?limit=100", ADMIN),
        ("messages of a request", f"/messages?limit=100&request_id={request_id}", ADMIN),
        ("quota with usage", f"/quota-sets/{LARGE}/detail", ADMIN),
        ("limits", "/limits", MEMBER),
        ("services", "/services", ADMIN),
        ("types", "/types", MEMBER),
    ):
        times = measured(name, asked(path, token), calls=40)
        slow += [name] if times.p95 >= QUICK else []
    assert slow == []


def test_all_instances_at_once(asked):
    """The contract knows no pages of instances: what is measured is that it ends, and when."""
    client = asked("/share_instances", rows=lambda found: found > SHARES)
    measured("all instances", client, calls=3)
