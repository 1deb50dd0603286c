"""The scheduler's pools over HTTP."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER, READER

from fileshare.db import clock, services
from fileshare.db.clock import after
from fileshare.db.models import PoolReport, Service
from fileshare.share.service import ShareDaemon
from tests.fixtures.queries import assert_queries

SECOND = dt.timedelta(seconds=1)
SIZE = 10000  # GiB of a pool of the dummy driver


@pytest.fixture
def names(api):
    def find(query="", status=200, path="/scheduler-stats/pools", **kw):
        answer = api.get(f"{path}?{query}", **{"as_": ADMIN, **kw})
        assert answer.status == status, answer.body
        return [row["name"] for row in answer["pools"]] if status == 200 else None

    return find


def detail(api):
    return {
        row["name"]: row["capabilities"]
        for row in api.get("/scheduler-stats/pools/detail", as_=ADMIN)["pools"]
    }


def test_list(api):
    answer = api.get("/scheduler-stats/pools", as_=ADMIN)
    assert answer.status == 200
    pools = answer["pools"]
    assert len(pools) == 2
    for pool in pools:
        assert set(pool) == {"name", "host", "backend", "pool"}
        assert pool["name"] == f"{pool['host']}@{pool['backend']}#{pool['pool']}"
    assert [pool["backend"] for pool in pools] == ["alpha", "beta"]
    for who in (MEMBER, READER):
        assert api.get("/scheduler-stats/pools", as_=who).status == 403
        assert api.get("/scheduler-stats/pools/detail", as_=who).status == 403


REPORTED = {
    "share_backend_name",
    "driver_handles_share_servers",
    "vendor_name",
    "driver_version",
    "storage_protocol",
    "total_capacity_gb",
    "free_capacity_gb",
    "allocated_capacity_gb",
    "provisioned_capacity_gb",
    "reserved_percentage",
    "reserved_snapshot_percentage",
    "reserved_share_extend_percentage",
    "max_over_subscription_ratio",
    "thin_provisioning",
    "qos",
    "snapshot_support",
    "create_share_from_snapshot_support",
    "revert_to_snapshot_support",
    "mount_snapshot_support",
    "replication_type",
    "replication_domain",
    "filter_function",
    "goodness_function",
    "security_service_update_support",
    "network_allocation_update_support",
    "share_server_multiple_subnet_support",
    "mount_point_name_support",
    "share_replicas_migration_support",
    "encryption_support",
    "qos_type_support",
    "snapshot_inherit_share_access_support",
    "share_group_stats",
    "ipv4_support",
    "ipv6_support",
    "pool_name",
    "timestamp",
}


def test_capabilities(api):
    pools = detail(api)
    for name, capabilities in pools.items():
        assert REPORTED - set(capabilities) == set()
        assert capabilities["pool_name"] == name.partition("#")[2]
        assert capabilities["total_capacity_gb"] == SIZE
        assert capabilities["free_capacity_gb"] == SIZE
        assert capabilities["replication_domain"] == "DUMMY_DOMAIN"
        assert capabilities["driver_handles_share_servers"] is False
        assert "T" in capabilities["timestamp"]
    assert {row["share_backend_name"] for row in pools.values()} == {"ALPHA", "BETA"}


def test_numbers_are_those_of_the_last_report(api):
    share_id = api.new_share(size=10)
    host = api.read_share(share_id).share.host
    assert detail(api)[host]["free_capacity_gb"] == SIZE
    api.report()
    after_report = detail(api)[host]
    assert after_report["free_capacity_gb"] == SIZE - 10
    assert after_report["allocated_capacity_gb"] == 10


def test_filters(names):
    both = names()
    alpha, beta = both
    assert names("host=node") == both
    assert names("host=nod") == both  # anchored at the beginning only
    assert names("host=ode") == []
    assert names("host=^node$&backend=^alpha$") == [alpha]
    assert names("backend=beta") == [beta]
    assert names("backend=(al|be)") == both
    assert names("backend=^bet$") == []
    assert names(f"pool={alpha.partition('#')[2]}") == both
    assert names("pool=^nothing$") == []
    assert names("name=node@alpha.*") == [alpha]
    assert names("name=^node@beta%23.*$") == [beta]
    assert names("name=node@alpha.*&backend=beta") == []
    assert names("backend=") == both
    assert names("backend=alpha", path="/scheduler-stats/pools/detail") == [alpha]


@pytest.mark.parametrize("key", ["unknown", "limit", "capabilities", "share_types"])
def test_an_unknown_key_matches_no_pool(names, key):
    assert names(f"{key}=1") == []


@pytest.mark.parametrize("key", ["name", "host", "backend", "pool"])
@pytest.mark.parametrize("text", ["(", "[", "*", "(a%2B)%2B", "x" * 256])
def test_a_bad_expression_is_refused(names, key, text):
    assert names(f"{key}={text}", status=400) is None


def test_share_type(api, names):
    alpha, beta = names()
    gold = api.share_type("gold", share_backend_name="ALPHA")
    api.share_type("none", share_backend_name="GAMMA")
    api.share_type("servers", driver_handles_share_servers="True")
    api.share_type("zoned", availability_zones="manila-zone-1,elsewhere")
    api.share_type("large", total_capacity_gb=">= 20000")
    api.share_type("small", free_capacity_gb="<= 10000")
    assert names("share_type=gold") == [alpha]
    assert names(f"share_type={gold.id}") == [alpha]
    assert names("share_type=gold&backend=beta") == []
    assert names("share_type=default") == [alpha, beta]
    assert names("share_type=none") == []
    assert names("share_type=servers") == []
    assert names("share_type=zoned") == [beta]
    assert names("share_type=large") == []
    assert names("share_type=small") == [alpha, beta]
    assert names("share_type=") == [alpha, beta]
    assert names("share_type=unknown", status=400) is None
    assert names("share_type=gold", version="2.23") == [alpha]
    assert names("share_type=gold", version="2.22") == []  # an unknown key there


def test_back_ends_that_are_down_or_disabled(api, names):
    alpha, beta = names()
    body = {"host": "node@alpha", "binary": "manila-share"}
    api.put("/services/disable", body, as_=ADMIN)
    assert names() == [beta]
    api.put("/services/enable", body, as_=ADMIN)
    assert names() == [alpha, beta]
    api.write(
        sa.update(Service)
        .where(Service.host == "node@beta")
        .values(heartbeat_at=after(-api.conf.service_down_time - 1))
    )
    assert names() == [alpha]


def test_statements(api):
    """C066: whatever the number of pools and shares."""
    with assert_queries(api.sessions.engine, 2):
        api.get("/scheduler-stats/pools/detail?share_type=default", as_=ADMIN)


def known(api, name="alpha"):
    """What the schedulers know of a pool: GiB that are free, and GiB that were claimed since."""
    columns = sa.select(PoolReport.free_gb, PoolReport.claimed_gb)
    (row,) = api.rows(columns.where(PoolReport.backend.endswith(f"@{name}")))
    return tuple(row)


def write_report(api, free, asked_at):
    backend = api.scalar(sa.select(Service.host).where(Service.host.endswith("@alpha")))
    report = {"pool": "pool", "total_gb": SIZE, "free_gb": free, "capabilities": {}}
    api.sessions.run(
        lambda session: services.report_pools(session, backend, "zone", [report], asked_at)
    )


def test_what_settles_while_a_back_end_answers_stays_claimed(api, monkeypatch):
    """Its answer does not count it, and is written later than it settled."""
    daemon = ShareDaemon(api.runtime, "alpha", "here")
    pools = daemon.driver.pools

    def answer():
        found = pools()
        share = api.new_share(size=7, availability_zone=daemon.zone)
        assert api.show(share)["host"].partition("#")[0] == daemon.host
        return found

    monkeypatch.setattr(daemon.driver, "pools", answer)
    daemon.report()
    assert known(api) == (SIZE, 7)
    monkeypatch.setattr(daemon.driver, "pools", pools)
    daemon.report()
    assert known(api) == (SIZE - 7, 0)


def test_what_works_again_stays_claimed_as_long_as_no_report_counts_it(api, monkeypatch):
    """The next verb has begun when the answer is written that came before the last one's end."""
    daemon = ShareDaemon(api.runtime, "alpha", "here")
    pools = daemon.driver.pools

    def answer():
        found = pools()
        share = api.new_share(size=7, availability_zone=daemon.zone)
        assert api.act(share, "shrink", {"new_size": 6}).status == 202
        assert api.show(share)["status"] == "shrinking"
        return found

    monkeypatch.setattr(daemon.driver, "pools", answer)
    daemon.report()
    assert known(api) == (SIZE, 7)
    api.drain()
    monkeypatch.setattr(daemon.driver, "pools", pools)
    daemon.report()
    assert known(api) == (SIZE - 6, 0)


def test_a_report_that_was_overtaken_says_nothing(api):
    """Of two daemons of one back end, one was asked first and writes last."""
    api.write(sa.delete(PoolReport).where(PoolReport.backend.endswith("@alpha")))
    now = api.sessions.run(clock.moment)
    first, second = now - SECOND, now
    write_report(api, 40.0, second)
    write_report(api, 90.0, first)
    assert known(api) == (40.0, 0)
    write_report(api, 50.0, second)
    assert known(api) == (50.0, 0)


def test_a_clock_that_was_set_back_keeps_no_report_out(api):
    now = api.sessions.run(clock.moment)
    api.write(sa.update(PoolReport).values(reported_at=now + 3600 * SECOND))
    write_report(api, 40.0, now)
    assert known(api) == (40.0, 0)


@pytest.mark.parametrize(
    "fault",
    [
        {"free": math.nan},
        {"total": -math.inf},
        {"total": "much"},
        {"allocated": math.nan},
        {"reserved_percentage": 101},
        {"reserved_snapshot_percentage": math.nan},
        {"max_over_subscription_ratio": "auto"},
        {"thin_provisioning": None, "free": []},
        {"capabilities": {"tiers": {"slow"}}},
        {"capabilities": {"latency": math.nan}},
        {"capabilities": {"serial": "\udcff"}},
        {"name": None},
        {"name": ""},
        {"name": "x" * 256},
    ],
    ids=str,
)
def test_a_pool_that_cannot_be_used_keeps_no_other_out(api, names, monkeypatch, caplog, fault):
    """A15: not those of its own back end, and no placement of anybody."""
    driver = api.drivers["alpha"]
    (good,) = driver.pools()
    bad = dataclasses.replace(good, **{"name": "bad", **fault})
    monkeypatch.setattr(driver, "pools", lambda: [bad, good])
    api.report()
    assert names("backend=alpha") == [f"{HOST}@alpha#{good.name}"]
    assert "of back end node@alpha takes no shares" in caplog.text
    shares = [api.new_share() for _ in range(4)]
    assert {api.show(share)["status"] for share in shares} == {"available"}


@pytest.mark.parametrize("much", [math.inf, 1e30])
def test_a_pool_without_an_end_takes_what_comes(api, monkeypatch, much):
    driver = api.drivers["alpha"]
    (pool,) = driver.pools()
    endless = dataclasses.replace(pool, total=much, free=much)
    monkeypatch.setattr(driver, "pools", lambda: [endless])
    api.report()
    hints = {"only_host": f"{HOST}@alpha#{pool.name}"}
    share_id = api.new_share(as_=ADMIN, size=3, scheduler_hints=hints)
    assert api.show(share_id)["status"] == "available"
    assert known(api)[1] == 3
