from __future__ import annotations

import pytest

from fileshare.scheduler.model import Replication
from fileshare.scheduler.trace import Trace
from tests.unit.scheduler.placing import pipe, pool, request

GOLD, SILVER, OTHER = "node1@alpha#gold", "node1@alpha#silver", "node2@beta#gold"


def left(name, pools, asked):
    return [pool.host for pool in pipe(name).passing(pools, asked, Trace(pools=len(pools)))]


def three(**values):
    return [pool(GOLD, **values), pool(SILVER, **values), pool(OTHER, **values)]


def test_only_host_is_for_operators():
    assert left("OnlyHostFilter", three(), request(only_host=OTHER, is_admin=True)) == [OTHER]
    assert len(left("OnlyHostFilter", three(), request(only_host=OTHER))) == 3
    assert len(left("OnlyHostFilter", three(), request(is_admin=True))) == 3
    assert left("OnlyHostFilter", three(), request(only_host="node2@beta", is_admin=True)) == []


def zoned():
    several = {"share_server_multiple_subnet_support": True}
    return [
        pool(GOLD, zone_id="z1", zone="one"),
        pool(SILVER, zone_id="z2", zone="two", capabilities=several),
        pool(OTHER, zone_id="z2", zone="two"),
    ]


@pytest.mark.parametrize(
    ("specs", "values", "hosts"),
    [
        ({}, {}, [GOLD, SILVER, OTHER]),
        ({}, {"zone_id": "z1"}, [GOLD]),
        ({}, {"zone_id": "z3"}, []),
        ({"availability_zones": "two,three"}, {}, [SILVER, OTHER]),
        ({"availability_zones": "two"}, {"zone_id": "z1"}, []),
        ({}, {"zones_with_several_subnets": frozenset({"z2"})}, [GOLD, SILVER]),
    ],
)
def test_zones(specs, values, hosts):
    assert left("AvailabilityZoneFilter", zoned(), request(specs, **values)) == hosts


def test_capacity_counts_what_is_added_on_extend():
    pools = [pool(GOLD, free=5.0), pool(SILVER, free=1.0)]
    assert left("CapacityFilter", pools, request(size=52)) == []
    growing = request(size=52, size_increase=2, is_extend=True)
    assert left("CapacityFilter", pools, growing) == [GOLD]


def test_capacity_says_what_is_missing():
    trace = Trace(pools=1)
    pipe("CapacityFilter").passing([pool(reserved_percentage=10)], request(size=60), trace)
    verdict = trace.removed[0].verdict
    assert verdict.short == "too small"
    assert verdict.reason == "room for 40 GiB, needed 60 GiB (10 GiB are reserved)"


def test_capabilities():
    nfs = {"storage_protocol": "NFS", "snapshot_support": True}
    cifs = {"storage_protocol": ["CIFS", "NFS4"], "snapshot_support": False}
    pools = [pool(GOLD, capabilities=nfs), pool(OTHER, capabilities=cifs)]
    assert left("CapabilitiesFilter", pools, request(protocol="CIFS")) == [OTHER]
    assert left("CapabilitiesFilter", pools, request({"snapshot_support": "True"})) == [GOLD]
    assert left("CapabilitiesFilter", pools, request()) == [GOLD, OTHER]
    assert left("CapabilitiesFilter", pools, request({"vendor:x": "y"})) == [GOLD, OTHER]


def formula(text, **values):
    return [pool(GOLD, capabilities={"filter_function": text, "extra_key": 7}, **values)]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        (None, True),
        ("", True),
        ("share.size < 10", True),
        ("share.size > 10", False),
        ("stats.free_capacity_gb > 40 and capabilities.extra_key == 7", True),
        ("extra.tier == 'gold'", True),
        ("extra.absent == 'gold'", False),
        ("share.size <", False),
        ("1 / 0", False),
        ("12345", True),
    ],
)
def test_filter_function(text, passes):
    asked = request({"tier": "gold"}, share={"size": 5})
    assert bool(left("DriverFilter", formula(text), asked)) is passes


def test_a_formula_about_the_share_is_left_out_where_there_is_none():
    assert left("DriverFilter", formula("share.size > 10"), request()) == [GOLD]
    assert left("DriverFilter", formula("stats.free_capacity_gb > 90"), request()) == []


def test_a_formula_sees_what_was_placed_since():
    text = "stats.free_capacity_gb >= 40 and stats.allocated_capacity_gb <= 10"
    assert left("DriverFilter", formula(text, claimed=10.0), request()) == [GOLD]
    assert left("DriverFilter", formula(text, claimed=11.0), request()) == []


def domains():
    return [
        pool(GOLD, capabilities={"replication_domain": "d1"}),
        pool(SILVER, capabilities={"replication_domain": "d2"}),
        pool(OTHER, capabilities={"replication_domain": None}),
    ]


def test_replication():
    replicated = {"replication_type": "dr"}
    name = "ShareReplicationFilter"
    assert left(name, domains(), request()) == [GOLD, SILVER, OTHER]
    assert left(name, domains(), request(replicated)) == [GOLD, SILVER]
    others = Replication("d1", frozenset())
    assert left(name, domains(), request(replicated, replication=others)) == [GOLD]
    others = Replication("d1", frozenset({GOLD}))
    assert left(name, domains(), request(replicated, replication=others)) == []


def test_create_from_snapshot():
    name = "CreateFromSnapshotFilter"
    assert left(name, domains(), request()) == [GOLD, SILVER, OTHER]
    assert left(name, domains(), request(snapshot_host=GOLD)) == [GOLD, SILVER]
    asked = request(snapshot_host=OTHER, snapshot_domain="d1")
    assert left(name, domains(), asked) == [GOLD, OTHER]
    assert left(name, domains(), request(snapshot_host=OTHER)) == [OTHER]


def test_affinity_is_the_intersection():
    name = "AffinityFilter"
    near = {"s1": frozenset({GOLD, OTHER}), "s2": frozenset({GOLD})}
    assert left(name, three(), request(neighbours=near)) == [GOLD]
    assert left(name, three(), request()) == [GOLD, SILVER, OTHER]
    assert left(name, three(), request(neighbours={"s1": None})) == []


def test_anti_affinity_is_the_union():
    name = "AntiAffinityFilter"
    far = {"s1": frozenset({GOLD}), "s2": frozenset({OTHER})}
    assert left(name, three(), request(strangers=far)) == [SILVER]
    assert left(name, three(), request()) == [GOLD, SILVER, OTHER]
    assert left(name, three(), request(strangers={"s1": None})) == []


@pytest.mark.parametrize("name", ["RetryFilter", "IgnoreAttemptedHostsFilter"])
def test_attempted(name):
    assert left(name, three(), request(attempted=(GOLD,))) == [SILVER, OTHER]
    assert len(left(name, three(), request())) == 3


@pytest.mark.parametrize(
    ("query", "hosts"),
    [
        (None, [GOLD, SILVER]),
        ([], [GOLD, SILVER]),
        ('["=", "$pool", "gold"]', [GOLD]),
        (["=", "$pool", "gold"], [GOLD]),
        (["not", ["=", "$pool", "gold"]], [SILVER]),
        (["in", "$pool", "gold", "silver"], [GOLD, SILVER]),
        (["and", [">=", "$free_capacity_gb", 40], ["<", "$capabilities.tier", 2]], [GOLD]),
        (["or", ["=", "$tier", 2], ["=", "$tier", 3]], [SILVER]),
        ([">", "$absent", 1], []),
        (["<=", "$pool", 1], []),
        (["like", "$pool", "g"], []),
        ('["=", ', []),
        (["="], []),
        (["in"], []),
    ],
)
def test_json_query(query, hosts):
    pools = [pool(GOLD, capabilities={"tier": 1}), pool(SILVER, capabilities={"tier": 2})]
    assert left("JsonFilter", pools, request(query=query)) == hosts


def test_a_deep_query_is_refused():
    query = "$tier"
    for _level in range(40):
        query = ["not", query]
    assert left("JsonFilter", three(), request(query=query)) == []


def test_consistent_snapshots():
    pools = [
        pool(GOLD, capabilities={"share_group_stats": {"consistent_snapshot_support": "host"}}),
        pool(SILVER, capabilities={"consistent_snapshot_support": "pool"}),
        pool(OTHER),
    ]
    name, spec = "ConsistentSnapshotFilter", "consistent_snapshot_support"
    assert left(name, pools, request()) == [GOLD, SILVER, OTHER]
    assert left(name, pools, request(group_specs={spec: "host"})) == [GOLD]
    assert left(name, pools, request(group_specs={spec: "pool"})) == [SILVER]


def test_a_new_report_is_judged_anew():
    asked = request({"snapshot_support": "True"})
    for offered in (True, False, True):
        pools = [pool(GOLD, capabilities={"snapshot_support": offered})]
        assert bool(left("CapabilitiesFilter", pools, asked)) is offered
