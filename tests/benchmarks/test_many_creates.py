"""Ten thousand shares of one project on one back end."""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import time

import pytest
import sqlalchemy as sa

from fileshare.db import migration
from fileshare.db.models import Message, Share
from fileshare.domain.statuses import Status
from tests.benchmarks.cloud import Cloud, roomy_database
from tests.benchmarks.load import create_many
from tests.chaos import truth
from tests.chaos.deployment import ADMIN, PROJECT, until
from tests.fixtures.servers import rabbitmq_host

pytestmark = [pytest.mark.timeout(3600), pytest.mark.integration]

NUMBER = 10_000
SPARE = 5
"""GiB that the pool has besides those of the shares."""

PROBE = 100
PROBES = 10
WARM = 200
LEAST = 0.9


@contextlib.contextmanager
def running(directory, url, transport, **quota):
    """A cloud with one back end, which has room for the shares and little more."""
    directory.mkdir()
    cloud = Cloud(directory, url, transport)
    try:
        cloud.node(
            backends=("alpha",),
            delay=0,
            quota=quota,
            driver={
                "dummy_pools": f"pool:{NUMBER + SPARE}:thin",
                "max_over_subscription_ratio": 1.0,
            },
            intents={"lease": 60, "poll_interval": 5},
            report_interval=10,
            service_down_time=60,
            periodic_interval=60,
        )
        for program in ("api", "scheduler", "share"):
            cloud.start(program)
        until(cloud.serves, "the API serves")
        cloud.make_type()
        create_many(cloud.nodes["node"].port, WARM)
        cloud.settle()
        yield cloud
    finally:
        cloud.close()


@pytest.fixture
def clouds(tmp_path, rabbitmq):
    """The one that gets full, and one that is new, on the same servers."""
    with (
        roomy_database(tmp_path) as url,
        rabbitmq_host(rabbitmq) as first,
        rabbitmq_host(rabbitmq) as second,
    ):
        other = sa.make_url(url).set(database="other")
        engine = sa.create_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE DATABASE other CHARACTER SET utf8mb4")
        engine.dispose()
        other = other.render_as_string(hide_password=False)
        migration.upgrade(other)
        limits = {"shares": NUMBER, "gigabytes": NUMBER}
        with (
            running(tmp_path / "full", url, first, **limits) as full,
            running(tmp_path / "new", other, second, **limits) as new,
        ):
            yield full, new


def rate(cloud, number):
    """Shares a second, from the first call to the last one that is available."""
    began = time.monotonic()
    create_many(cloud.nodes["node"].port, number)
    until(lambda: truth.is_idle(cloud.sessions), "all are there", 300, pause=0.02)
    return number / (time.monotonic() - began)


def by_status(cloud):
    return dict(cloud.rows(sa.select(Share.status, sa.func.count()).group_by(Share.status)))


def test_nothing_but_quota_and_capacity_ends_it(clouds, record_property):
    """C187: the last thousand are made as quickly as the first.

    The first thousand of a new cloud on the same servers are made in between, a hundred here and
    a hundred there: what else the machine does meanwhile, it does to both.
    """
    full, new = clouds
    own = []
    while (left := NUMBER - WARM - PROBE * PROBES - sum(number for number, _ in own)) > 0:
        number = min(PROBE, left)
        own.append((number, rate(full, number)))
    first, last = [], []
    for _ in range(PROBES):
        first.append(rate(new, PROBE))
        last.append(rate(full, PROBE))
    assert by_status(full) == {Status.AVAILABLE: NUMBER}
    ratio = statistics.median(last) / statistics.median(first)
    start = statistics.median(rate for _, rate in own[:PROBES])
    figures = {
        "shares a second, first thousand of a new cloud": shown(first),
        f"shares a second, last thousand of {NUMBER}": shown(last),
        "load of the machine": os.getloadavg(),
        "ratio of the medians": round(ratio, 3),
        "shares a second, its own first thousand": round(start, 1),
    }
    sys.stdout.write("".join(f"\n{name}: {value}" for name, value in figures.items()) + "\n")
    for name, value in figures.items():
        record_property(name, value)
    refused_by_quota(full)
    refused_by_capacity(full)
    truth.check(truth.read(full.sessions), full.held("alpha"))
    assert ratio >= LEAST


def shown(rates):
    return {
        "median": round(statistics.median(rates), 1),
        "from": round(min(rates), 1),
        "to": round(max(rates), 1),
    }


def refused_by_quota(cloud):
    answer = cloud.create()
    assert answer.status_code == 413, answer.text
    assert "ShareLimitExceeded" in answer.text or "quota" in answer.text.lower()


def refused_by_capacity(cloud):
    """With another quota there are as many more as the pool has room for."""
    limits = {"quota_set": {"shares": -1, "gigabytes": -1}}
    assert cloud.ask("PUT", f"/quota-sets/{PROJECT}", limits, as_=ADMIN).status_code == 200
    assert cloud.create(size=SPARE).status_code == 200
    cloud.settle()
    assert by_status(cloud) == {Status.AVAILABLE: NUMBER + 1}
    share_id = cloud.create().json()["share"]["id"]
    cloud.settle()
    assert cloud.status(share_id) == Status.ERROR
    told = cloud.rows(sa.select(Message.detail_id).where(Message.resource_id == share_id))
    assert len(told) == 1
