from __future__ import annotations

import logging

import pytest

from fileshare.scheduler.pipeline import normalised
from fileshare.scheduler.weighers import goodness
from fileshare.scheduler.weighers.capacity import CapacityWeigher
from fileshare.scheduler.weighers.goodness import GoodnessWeigher
from fileshare.scheduler.weighers.host_affinity import HostAffinityWeigher
from fileshare.scheduler.weighers.pool import PoolWeigher
from tests.unit.scheduler.placing import pipe, pool, request

GOLD, SILVER, OTHER = "node1@alpha#gold", "node1@alpha#silver", "node2@beta#gold"


@pytest.mark.parametrize(
    ("values", "multiplier", "result"),
    [
        ([10, 20, 30], 1.0, [0, 0.5, 1]),
        ([10, 20, 30], 2.0, [0, 1, 2]),
        ([10, 20, 30], -1.0, [0, -0.5, -1]),
        ([5, 5], 1.0, [0, 0]),
        ([None, 10, 11], 1.0, [0, 0.5, 1]),
        ([10, 11, None], -1.0, [0, -0.5, -1]),
        ([None, None], 1.0, [0, 0]),
        ([None, 5], 1.0, [0, 1]),
    ],
)
def test_normalised(values, multiplier, result):
    assert normalised(values, multiplier) == result


@pytest.mark.parametrize(("multiplier", "chosen"), [(1.0, OTHER), (-1.0, GOLD)])
def test_capacity_spreads_or_stacks(multiplier, chosen):
    pools = [pool(GOLD, free=10.0), pool(SILVER, free=None), pool(OTHER, free=20.0)]
    choice = pipe(weighers=[(CapacityWeigher(), multiplier)]).choose(pools, request())
    assert choice.pool.host == chosen


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("(share.share_proto == 'NFS') ? 100 : 50", 100),
        ("share.size * 2", 10),
        ("share.size > 1", 100),
        ("101", 0),
        ("0 - 1", 0),
        ("share.absent", 0),
        ("'text'", 0),
        ("", 0),
        (None, 0),
    ],
)
def test_goodness(text, weight):
    asked = request(share={"share_proto": "NFS", "size": 5})
    state = pool(capabilities={"goodness_function": text})
    assert GoodnessWeigher().weight(state, asked) == weight


def test_a_faulty_goodness_is_warned_of_once(caplog):
    state = pool(capabilities={"goodness_function": "so (good"})
    with caplog.at_level(logging.WARNING):
        for _placement in range(3):
            assert GoodnessWeigher().weight(state, request()) == 0
    mine = [record for record in caplog.records if record.name == goodness.__name__]
    assert [record.getMessage().count("so (good") for record in mine] == [1]


def test_nearness_to_the_snapshot_is_the_candidates():
    weigher = HostAffinityWeigher()
    asked = request(snapshot_host=GOLD, snapshot_zone_id="z1", zone_id="z1")
    assert weigher.weight(pool(GOLD), asked) == 100
    assert weigher.weight(pool(SILVER), asked) == 75
    assert weigher.weight(pool(OTHER, zone_id="z1"), asked) == 50
    assert weigher.weight(pool(OTHER, zone_id="z2"), asked) == 25
    assert not weigher.applies(request())


def test_pools_with_a_server_of_the_network():
    weigher = PoolWeigher()
    asked = request(server_pools=frozenset({GOLD}))
    assert weigher.weight(pool(GOLD), asked) == 1
    assert weigher.weight(pool(OTHER), asked) == 0
    assert not weigher.applies(request())
