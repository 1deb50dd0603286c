"""Sending notices: nobody waits for the broker, and what is lost is counted."""

from __future__ import annotations

import contextlib
import logging
import threading

import oslo_messaging
import pytest

from fileshare import conf as options
from fileshare.domain.notices import Notice, Priority, publisher
from fileshare.rpc import notifications, transport

NOTICE = Notice("share.node@alpha", "share.create.end", {"share_id": "s"}, request_id="req-1")


class Broker:
    """Takes what is sent while it is open, and refuses it while it is broken."""

    def __init__(self, *, open_=True, broken=False):
        self.open = threading.Event()
        self.entered = threading.Event()
        self.broken = broken
        self.taken = []
        if open_:
            self.open.set()

    def send(self, notice):
        self.entered.set()
        assert self.open.wait(30)
        if not self.broken:
            self.taken.append(notice.event)
        return not self.broken

    def close(self):
        self.taken.append("closed")


def notice(number):
    return Notice("share.h", f"event.{number}", {})


def test_order_is_kept_and_the_end_waits_for_what_is_queued():
    broker = Broker()
    notifier = notifications.MessagingNotifier(broker)
    for number in range(50):
        notifier.send(notice(number))
    notifier.stop()
    assert broker.taken == [*(f"event.{number}" for number in range(50)), "closed"]
    assert notifier.lost == 0


def test_a_broker_that_hangs_holds_nobody_up(caplog):
    broker = Broker(open_=False)
    notifier = notifications.MessagingNotifier(broker, backlog=5)
    notifier.send(notice(0))
    assert broker.entered.wait(30)
    for number in range(1, 20):
        notifier.send(notice(number))  # would never return, did it wait
    assert notifier.lost == 14
    assert "event.6 is dropped" in caplog.text
    assert caplog.text.count("dropped") == 1  # said once, not for each
    broker.open.set()
    notifier.stop()
    assert broker.taken == [*(f"event.{number}" for number in range(6)), "closed"]
    assert "14 notifications were lost" in caplog.text


def test_what_a_broken_broker_refuses_is_counted(caplog):
    broker = Broker(broken=True)
    notifier = notifications.MessagingNotifier(broker)
    for number in range(3):
        notifier.send(notice(number))
    notifier.stop()
    assert notifier.lost == 3
    assert "3 notifications were lost" in caplog.text


@pytest.fixture
def conf():
    made = options.load([], files=[])
    transport.register(made)
    return made


def set_up(conf, **values):
    for name, value in values.items():
        conf.set_override(name, value, group=transport.NOTIFICATIONS)


@pytest.mark.parametrize(("driver", "wanted"), [([], False), (["noop"], False), (["log"], True)])
def test_it_is_off_without_a_driver(conf, driver, wanted):
    set_up(conf, driver=driver)
    made = notifications.make(conf)
    assert made.is_on is wanted
    made.send(NOTICE)
    made.stop()


def test_a_driver_that_needs_a_broker_is_refused_without_one(conf):
    assert notifications.check(conf) is None
    set_up(conf, driver=["log", "noop"])
    assert notifications.check(conf) is None
    set_up(conf, driver=["log", "messagingv2"])
    assert "messagingv2" in notifications.check(conf)
    set_up(conf, transport_url="fake://")
    assert notifications.check(conf) is None


def test_the_log_needs_no_broker(conf, caplog):
    set_up(conf, driver=["log"])
    caplog.set_level(logging.INFO)
    notifier = notifications.make(conf)
    notifier.send(NOTICE)
    notifier.stop()
    assert '"event_type": "share.create.end"' in caplog.text
    assert notifier.lost == 0


class Listener:
    """What a collector is told."""

    def __init__(self):
        self.heard = []
        self.all = threading.Semaphore(0)

    def _hear(self, context, publisher_id, event_type, payload, metadata):
        self.heard.append((context, publisher_id, event_type, payload))
        self.all.release()

    info = error = _hear


@contextlib.contextmanager
def listening(conf, topic):
    endpoint = Listener()
    bus = transport.make_for_notifications(conf)
    targets = [oslo_messaging.Target(topic=topic)]
    listener = oslo_messaging.get_notification_listener(
        bus, targets, [endpoint], executor="threading"
    )
    listener.start()
    try:
        yield endpoint
    finally:
        listener.stop()
        listener.wait()


def test_a_collector_hears_it(conf):
    """Over oslo.messaging, with the context as a plain object and no token in it."""
    set_up(conf, driver=["messagingv2"], topics=["bills"])
    conf.set_override("transport_url", "fake://")
    notifier = notifications.make(conf)
    with listening(conf, "bills") as endpoint:
        notifier.send(NOTICE)
        failed = {"share_id": "s", "reason": "why"}
        notifier.send(Notice("share.h", "share.create.error", failed, Priority.ERROR))
        for _each in range(2):
            assert endpoint.all.acquire(timeout=30)
    notifier.stop()
    heard = {event: (publisher, payload) for _, publisher, event, payload in endpoint.heard}
    assert heard == {
        "share.create.end": ("share.node@alpha", {"share_id": "s"}),
        "share.create.error": ("share.h", failed),
    }
    (context,) = (context for context, _, event, _ in endpoint.heard if event == NOTICE.event)
    assert context["request_id"] == "req-1"
    assert not any("token" in key for key in context)


def test_a_failure_that_the_library_only_logs_is_seen(conf, monkeypatch):
    set_up(conf, driver=["messagingv2"], retry=0)
    conf.set_override("transport_url", "fake://")
    sender = notifications.Sender(conf)
    assert sender.send(NOTICE)

    def refuse(*_args, **_kw):
        raise OSError("gone")

    monkeypatch.setattr(sender._transport, "_send_notification", refuse)
    assert not sender.send(NOTICE)
    sender.close()
    assert not any(
        isinstance(handler, notifications._Complaints)
        for handler in logging.getLogger("oslo_messaging.notify").handlers
    )


def test_publishers():
    assert publisher("share_type.create", "h") == "shareType.h"
    assert publisher("share_type_extra_specs.delete", "h") == "shareTypeExtraSpecs.h"
