"""A broker that is not there, does not answer, takes nothing, or dies: no request waits for it."""

from __future__ import annotations

import contextlib
import gc
import socket
import sys
import time

import kombu
import pytest

from devstack.servers import HOST, RabbitMQ, free_port
from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.rpc import doorbell
from tests.chaos import truth
from tests.chaos.deployment import Guarded, deployment, until
from tests.integration.test_broker import WHERE, Ringer, Station

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.integration,
    pytest.mark.timeout(300),
    # amqp leaves connections that a dead broker has ended to the collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning"),
]

REQUESTS = 30
SLOWEST = 2.0
"""Seconds that a request may take on a machine that is busy with other tests."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """One that these tests may kill."""
    guarded = Guarded(
        RabbitMQ(tmp_path_factory.mktemp("broker") / "rabbitmq", free_port(), throwaway=True)
    )
    guarded.start()
    yield guarded
    guarded.stop()


@contextlib.contextmanager
def absent(_broker):
    """Nothing listens there."""
    yield f"rabbit://guest:guest@{HOST}:1/"


@contextlib.contextmanager
def silent(_broker):
    """Something takes connections and never says a word."""
    with socket.create_server((HOST, 0), backlog=500) as server:
        yield f"rabbit://guest:guest@{HOST}:{server.getsockname()[1]}/"


@contextlib.contextmanager
def unreachable(_broker):
    """Packets go nowhere, as in a network that is cut: the queue of connections is full."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(socket.create_server((HOST, 0), backlog=0))
        for _ in range(3):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"rabbit://guest:guest@{HOST}:{server.getsockname()[1]}/"


@contextlib.contextmanager
def full(broker):
    """The broker has no memory left, and takes nothing from who publishes."""
    broker.server.control("set_vm_memory_high_watermark", "0.0001")
    until(lambda: "memory" in broker.server.control("status"), "the alarm is on")
    try:
        yield broker.server.url()
    finally:
        broker.server.control("set_vm_memory_high_watermark", "0.4")


@pytest.mark.parametrize("state", [absent, silent, unreachable, full])
def test_no_request_waits_for_the_broker(state, broker, tmp_path, record_property):
    """Requests are answered at once, polling does the work, and daemons end when told to."""
    database = f"sqlite:///{tmp_path}/fileshare.db"
    with state(broker) as url, deployment(tmp_path, database, url) as cloud:
        cloud.sessions = Sessions(create_engine(database))
        migration.upgrade(cloud.sessions.engine)
        cloud.node(backends=("alpha",), delay=0)
        for program in ("api", "scheduler", "share"):
            cloud.start(program)
        until(cloud.serves, "the API serves")
        cloud.make_type()
        times = []
        for number in range(REQUESTS):
            began = time.monotonic()
            assert cloud.create(f"quiet-{number}").status_code == 200
            times.append(time.monotonic() - began)
        polled = until(lambda: truth.is_idle(cloud.sessions), "polling finds the work")
        truth.check(truth.read(cloud.sessions), cloud.held("alpha"))
        ends = {program: cloud.stop(program) for program in ("share", "scheduler", "api")}
        cloud.sessions.dispose()
    figures = {
        "slowest request": round(max(times), 2),
        "seconds to settle": round(polled, 2),
        "slowest end": round(max(ends.values()), 2),
    }
    sys.stdout.write(f"{state.__name__}: {figures}\n")
    for name, value in figures.items():
        record_property(name, value)
    assert max(times) < SLOWEST
    assert max(ends.values()) < 25


@pytest.fixture
def _collected():
    yield
    gc.collect()  # while warnings of sockets are passed over


@pytest.mark.usefixtures("_collected")
def test_a_broker_that_is_killed_loses_nothing_that_it_took(broker):
    """Rings wait in the queue for a daemon that is away; a daemon connects again by itself."""
    url = broker.server.url()
    station, ringer = Station(url), Ringer(url)
    ringer.bell.ring(WHERE, "first")
    until(lambda: station.heard == ["first"], "the first ring is heard")
    station.stop()
    ringer.bell.ring(WHERE, "while nobody listens")
    until(lambda: waiting(url) == 1, "the broker has it")
    broker.stop()
    broker.start()
    until(lambda: waiting(url) == 1, "the broker still has it")
    station = Station(url)
    until(lambda: station.heard == ["while nobody listens"], "it is heard afterwards")

    broker.stop()
    broker.start()
    tries = iter(range(1000))

    def heard():
        ringer.bell.ring(WHERE, f"after {next(tries)}")
        return len(station.heard) > 1

    until(heard, "both have connected again", 40, pause=1)
    began = time.monotonic()
    station.stop()
    ringer.stop()
    assert time.monotonic() - began < 20


def waiting(url):
    """The number of messages in the queue of the destination."""
    with kombu.Connection(url.replace("rabbit://", "amqp://") + "/") as connection:
        return (
            connection.channel().queue_declare(doorbell.topic(WHERE), passive=True).message_count
        )
