"""One tenant's flood does not hold up another tenant, with messages and without."""

from __future__ import annotations

import concurrent.futures
import sys
import time

import pytest
import sqlalchemy as sa

from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import Status
from tests.chaos import truth
from tests.chaos.deployment import deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(300)]

FLOOD = 300
OTHER = "bob:22222222-2222-4222-8222-222222222222:member"


@pytest.mark.parametrize("nodes", [("one",), ("one", "two")], ids=["one node", "two nodes"])
@pytest.mark.parametrize("broker", [True, False], ids=["with messages", "by polling"])
def test_a_flood_of_creates(broker, nodes, tmp_path, mariadb_url, request, record_property):
    """Projects take turns in each daemon, so they do so among all of them."""
    url = request.getfixturevalue("rabbitmq_url") if broker else ""
    with deployment(tmp_path, mariadb_url, url) as cloud:
        cloud.sessions = Sessions(create_engine(mariadb_url))
        migration.upgrade(cloud.sessions.engine)
        for node in nodes:
            few = {"workers": 2 // len(nodes)}
            cloud.node(node, ("alpha",), backend_host="cluster", delay=0.2, intents=few)
        cloud.start("api", "one")
        until(lambda: cloud.serves("one"), "the API serves")
        cloud.make_type("one")
        # The flood is there before the daemons are: the one share is the last in every queue.
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            asked = list(pool.map(lambda n: cloud.create(f"flood-{n}", node="one"), range(FLOOD)))
        assert {answer.status_code for answer in asked} == {200}
        share_id = cloud.create("the one", node="one", as_=OTHER).json()["share"]["id"]
        began = time.monotonic()
        for node in nodes:
            cloud.start("scheduler", node)
            cloud.start("share", node)
        until(lambda: status(cloud, share_id) == Status.AVAILABLE, "it is there", 120)
        took, before = time.monotonic() - began, available(cloud) - 1
        until(lambda: truth.is_idle(cloud.sessions), "so is the flood", 200)
        whole = time.monotonic() - began
        truth.check(truth.read(cloud.sessions), cloud.held("alpha"))
        cloud.sessions.dispose()
    figures = {"before it": before, "seconds": round(took, 1), "the flood": round(whole, 1)}
    sys.stdout.write(f"{figures}\n")
    for name, value in figures.items():
        record_property(name, value)
    assert before < FLOOD / 3


def status(cloud, share_id):
    query = sa.select(models.Share.status).where(models.Share.id == share_id)
    return cloud.sessions.run(lambda session: session.scalars(query).one())


def available(cloud):
    query = sa.select(sa.func.count()).where(models.Share.status == Status.AVAILABLE)
    return cloud.sessions.run(lambda session: session.scalar(query))
