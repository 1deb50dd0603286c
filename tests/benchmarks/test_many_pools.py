"""Pools of a cloud with 200 back ends, which report themselves meanwhile."""

from __future__ import annotations

import datetime as dt
import sys
import time

import pytest
import sqlalchemy as sa

from fileshare.db import clock
from fileshare.db.models import PoolReport
from tests.benchmarks.cloud import BACKENDS, POOLS, Cloud, roomy_database
from tests.benchmarks.figures import CLIENTS, Times, measured, timed
from tests.chaos.deployment import ADMIN, until

SHARES = 100_000
INTERVAL = 60
"""Seconds between two reports of a back end: as the options have it by default."""
ROUNDS = 2.5
QUICK = 500.0
PATH = "/scheduler-stats/pools/detail"


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """A process drives all back ends, on the database that two API processes read."""
    directory = tmp_path_factory.mktemp("pools")
    with roomy_database(directory) as url:
        made = Cloud(directory, url)
        options = {
            "quota": {"shares": -1, "gigabytes": -1},
            "report_interval": 10,
            "service_down_time": 60,
            "periodic_interval": INTERVAL,
        }
        try:
            made.node(backends=(), osapi_share_workers=2, **options)
            made.node(
                "shares",
                backends=tuple(f"b{number}" for number in range(BACKENDS)),
                backend_host="node",
                delay=0,
                driver={
                    "dummy_driver_fail": "create share=doomed",
                    "dummy_pools": ",".join(f"p{number}:100000:thin" for number in range(POOLS)),
                },
                intents={"lease": 60, "poll_interval": 5, "workers": 1},
                **options,
            )
            made.start("api")
            made.start("standalone", "shares")
            until(
                lambda: made.serves() and len(listed(made)) == BACKENDS * POOLS, "all report", 300
            )
            made.fill(SHARES)
            # Who reports while rows are made by the ten thousand waits for these.
            seqs = dict(reports(made))
            until(lambda: all(n > seqs[id] for id, n in reports(made)), "all report again", 300)
            yield made
        finally:
            made.close()


def listed(cloud):
    answer = cloud.ask("GET", PATH, as_=ADMIN)
    assert answer.status_code == 200, answer.text
    return answer.json()["pools"]


def ages(cloud, pools):
    """Seconds since each pool was reported, by the database's clock."""
    now = cloud.sessions.run(clock.moment)
    moments = [dt.datetime.fromisoformat(pool["capabilities"]["timestamp"]) for pool in pools]
    return [(now - moment.replace(tzinfo=None)).total_seconds() for moment in moments]


def test_the_list_is_fast_and_fresh_while_all_back_ends_report(cloud):
    """C066"""
    seqs = dict(reports(cloud))
    times, oldest = [], []
    end = time.monotonic() + ROUNDS * INTERVAL
    while time.monotonic() < end:
        times.append(timed(lambda: cloud.ask("GET", PATH, as_=ADMIN).raise_for_status()))
        pools = listed(cloud)
        assert len(pools) == BACKENDS * POOLS
        oldest.append(max(ages(cloud, pools)))
    quick = Times("pools with details, all report", sorted(times)).show()
    sys.stdout.write(f"oldest report in {len(oldest)} lists: {max(oldest):.1f} s\n")
    assert max(oldest) < 2 * INTERVAL
    assert quick.p95 < QUICK
    # It was not the first reports that were young.
    assert all(seq >= seqs[id] + 2 for id, seq in reports(cloud))


def reports(cloud):
    return cloud.rows(sa.select(PoolReport.id, PoolReport.report_seq))


@pytest.mark.parametrize("clients", [1, CLIENTS])
@pytest.mark.parametrize("query", ["", "?host=node@b1.*", "?share_type=default"])
def test_several_read_at_once(cloud, query, clients):
    def client():
        return lambda: cloud.ask("GET", PATH + query, as_=ADMIN).raise_for_status()

    times = measured(f"pools{query}", client, clients=clients)
    assert times.p95 < QUICK * (1 if clients == 1 else 2)
