"""The kill drill: real daemons on a real database and a real broker, all of them killed.

Whatever is killed, and whenever: soon afterwards everything is settled, the books are right,
and the back ends hold what the database says, no more and no less.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import sys
import time

import pymysql
import pytest
import requests

from devstack.servers import HOST
from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import Status
from tests.chaos import truth
from tests.chaos.deployment import Guarded, deployment, mariadb, rabbitmq, until

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(240)]

CREATES = 50
RULES = 50
SETTLE = 30.0
"""Seconds within which all must be settled: a lease (3 s), a restart, and a slow machine."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """A MariaDB and a RabbitMQ that only these tests use, because they are killed."""
    directory = tmp_path_factory.mktemp("servers")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        made = list(pool.map(lambda make: make(directory), (mariadb, rabbitmq)))
        list(pool.map(Guarded.start, made))
    yield made
    for server in made:
        server.stop()


@pytest.fixture
def cloud(servers, tmp_path):
    """Everything but the daemons: a migrated database, configuration for one node."""
    database, broker = servers
    name = f"drill_{abs(hash(tmp_path)) % 10**9}"
    where = {"host": HOST, "port": database.server.port, "user": "fileshare"}
    connection = pymysql.connect(**where, password="fileshare")
    with connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    with deployment(tmp_path, database.server.url(name), broker.server.url()) as made:
        made.servers = servers
        made.sessions = Sessions(create_engine(made.database))
        yield made
        made.sessions.dispose()


def begin(cloud, *share_nodes):
    """Bring up the database and all daemons, with a share daemon on each of the nodes."""
    migration.upgrade(cloud.sessions.engine)
    cloud.start("api")
    cloud.start("scheduler")
    cloud.start("data")
    for node in share_nodes:
        cloud.start("share", node)
    until(cloud.serves, "the API serves")
    cloud.make_type()


def insist(call, *arguments):
    """The answer of a request, asked again while the API is away, as a patient client does."""
    for _ in range(100):
        with contextlib.suppress(requests.RequestException):
            return call(*arguments)
        time.sleep(0.2)
    raise AssertionError("the API does not come back")


def storm(pool, cloud, shares, *, creates=CREATES, rules=RULES):
    """Requests in flight: new shares, and rules on those that are there."""
    asked = [
        pool.submit(insist, cloud.create, f"storm-{number}", 1 + number % 3)
        for number in range(creates)
    ]
    asked += [
        pool.submit(insist, cloud.allow, shares[number % len(shares)], f"10.1.{number}.0/24")
        for number in range(rules)
    ]
    return asked


def settle(cloud, seconds=SETTLE):
    """Wait until no work is promised; how long that took."""
    return until(lambda: truth.is_idle(cloud.sessions), "everything is settled", seconds)


def check(cloud, *backends):
    found = truth.read(cloud.sessions)
    truth.check(found, cloud.held(*backends))
    assert cloud.overlaps(*backends) == [], "two driver calls at once on one instance"
    return found


def prepared_shares(cloud, count=25):
    """Shares that are available, for rules to be put on."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: cloud.create(f"base-{n}"), range(count)))
    settle(cloud)
    return [answer.json()["share"]["id"] for answer in answers]


def kill_each_in_turn(cloud):
    """Each daemon: all processes of it, its workers, its parent."""
    cloud.kill("api")
    cloud.start("api")
    time.sleep(0.5)
    cloud.kill_children("share")
    time.sleep(0.3)
    cloud.kill("scheduler")
    cloud.start("scheduler")
    time.sleep(0.5)
    cloud.kill("share")
    cloud.start("share")
    cloud.kill("data")
    cloud.start("data")
    time.sleep(1.0)
    cloud.kill_children("scheduler")
    until(cloud.serves, "the API serves again")


def test_daemons_are_killed_with_a_hundred_requests_in_flight(cloud, record_property):
    cloud.node(delay=0.2)
    begin(cloud, "node")
    shares = prepared_shares(cloud)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        asked = storm(pool, cloud, shares)
        time.sleep(0.4)
        kill_each_in_turn(cloud)
        cloud.kill_parent("share")
        cloud.start("share")
        answers = [future.result() for future in asked]
    took = settle(cloud)
    found = check(cloud, "alpha", "beta")
    # A rule whose first request was answered by nobody, yet taken, is there already.
    assert {answer.status_code for answer in answers[:CREATES]} == {200}
    assert {answer.status_code for answer in answers[CREATES:]} <= {200, 400}
    assert len(found.shares) >= len(shares) + CREATES
    assert found.by_status() == {Status.AVAILABLE: len(found.shares)}
    assert len(found.rules) == RULES
    report(record_property, cloud, took, shares=len(found.shares))


def test_requests_do_not_wait_for_the_broker(cloud, record_property):
    """Without it work is found by polling, and with it at once again."""
    cloud.node(delay=0.1)
    begin(cloud, "node")
    _, broker = cloud.servers
    broker.stop()
    slowest = 0.0
    for number in range(10):
        began = time.monotonic()
        assert cloud.create(f"quiet-{number}").status_code == 200
        slowest = max(slowest, time.monotonic() - began)
    assert slowest < 2.0
    polled = settle(cloud)
    broker.start()
    assert cloud.create("afterwards").status_code == 200
    took = settle(cloud)
    check(cloud, "alpha", "beta")
    report(record_property, cloud, took, slowest=round(slowest, 2), polled=round(polled, 2))


def test_the_database_is_killed_under_load(cloud, record_property):
    cloud.node(delay=0.1)
    begin(cloud, "node")
    database, _ = cloud.servers
    shares = prepared_shares(cloud, 10)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        asked = storm(pool, cloud, shares, creates=25, rules=25)
        time.sleep(0.3)
        database.kill()
        cloud.kills += 1
        database.start()
        answers = [future.result() for future in asked]
    took = settle(cloud)
    found = check(cloud, "alpha", "beta")
    # What was promised is there; what was refused for want of a database has left nothing.
    promised = {answer.json()["share"]["id"] for answer in answers[:25] if answer.ok}
    assert {share.id for share in found.shares} == promised | set(shares)
    report(record_property, cloud, took, promised=len(promised))


def test_a_second_daemon_takes_over_a_back_end(cloud, record_property):
    """C173"""
    for name in ("node", "other"):
        cloud.node(name, ("alpha",), backend_host="cluster", delay=0.2)
    begin(cloud, "node", "other")
    shares = prepared_shares(cloud, 10)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        asked = storm(pool, cloud, shares, creates=40, rules=40)
        time.sleep(0.8)
        cloud.kill("share", "node")
        answers = [future.result() for future in asked]
    took = settle(cloud)
    found = check(cloud, "alpha")
    assert {answer.status_code for answer in answers} == {200}
    assert len(found.shares) == len(shares) + 40
    assert {instance.host for instance in found.instances} == {"cluster@alpha#pool"}
    report(record_property, cloud, took)


def report(record_property, cloud, took, **facts):
    """Write the figures of a drill to the report of the run (``--junit-xml``)."""
    figures = {"kills": cloud.kills, "seconds to settle": round(took, 2), **facts}
    for name, value in figures.items():
        record_property(name, value)
    sys.stdout.write(f"{figures}\n")
