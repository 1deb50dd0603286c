"""The release before and this one, side by side, while users go on working.

Two nodes serve one back end on MariaDB and RabbitMQ. Their programs are replaced one by one under
load, so that for a while every kind of daemon runs in both releases: no request is answered with
a 5xx, nothing ends in error, all is settled. Upwards with the migrations around it, and back.
"""

from __future__ import annotations

import collections
import itertools
import os
import random
import subprocess
import sys
import threading

import pytest
import requests

from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import Status
from tests.chaos import previous, truth
from tests.chaos.deployment import ROOT, deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(400)]

NODES = ("one", "two")
PROGRAMS = ("api", "scheduler", "share", "data")
USERS = 4


class Load:
    """Users who work all the time, behind a balancer that knows which API takes requests."""

    def __init__(self, cloud):
        self.cloud = cloud
        self.answers = collections.Counter()
        self.bad = []
        self.serving = list(NODES)
        self._end = threading.Event()
        self._numbers = itertools.count(1)
        self._users = [threading.Thread(target=self._work, args=(n,)) for n in range(USERS)]

    def start(self):
        for user in self._users:
            user.start()

    def stop(self):
        self._end.set()
        for user in self._users:
            user.join(60)
            assert not user.is_alive()

    def more(self, number=20):
        """Wait for so many further answers, so that what runs now was seen at work."""
        wanted = sum(self.answers.values()) + number
        until(lambda: sum(self.answers.values()) >= wanted, "users get answers")

    def _work(self, user):
        choose = random.Random(user)
        mine = []
        while not self._end.is_set():
            answer = self._ask("POST", "/shares", new_share(next(self._numbers)))
            if answer is not None and answer.ok:
                mine.append(answer.json()["share"]["id"])
            self._ask("GET", "/shares/detail?limit=20")
            if mine:
                self._use(choose.choice(mine), choose)
            if len(mine) > 10:
                self._delete(mine.pop(0))

    def _use(self, share_id, choose):
        shown = self._ask("GET", f"/shares/{share_id}")
        if shown is None or not shown.ok or shown.json()["share"]["status"] != Status.AVAILABLE:
            return
        number = next(self._numbers)
        to = {"access_type": "ip", "access_to": f"10.{number // 250}.{number % 250}.1"}
        bodies = [
            {"allow_access": to},
            {"extend": {"new_size": shown.json()["share"]["size"] + 1}},
        ]
        self._ask("POST", f"/shares/{share_id}/action", choose.choice(bodies))

    def _delete(self, share_id):
        """A share in the middle of something is refused, and stays."""
        self._ask("DELETE", f"/shares/{share_id}")

    def _ask(self, method, path, body=None):
        node = random.choice(self.serving)
        try:
            answer = self.cloud.ask(method, path, body, node=node, timeout=30)
        except requests.ConnectionError as error:
            # Its program has just ended, and the balancer has not noticed.
            self.answers[type(error).__name__] += 1
            return None
        self.answers[answer.status_code] += 1
        if answer.status_code >= 500:
            self.bad.append(f"{node}: {method} {path}: {answer.status_code} {answer.text}")
        return answer


def new_share(number):
    return {"share": {"name": f"share-{number}", "size": 1, "share_proto": "NFS"}}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """What a process of each release finds the program by."""
    name, path = previous.unpack(tmp_path_factory.mktemp("releases"))
    sys.stdout.write(f"the release before is {name}\n")
    found = {"old": {"PYTHONPATH": path}, "new": {"PYTHONPATH": str(ROOT)}}
    for release in found.values():
        told = subprocess.run(
            [sys.executable, "-c", "import fileshare; print(fileshare.__file__)"],
            env={**os.environ, **release},
            cwd="/",
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.startswith(release["PYTHONPATH"])
    return found


@pytest.fixture
def cloud(tmp_path, mariadb_url, rabbitmq_url):
    with deployment(tmp_path, mariadb_url, rabbitmq_url) as made:
        made.sessions = Sessions(create_engine(mariadb_url))
        for name in NODES:
            made.node(name, ("alpha",), backend_host="cluster", delay=0.05)
        made.load = None
        yield made
        if made.load is not None:
            made.load.stop()
        made.sessions.dispose()


def begin(cloud, release):
    for node in NODES:
        for program in PROGRAMS:
            cloud.start(program, node, **release)
    for node in NODES:
        until(lambda node=node: cloud.serves(node), "the APIs serve", 90)
    cloud.make_type(NODES[0])
    cloud.load = Load(cloud)
    cloud.load.start()
    cloud.load.more()
    return cloud.load


def replace_one_by_one(cloud, load, release):
    """Every program of the first node, then of the second; in between both releases work."""
    for node in NODES:
        for program in PROGRAMS:
            if program == "api":
                load.serving.remove(node)
            cloud.stop(program, node, seconds=60)
            cloud.start(program, node, **release)
            if program == "api":
                until(lambda node=node: cloud.serves(node), "the API serves", 90)
                load.serving.append(node)
            load.more()
        load.more(100)


def finish(cloud, load, record_property):
    load.more(50)
    load.stop()
    took = until(lambda: truth.is_idle(cloud.sessions), "all is settled", 60)
    figures = {"answers": dict(load.answers), "seconds to settle": round(took, 2)}
    sys.stdout.write(f"{figures}\n")
    for name, value in figures.items():
        record_property(name, str(value))
    assert load.bad == [], "answered with a 5xx"
    found = truth.read(cloud.sessions)
    truth.check(found, cloud.held("alpha"))
    assert cloud.overlaps("alpha") == []
    assert found.by_status() == {Status.AVAILABLE: len(found.shares)}
    assert found.told == set(), "a user was told of a failure"
    assert found.rules, "there was work of every kind"


def test_upgrade_under_load(cloud, releases, record_property):
    cloud.run("fileshare-manage", "db", "sync", node="one", **releases["old"])
    load = begin(cloud, releases["old"])
    cloud.run("fileshare-manage", "db", "sync", "--expand", node="one", **releases["new"])
    load.more(50)
    replace_one_by_one(cloud, load, releases["new"])
    cloud.run("fileshare-manage", "db", "online-data-migrations", node="one", **releases["new"])
    cloud.run("fileshare-manage", "db", "sync", "--contract", node="one", **releases["new"])
    assert migration.version(cloud.sessions.engine) == migration.heads()
    finish(cloud, load, record_property)


def test_downgrade_under_load_before_contract(cloud, releases, record_property):
    cloud.run("fileshare-manage", "db", "sync", node="one", **releases["old"])
    cloud.run("fileshare-manage", "db", "sync", "--expand", node="one", **releases["new"])
    load = begin(cloud, releases["new"])
    replace_one_by_one(cloud, load, releases["old"])
    finish(cloud, load, record_property)
