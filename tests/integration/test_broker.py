"""Rings through a real RabbitMQ."""

from __future__ import annotations

import gc

import pytest
from oslo_config import cfg

from fileshare import conf as options
from fileshare.rpc import doorbell, transport

pytestmark = [
    pytest.mark.integration,
    # amqp leaves connections that a dead broker has ended to the collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning"),
]

WHERE = "share.cluster@alpha"


def configured(url) -> cfg.ConfigOpts:
    conf = options.register_all(cfg.ConfigOpts())
    transport.register(conf)
    conf([], project="fileshare", default_config_files=[])
    conf.set_override("transport_url", url)
    return conf


class Station:
    """What a daemon has of the doorbell: it listens, and notes what was rung for."""

    def __init__(self, url, node="one"):
        self.transport = transport.make(configured(url))
        self.heard = []
        self.server = doorbell.listen(self.transport, WHERE, node, self.heard.extend)
        self.server.start()

    def stop(self):
        self.server.stop()
        self.server.wait()
        self.transport.cleanup()


class Ringer:
    """What an API has of it."""

    def __init__(self, url):
        self.transport = transport.make(configured(url))
        self.bell = doorbell.MessagingDoorbell(self.transport)

    def stop(self):
        self.bell.stop()
        self.transport.cleanup()


def queues(server, virtual_host="/"):
    """The queues of a virtual host with their kind, durability and arguments."""
    columns = ("name", "type", "durable", "arguments")
    said = server.control("list_queues", "--quiet", "--vhost", virtual_host, *columns)
    rows = [line.split("\t") for line in said.splitlines()]
    return {row[0]: row[1:] for row in rows if len(row) == len(columns) and row[0] != "name"}


def test_queues_are_quorum_queues_and_a_restart_leaves_none_behind(rabbitmq, rabbitmq_url):
    virtual_host = rabbitmq_url.rpartition("/")[2]
    named = {doorbell.topic(WHERE), f"{doorbell.topic(WHERE)}.one"}
    for _ in range(2):
        station = Station(rabbitmq_url)
        found = queues(rabbitmq, virtual_host)
        for name in named:
            assert found[name][:2] == ["quorum", "true"]
        station.stop()
    for name in set(found) - named:
        # Of a process: broadcasts, of which there are none.
        assert "_fanout_" in name
        assert "x-expires" in found[name][2]
    assert not [name for name in found if "reply" in name], "nothing waits for an answer"


@pytest.fixture(autouse=True)
def _collected():
    yield
    gc.collect()  # while warnings of sockets are passed over
