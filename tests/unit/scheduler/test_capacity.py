from __future__ import annotations

import math

import pytest

from fileshare.scheduler import capacity
from tests.unit.scheduler.placing import pool, request

THIN_FORBIDDEN = {"thin_provisioning": "<is> False"}


@pytest.mark.parametrize(
    ("values", "room"),
    [
        ({}, 50),
        ({"claimed": 20}, 30),
        ({"free": 50.9}, 50),
        ({"reserved_percentage": 10}, 40),
        ({"reserved_percentage": 60}, -10),
        ({"free": None}, math.inf),
        ({"free": None, "total": None, "reserved_percentage": 10}, math.inf),
        ({"total": None}, 50),
        ({"total": None, "claimed": 5}, 45),
        ({"total": None, "reserved_percentage": 1}, -math.inf),
        ({"total": 0}, -math.inf),
        ({"total": -1}, -math.inf),
    ],
)
def test_thick(values, room):
    assert capacity.headroom(pool(**values), request()) == room


@pytest.mark.parametrize(
    ("values", "room"),
    [
        ({"provisioned": 100.0}, 100),  # 100 * 2 - 100; free 50 * 2 allows as much
        ({"provisioned": 120.0}, 80),
        ({"provisioned": 120.0, "claimed": 30}, 50),
        ({"provisioned": 0.0}, 100),  # what is really free limits
        ({"provisioned": 0.0, "claimed": 30}, 70),
        ({"provisioned": 150.0, "reserved_percentage": 10}, 30),  # (100 - 10) * 2 - 150
        ({"provisioned": None, "allocated": 170.0}, 30),
        ({"provisioned": 0.0, "max_over_subscription_ratio": 0.5}, -math.inf),
        ({"provisioned": 0.0, "free": None}, math.inf),
    ],
)
def test_thin(values, room):
    thin = pool(**{"thin": True, "max_over_subscription_ratio": 2.0, **values})
    assert capacity.headroom(thin, request()) == room


def test_a_type_may_forbid_thin():
    thin = pool(thin=True, provisioned=0.0)
    assert capacity.headroom(thin, request(THIN_FORBIDDEN)) == 50
    scoped = {"capabilities:thin_provisioning": "<is> False"}
    assert capacity.headroom(thin, request(scoped)) == 50
    assert capacity.headroom(thin, request({"thin_provisioning": "True"})) == 1000


def test_each_sort_of_request_has_its_reserve():
    kept = pool(
        reserved_percentage=10, reserved_snapshot_percentage=20, reserved_extend_percentage=30
    )
    assert capacity.headroom(kept, request()) == 40
    assert capacity.headroom(kept, request(from_snapshot=True)) == 30
    assert capacity.headroom(kept, request(is_extend=True)) == 20


def test_virtual_free():
    assert capacity.virtual_free(pool(claimed=8, reserved_percentage=10), request()) == 32
    thin = pool(thin=True, max_over_subscription_ratio=2.0, provisioned=30.0, claimed=8)
    assert capacity.virtual_free(thin, request()) == 162
    assert capacity.virtual_free(pool(free=None), request()) is None
    assert capacity.virtual_free(pool(total=None), request()) is None
