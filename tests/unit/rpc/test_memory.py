"""Messages within the process: they arrive at once, and waiting for them costs nothing."""

from __future__ import annotations

import threading
import time
from queue import Empty
from types import SimpleNamespace

import kombu
import pytest

from fileshare.rpc import memory


@pytest.fixture
def connection():
    memory.install()
    with kombu.Connection("memory://") as connection:
        # What oslo.messaging does to this transport.
        connection.transport.polling_interval = 0.0
        yield connection


def test_a_message_comes_through(connection):
    queue = connection.SimpleQueue("comes-through")
    queue.put({"number": 7})
    assert queue.get(timeout=5).payload == {"number": 7}
    queue.close()


def test_who_waits_is_woken_by_a_message(connection):
    got = []
    queue = kombu.Queue("woken", kombu.Exchange("woken"), "woken")
    with (
        connection.Consumer(queue, callbacks=[lambda body, _: got.append(body)], no_ack=True),
        kombu.Connection("memory://") as other,
    ):
        producer = other.Producer()
        sender = threading.Timer(
            0.2, producer.publish, ["ring"], {"exchange": "woken", "routing_key": "woken"}
        )
        sender.start()
        connection.drain_events(timeout=30)
        sender.join()
    assert got == ["ring"]


def test_nobody_comes(connection):
    with pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.05)


def test_an_idle_listener_looks_once_and_sleeps(connection):
    looks = []

    def get(_deliver, timeout):
        looks.append(timeout)
        raise Empty

    connection.transport.cycle = SimpleNamespace(get=get, close=lambda: None)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.3)
    assert time.monotonic() - began >= 0.3
    # One look before sleeping, one after; a message of another test may add a few.
    assert len(looks) < 10
