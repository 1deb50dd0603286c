"""Laws of placement that hold for any pools and any request."""

from __future__ import annotations

import dataclasses
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fileshare.scheduler import capacity, model, pipeline
from fileshare.scheduler.trace import Trace
from tests.unit.scheduler.placing import ALL_FILTERS, pipe

ZONES = ("z1", "z2")
HOSTS = tuple(f"n{node}@b{node % 2}#p{node}" for node in range(6))
sizes = st.floats(min_value=0, max_value=200) | st.integers(min_value=0, max_value=200)
percentages = st.integers(min_value=0, max_value=100)
capabilities = st.fixed_dictionaries(
    {},
    optional={
        "snapshot_support": st.booleans(),
        "storage_protocol": st.sampled_from(["NFS", "CIFS", ["NFS", "CIFS"]]),
        "replication_domain": st.sampled_from(["d1", "d2", None]),
        "filter_function": st.sampled_from(["share.size < 50", "1 / 0", "true", "(", None]),
        "goodness_function": st.sampled_from(["share.size", "stats.free_capacity_gb", "x", "100"]),
        "consistent_snapshot_support": st.sampled_from(["host", "pool"]),
        "thin_provisioning": st.booleans(),
    },
)


@st.composite
def pools(draw, host=None):
    host = host or draw(st.sampled_from(HOSTS))
    zone = draw(st.sampled_from(ZONES))
    return model.PoolState(
        id=HOSTS.index(host),
        host=host,
        backend=host.partition("#")[0],
        pool=host.partition("#")[2],
        zone_id=zone,
        zone=zone,
        total=draw(st.none() | sizes),
        free=draw(st.none() | sizes),
        allocated=draw(sizes),
        provisioned=draw(st.none() | sizes),
        reserved_percentage=draw(percentages),
        reserved_snapshot_percentage=draw(percentages),
        reserved_extend_percentage=draw(percentages),
        thin=draw(st.booleans()),
        max_over_subscription_ratio=draw(st.floats(min_value=0, max_value=30)),
        claimed=draw(st.integers(min_value=0, max_value=100)),
        capabilities=draw(capabilities),
    )


clouds = st.lists(st.sampled_from(HOSTS), unique=True).flatmap(
    lambda hosts: st.tuples(*(pools(host=host) for host in hosts))
)
type_specs = st.fixed_dictionaries(
    {},
    optional={
        "snapshot_support": st.sampled_from(["True", "False"]),
        "availability_zones": st.sampled_from(["z1", "z1,z2", "z3"]),
        "replication_type": st.just("dr"),
        "thin_provisioning": st.sampled_from(["True", "<is> False"]),
    },
)
held = st.dictionaries(
    st.sampled_from(["s1", "s2"]), st.none() | st.frozensets(st.sampled_from(HOSTS))
)


@st.composite
def requests(draw):
    size = draw(st.integers(min_value=1, max_value=150))
    maybe_host = st.none() | st.sampled_from(HOSTS)
    protocol = draw(st.sampled_from([None, "NFS", "CIFS"]))
    return model.PlacementRequest(
        size=size,
        size_increase=draw(st.integers(min_value=1, max_value=size)),
        is_extend=draw(st.booleans()),
        demand=model.demand(draw(type_specs), protocol),
        is_admin=draw(st.booleans()),
        zone_id=draw(st.none() | st.sampled_from(ZONES)),
        from_snapshot=draw(st.booleans()),
        snapshot_host=draw(maybe_host),
        snapshot_zone_id=draw(st.none() | st.sampled_from(ZONES)),
        only_host=draw(maybe_host),
        neighbours=draw(held),
        strangers=draw(held),
        attempted=tuple(draw(st.lists(st.sampled_from(HOSTS), max_size=2))),
        query=draw(st.sampled_from([None, ["=", "$zone", "z1"], ["broken"]])),
        replication=draw(
            st.none()
            | st.builds(model.Replication, st.sampled_from(["d1", None]), st.just(frozenset()))
        ),
        share=draw(st.just({}) | st.just({"size": size, "share_proto": protocol or "NFS"})),
    )


filters = st.lists(st.sampled_from(ALL_FILTERS), unique=True)
loaded = {name: pipe(name).filters[0] for name in ALL_FILTERS}


def passing(names, cloud, request):
    made = pipeline.Pipeline(filters=tuple(loaded[name] for name in names))
    trace = Trace(order=tuple(names), pools=len(cloud))
    return {pool.host for pool in made.passing(cloud, request, trace)}, trace


@given(clouds, requests(), filters, st.sampled_from(ALL_FILTERS))
def test_one_more_filter_never_adds_a_pool(cloud, request, names, more):
    assert passing([*names, more], cloud, request)[0] <= passing(names, cloud, request)[0]


@given(clouds, requests(), filters, st.randoms(use_true_random=False))
def test_the_order_of_filters_never_changes_the_result(cloud, request, names, chance):
    other = list(names)
    chance.shuffle(other)
    assert passing(names, cloud, request)[0] == passing(other, cloud, request)[0]


@given(clouds, requests(), filters)
def test_each_pool_passes_or_has_one_reason(cloud, request, names):
    left, trace = passing(names, cloud, request)
    removed = [removal.host for removal in trace.removed]
    assert sorted([*left, *removed]) == sorted(pool.host for pool in cloud)
    assert all(removal.verdict.reason and removal.verdict.short for removal in trace.removed)
    assert (trace.last_filter() is None) is (bool(left) or not cloud)


@given(pools(), requests(), st.integers(min_value=1, max_value=50))
def test_what_is_claimed_is_exactly_gone(pool, request, more):
    before = capacity.headroom(pool, request)
    after = capacity.headroom(dataclasses.replace(pool, claimed=pool.claimed + more), request)
    assert after == before if math.isinf(before) else after == pytest.approx(before - more)


@given(pools(), requests(), st.integers(min_value=1, max_value=150))
def test_a_larger_reserve_never_makes_room(pool, request, percentage):
    full = dataclasses.replace(
        pool,
        reserved_percentage=percentage,
        reserved_snapshot_percentage=percentage,
        reserved_extend_percentage=percentage,
    )
    less = dataclasses.replace(
        full,
        reserved_percentage=percentage - 1,
        reserved_snapshot_percentage=percentage - 1,
        reserved_extend_percentage=percentage - 1,
    )
    assert capacity.headroom(full, request) <= capacity.headroom(less, request)


@given(pools(), requests())
def test_filling_a_pool_ends(pool, request):
    """Placing one share after the other never puts more on a pool than it has room for."""
    room = capacity.headroom(pool, request)
    placed = 0
    while capacity.headroom(pool, request) >= request.needed and placed < 500:
        pool = dataclasses.replace(pool, claimed=pool.claimed + request.needed)
        placed += request.needed
    assert placed <= max(room, 0) or math.isinf(room)


@given(clouds, requests(), st.integers())
def test_the_chosen_pool_has_the_largest_weight(cloud, request, seed):
    weighers = pipeline.load(
        pipeline.WEIGHERS,
        ["CapacityWeigher", "GoodnessWeigher", "HostAffinityWeigher", "PoolWeigher"],
        pipeline.Weigher,
    )
    made = pipeline.Pipeline(
        filters=tuple(loaded.values()),
        weighers=tuple((weigher, 1.0) for _name, weigher in weighers),
        random=random.Random(seed),
    )
    choice = made.choose(cloud, request)
    if choice.pool is not None:
        weights = choice.trace.weights
        assert weights[choice.pool.host] == max(weights.values())
        assert choice.headroom >= request.needed
