from __future__ import annotations

import collections
import json
import time

import pytest
from oslo_config import cfg

from fileshare.conf import scheduler as options
from fileshare.scheduler import pipeline
from fileshare.scheduler.model import Replication
from fileshare.scheduler.weighers.capacity import CapacityWeigher
from fileshare.scheduler.weighers.goodness import GoodnessWeigher
from tests.unit.scheduler.placing import ALL_FILTERS, pipe, pool, request


def configured(**values):
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([], project="fileshare", default_config_files=[])
    for name, value in values.items():
        conf.set_override(name, value)
    return conf


def test_all_default_names_are_there():
    conf = configured()
    made = pipeline.placement(conf)
    names = [name for name, _filter in made.filters]
    assert names == [*conf.scheduler_default_filters, "IgnoreAttemptedHostsFilter"]
    assert [multiplier for _weigher, multiplier in made.weighers] == [1.0, 1.0, 1.0]
    extension = pipeline.extension(conf)
    assert [name for name, _filter in extension.filters] == ["CapacityFilter", "DriverFilter"]


def test_tried_pools_are_excluded_once():
    for names in (["RetryFilter"], ["IgnoreAttemptedHostsFilter", "CapacityFilter"]):
        made = pipeline.placement(configured(scheduler_default_filters=names))
        assert [name for name, _filter in made.filters] == names


def test_multipliers_come_from_options():
    conf = configured(
        scheduler_default_weighers=["CapacityWeigher", "PoolWeigher", "GoodnessWeigher"],
        capacity_weight_multiplier=-2.0,
        pool_weight_multiplier=3.0,
    )
    assert [each for _weigher, each in pipeline.placement(conf).weighers] == [-2.0, 3.0, 1.0]


@pytest.mark.parametrize(
    "values",
    [
        {"scheduler_default_filters": ["CapacityFilter", "NoFilter"]},
        {"scheduler_default_weighers": ["NoWeigher"]},
        {"scheduler_default_weighers": ["CapacityFilter"]},
    ],
)
def test_unknown_names_are_found_at_start(values):
    with pytest.raises(pipeline.UnknownPluginError) as raised:
        pipeline.placement(configured(**values))
    assert values.popitem()[1][-1] in str(raised.value)


def test_unknown_extend_filters_are_found_at_start():
    with pytest.raises(pipeline.UnknownPluginError):
        pipeline.extension(configured(scheduler_default_extend_filters=["CapacityWeigher"]))


def test_all_options_are_checked_at_start():
    pipeline.check(configured())
    for option in ("filters", "extend_filters", "share_group_filters", "weighers"):
        with pytest.raises(pipeline.UnknownPluginError, match="Nothing is none of"):
            pipeline.check(configured(**{f"scheduler_default_{option}": ["Nothing"]}))


def test_the_best_pool_is_chosen_and_explained():
    pools = [
        pool("n@a#small", free=1.0),
        pool("n@a#tiny", free=2.0),
        pool("n@b#far", zone_id="z2"),
        pool("n@c#good", zone_id="z1"),
        pool("n@c#better", zone_id="z1", free=90.0),
    ]
    pools = [
        each if each.zone_id else pool(each.host, free=each.free, zone_id="z1") for each in pools
    ]
    made = pipe(*ALL_FILTERS, weighers=[(CapacityWeigher(), 1.0)])
    choice = made.choose(pools, request(size=10, zone_id="z1"))
    assert choice.pool.host == "n@c#better"
    assert choice.headroom == 90
    assert choice.trace.summary() == "5 pools: 2 too small, 1 in another zone, 2 fitting"
    assert choice.trace.last_filter() is None
    told = json.loads(json.dumps(choice.trace.dump()))
    assert told["chosen"] == "n@c#better"
    assert told["weights"] == {"n@c#better": 1.0, "n@c#good": 0.0}
    assert [(each["filter"], each["hosts"]) for each in told["removed"]] == [
        ("AvailabilityZoneFilter", ["n@b#far"]),
        ("CapacityFilter", ["n@a#small"]),
        ("CapacityFilter", ["n@a#tiny"]),
    ]


@pytest.mark.parametrize(
    ("filters", "asked", "last"),
    [
        (ALL_FILTERS, request(size=1000), "CapacityFilter"),
        (ALL_FILTERS, request({"tier": "gold"}, size=60), "CapabilitiesFilter"),
        (ALL_FILTERS, request(zone_id="z9"), "AvailabilityZoneFilter"),
        (ALL_FILTERS, request(replication=Replication("d")), "ShareReplicationFilter"),
        (ALL_FILTERS, request(snapshot_host="x@y#z"), "CreateFromSnapshotFilter"),
        (ALL_FILTERS, request(query=["=", "$pool", "x"]), "JsonFilter"),
        (ALL_FILTERS, request(neighbours={"s": None}), "AffinityFilter"),
        (("RetryFilter",), request(attempted=("n@a#big", "n@b#small")), "RetryFilter"),
        (
            ALL_FILTERS,
            request(attempted=("n@a#big", "n@b#small")),
            "IgnoreAttemptedHostsFilter",
        ),
    ],
)
def test_the_last_filter_is_the_one_that_left_no_pool(filters, asked, last):
    pools = [pool("n@a#big", free=90.0), pool("n@b#small", free=20.0)]
    choice = pipe(*filters).choose(pools, asked)
    assert choice.pool is None
    assert choice.trace.last_filter() == last


def test_no_pools_at_all():
    choice = pipe(*ALL_FILTERS).choose([], request())
    assert choice.pool is None
    assert choice.trace.summary() == "no pools"
    assert choice.trace.last_filter() is None


def test_equal_pools_get_their_share_by_chance():
    pools = [pool(f"n@a#{number}") for number in range(4)]
    made = pipe("CapacityFilter", weighers=[(CapacityWeigher(), 1.0)], seed=7)
    counts = collections.Counter(made.choose(pools, request()).pool.host for _ in range(400))
    assert len(counts) == 4
    assert min(counts.values()) > 50


def test_weighers_add_up():
    pools = [
        pool("n@a#empty", free=100.0),
        pool("n@b#good", free=50.0, capabilities={"goodness_function": "100"}),
        pool("n@c#full", free=0.0),
    ]
    made = pipe(weighers=[(CapacityWeigher(), 1.0), (GoodnessWeigher(), 1.0)])
    assert made.weigh(pools, request()) == [1.0, 1.5, 0.0]


def test_a_long_trace_is_cut():
    pools = [pool(f"n@a#{number}", free=float(number)) for number in range(500)]
    told = pipe("CapacityFilter").choose(pools, request(size=1000)).trace.dump()
    assert told["summary"] == "500 pools: 500 too small"
    assert len(json.dumps(told)) < 20_000


def thousand(number=1000):
    capabilities = {
        "storage_protocol": "NFS",
        "snapshot_support": True,
        "share_backend_name": "ALPHA",
        "goodness_function": "stats.free_capacity_gb / stats.total_capacity_gb * 100",
        "filter_function": "share.size < 500",
    }
    return [
        pool(
            f"n{index}@a#p",
            zone_id=f"z{index % 3}",
            free=float(index % 90),
            capabilities=capabilities,
        )
        for index in range(number)
    ]


def least_time(work, repeats=5):
    times = []
    for _repeat in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def test_cost_grows_with_the_pools_and_no_faster():
    made = pipeline.placement(configured())
    asked = request(
        {"snapshot_support": "True", "share_backend_name": "ALPHA"}, "NFS", share={"size": 5}
    )
    few, many = thousand(250), thousand(1000)
    made.choose(many, asked)
    ratio = least_time(lambda: made.choose(many, asked)) / least_time(
        lambda: made.choose(few, asked)
    )
    assert ratio < 8  # four times the pools
