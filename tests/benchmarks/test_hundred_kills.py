"""The daemon of a real back end is killed a hundred times, whatever it is at.

Each time it may be creating a share, deleting one and extending one; all three must be done, and
the back end must hold what the database says, volume by volume, before the next time.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import Status
from fileshare.drivers import loader
from tests.chaos import truth
from tests.chaos.deployment import deployment
from tests.fixtures.local_backends import ended, local_conf, needs_local_driver
from tests.fixtures.waiting import until

ROUNDS = 100
LATEST = 2.0
"""Seconds after the requests within which the daemon is killed, more often early than late."""
SETTLED = 60.0
"""Seconds after the restart within which nothing may be in transit."""
NAME = "data"

pytestmark = [*needs_local_driver, pytest.mark.timeout(3600)]


@pytest.fixture
def backend(tmp_path):
    """The options of a btrfs back end, whose Ganesha ends with the test."""
    conf = local_conf(tmp_path / NAME, share_driver="local_btrfs", local_share_size=64)
    options = {
        "share_driver": "local_btrfs",
        "local_share_size": 64,
        "local_state_path": tmp_path / NAME,
        "local_export_ips": "127.0.0.1",
        "local_nfs_port": conf["backend1"].local_nfs_port,
    }
    yield conf, options
    ended(conf)


@pytest.fixture
def cloud(tmp_path, mariadb_url, rabbitmq_url, backend):
    conf, options = backend
    with deployment(tmp_path, mariadb_url, rabbitmq_url) as made:
        made.sessions = Sessions(create_engine(mariadb_url))
        migration.upgrade(made.sessions.engine)
        made.node(backends=(NAME,), driver=options)
        for program in ("api", "scheduler", "share"):
            made.start(program)
        until(made.serves, "the API serves")
        made.make_type()
        made.driver = loader.load(conf, "backend1")
        yield made
        made.driver.close()
        made.sessions.dispose()


def settle(cloud):
    return until(lambda: truth.is_idle(cloud.sessions), "everything is settled", SETTLED)


def compare(cloud):
    """One volume for each share, with its size and its rules, and no other."""
    driver = cloud.driver
    sizes = driver.instances()
    volumes = Path(driver._top) / "volumes"
    assert {path.name for path in volumes.iterdir()} == set(sizes)
    assert driver.exports.keys() == set(sizes)
    held = {
        id: {"size": size, "rules": [{"to": to} for to, _ in driver.exports.enforced(id)]}
        for id, size in sizes.items()
    }
    found = truth.read(cloud.sessions)
    truth.check(found, held)
    return found


def shown(cloud, share):
    answer = cloud.ask("GET", f"/shares/{share}")
    return answer.json()["share"] if answer.status_code == 200 else None


def asked(answer, status):
    assert answer.status_code == status, answer.text
    return answer


def prepare(cloud, count):
    ids = [asked(cloud.create(), 200).json()["share"]["id"] for _ in range(count)]
    settle(cloud)
    return ids


def test_nothing_is_left_in_transit_and_no_volume_is_lost_or_left(cloud, record_property):
    """C031, C049, C050, C051: of a hundred creates, deletes and extends that a kill met with."""
    dice, slowest, failed, met = random.Random(0), 0.0, 0, 0
    grows, goes = prepare(cloud, 2)
    for number in range(ROUNDS):
        made = asked(cloud.create(f"new-{number}"), 200).json()["share"]["id"]
        asked(cloud.ask("DELETE", f"/shares/{goes}"), 202)
        extend = {"extend": {"new_size": 2}}
        asked(cloud.ask("POST", f"/shares/{grows}/action", extend), 202)
        time.sleep(LATEST * dice.random() ** 2)
        cloud.kill("share")
        met += not truth.is_idle(cloud.sessions)
        cloud.start("share")
        slowest = max(slowest, settle(cloud))
        found = compare(cloud)
        assert shown(cloud, goes) is None
        grown = shown(cloud, grows)
        assert (grown["status"], grown["size"]) == (Status.AVAILABLE, 2)
        new = shown(cloud, made)
        if new["status"] != Status.AVAILABLE:
            assert (new["status"], made in found.told) == (Status.ERROR, True)
            failed += 1
            made = prepare(cloud, 1)[0]
        # What has grown goes next, and what is new grows.
        grows, goes = made, grows
    quotas = cloud.ask("GET", "/limits").json()["limits"]["absolute"]
    assert quotas["totalSharesUsed"] == 2, "the quota is back"
    assert met > ROUNDS / 10, "the kills came too late"
    figures = {
        "kills": cloud.kills,
        "met with work": met,
        "slowest": round(slowest, 1),
        "creates in error": failed,
    }
    for name, value in figures.items():
        record_property(name, value)
    sys.stdout.write(f"{figures}\n")
