"""The bell: who rings first is heard at once, who follows closely travels along."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from types import SimpleNamespace

import oslo_messaging
import pytest

from fileshare.rpc import doorbell

PATIENCE = 10


class Client:
    """Takes messages in the place of oslo.messaging; a *broken* one refuses them."""

    def __init__(self):
        self.sent = queue.Queue()
        self.broken = False
        self.reached, self.open = threading.Event(), threading.Event()
        self.open.set()

    def prepare(self, topic):
        return SimpleNamespace(cast=lambda _ctx, _method, intent_ids: self.take(topic, intent_ids))

    def take(self, topic, ids):
        self.reached.set()
        assert self.open.wait(PATIENCE)
        if self.broken:
            self.sent.put("refused")
            raise oslo_messaging.MessageDeliveryFailure
        self.sent.put((topic, ids))

    def next(self):
        return self.sent.get(timeout=PATIENCE)

    @contextlib.contextmanager
    def after(self, ring):
        """What is rung meanwhile comes while the message of *ring* is being sent."""
        self.open.clear()
        ring()
        assert self.reached.wait(PATIENCE), "it is sent at once"
        yield
        self.open.set()


@pytest.fixture
def client(monkeypatch):
    made = Client()
    monkeypatch.setattr(oslo_messaging, "get_rpc_client", lambda *_args, **_kw: made)
    return made


@pytest.fixture
def bell(client):
    made = doorbell.MessagingDoorbell(None)
    yield made
    made.stop()


def test_what_follows_closely_is_gathered_by_destination(client, bell, monkeypatch):
    monkeypatch.setattr(doorbell, "_PACE", 0.5)
    with client.after(lambda: bell.ring("scheduler", "first")):
        for name in ("a", "b", "c"):
            bell.ring("scheduler", name)
            bell.ring("data", name)
        began = time.monotonic()
    assert client.next() == (doorbell.topic("scheduler"), ["first"])
    found = dict([client.next(), client.next()])
    assert found == {doorbell.topic(to): ["a", "b", "c"] for to in ("scheduler", "data")}
    assert time.monotonic() - began >= 0.5


def test_a_message_holds_no_more_than_its_share(client, bell, monkeypatch):
    monkeypatch.setattr(doorbell, "_PACE", 0.0)
    ids = [str(number) for number in range(2 * doorbell._MOST + 1)]
    with client.after(lambda: bell.ring("data", "first")):
        for each in ids:
            bell.ring("data", each)
    client.next()
    parts = [client.next()[1] for _ in range(3)]
    assert [len(part) for part in parts] == [doorbell._MOST, doorbell._MOST, 1]
    assert [each for part in parts for each in part] == ids


def test_the_end_sends_what_waits_and_waits_no_longer(client, monkeypatch):
    monkeypatch.setattr(doorbell, "_PACE", 60.0)
    bell = doorbell.MessagingDoorbell(None)
    bell.ring("data", "first")
    client.next()
    bell.ring("data", "last")
    began = time.monotonic()
    bell.stop()
    assert client.next()[1] == ["last"]
    assert time.monotonic() - began < PATIENCE
    assert not bell._thread.is_alive()


def test_a_broker_that_refuses_is_left_alone_for_a_while(client, bell, monkeypatch):
    looks = queue.Queue()
    clock = {"now": 100.0}

    def look():
        looks.put(clock["now"])
        return clock["now"]

    monkeypatch.setattr(doorbell, "time", SimpleNamespace(monotonic=look))
    monkeypatch.setattr(doorbell, "_PACE", 0.0)
    client.broken = True
    bell.ring("data", "lost")
    assert client.next() == "refused"
    assert [looks.get(timeout=PATIENCE) for _before_and_after in range(2)] == [100.0, 100.0]
    client.broken = False
    clock["now"] += doorbell._COOL_OFF - 0.1
    bell.ring("data", "left to polling")
    assert looks.get(timeout=PATIENCE) == clock["now"]
    clock["now"] += 0.2
    bell.ring("data", "heard")
    assert client.next()[1] == ["heard"]
