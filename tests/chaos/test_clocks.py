"""Nodes whose clocks are minutes off, on one database whose clock is the only one that counts."""

from __future__ import annotations

import concurrent.futures
import os

import pytest
import sqlalchemy as sa

from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from tests.chaos import truth
from tests.chaos.deployment import deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(240)]

LEASE = 5
SHARES = 20


WRONG = """
import os, time
_time, _time_ns, _off = time.time, time.time_ns, int(os.environ["CLOCK_IS_OFF"])
time.time = lambda: _time() + _off
time.time_ns = lambda: _time_ns() + _off * 10**9
"""
"""What Python runs before a program: the process believes another time.  (libfaketime breaks
Python's sleep, and a namespace has no wall clock of its own.)"""


@pytest.fixture
def cloud(tmp_path, mariadb_url, rabbitmq_url):
    with deployment(tmp_path, mariadb_url, rabbitmq_url) as made:
        made.sessions = Sessions(create_engine(mariadb_url))
        migration.upgrade(made.sessions.engine)
        yield made
        made.sessions.dispose()


def test_leases_and_heartbeats_go_by_the_database(cloud, record_property):
    """Nobody takes over early what a slow clock's node has, and at once what a dead one had."""
    clocks = {"right": 0, "ahead": 600, "behind": -600}
    for name in clocks:
        cloud.node(name, ("alpha",), backend_host="cluster", delay=1.0, intents={"lease": LEASE})
    (cloud.directory / "sitecustomize.py").write_text(WRONG)
    path = os.pathsep.join([str(cloud.directory), os.environ.get("PYTHONPATH", "")])

    def start(program, node):
        cloud.start(program, node, PYTHONPATH=path, CLOCK_IS_OFF=str(clocks[node]))

    start("api", "right")
    for node in ("ahead", "behind"):
        start("scheduler", node)
        start("share", node)
    until(lambda: cloud.serves("right"), "the API serves")
    cloud.make_type("right")
    until(lambda: members(cloud) == 4, "all daemons are there")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: cloud.create(f"s{n}", node="right"), range(SHARES)))
    assert {answer.status_code for answer in answers} == {200}
    until(lambda: truth.is_idle(cloud.sessions), "all is done")
    assert attempts(cloud) == {1}, "work was taken over from a worker that lived"
    assert members(cloud) == 4, "a daemon that lived was taken for dead"

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cloud.create(f"t{n}", node="right"), range(SHARES)))
    until(lambda: in_hand(cloud, "ahead"), "both are at work", pause=0.02)
    cloud.kill("share", "ahead")
    took = until(lambda: truth.is_idle(cloud.sessions), "all is done by the other one", 60)
    truth.check(truth.read(cloud.sessions), cloud.held("alpha"))
    assert cloud.overlaps("alpha") == []
    record_property("seconds to settle", round(took, 2))


def members(cloud):
    query = sa.select(sa.func.count()).select_from(models.Member)
    return cloud.sessions.run(lambda session: session.scalar(query))


def attempts(cloud):
    query = sa.select(models.Intent.attempts).distinct()
    return set(cloud.sessions.run(lambda session: session.scalars(query).all()))


def in_hand(cloud, node):
    process = (
        sa.select(models.Member.process)
        .join(models.Service, models.Service.id == models.Member.service_id)
        .where(models.Member.node == node, models.Service.binary == "share")
    )
    query = sa.select(models.Intent.id).where(
        models.Intent.owner.in_(process), models.Intent.state == "open"
    )
    return cloud.sessions.run(lambda session: session.scalars(query).all())
