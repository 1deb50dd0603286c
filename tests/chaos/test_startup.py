"""A share daemon that starts with ten thousand shares on its back end."""

from __future__ import annotations

import json
import sys

import pytest
import sqlalchemy as sa

from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import Status
from fileshare.drivers.dummy.state import SHARES, State
from tests.chaos import truth
from tests.chaos.deployment import deployment, until
from tests.fixtures import copies

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(300)]

NUMBER = 10_000
MORE = 5.0
"""Seconds that they may take more than a start without them."""


@pytest.fixture
def cloud(tmp_path, mariadb_url, rabbitmq_url):
    with deployment(tmp_path, mariadb_url, rabbitmq_url) as made:
        made.sessions = Sessions(create_engine(mariadb_url))
        migration.upgrade(made.sessions.engine)
        made.node(
            backends=("alpha",),
            delay=0,
            driver={"dummy_record_calls": True, "dummy_pools": "pool:100000"},
            quota={"shares": -1, "gigabytes": -1},
        )
        yield made
        made.sessions.dispose()


def fill(cloud, share_id):
    """As many shares as that one, in the database and on the back end."""
    query = sa.select(models.ShareInstance.id).where(models.ShareInstance.share_id == share_id)
    instance_id = cloud.sessions.run(lambda session: session.scalars(query).one())
    copies.multiply(cloud.sessions.engine, share_id, NUMBER)
    state = State(cloud.directory / "alpha")
    record = state.read(SHARES, instance_id)
    for number in range(1, NUMBER + 1):
        own = copies.id_of(instance_id, number)
        state.write(SHARES, own, {**record, "id": own})


def calls(cloud):
    """What was asked of the driver about shares: method and instance."""
    path = cloud.directory / "alpha" / "calls.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(call["operation"], call["id"]) for call in map(json.loads, lines)]


def finishes_new_work(cloud, share_id, address):
    """Start the daemon, for which a rule waits; the seconds until that is in force."""
    assert cloud.allow(share_id, address).status_code == 200
    assert not truth.is_idle(cloud.sessions)
    cloud.start("share")
    return until(lambda: truth.is_idle(cloud.sessions), "the rule is in force", pause=0.05)


def status(cloud, share_id):
    query = sa.select(models.Share.status).where(models.Share.id == share_id)
    return cloud.sessions.run(lambda session: session.scalars(query).one())


def service(cloud):
    query = sa.select(models.Service).where(models.Service.binary == "share")
    return cloud.sessions.run(lambda session: session.scalars(query).one())


def rounds(cloud):
    """How often the back end has reported."""
    return service(cloud).report_count


def test_it_serves_at_once_and_asks_nothing_of_shares_that_are_as_they_were(
    cloud, record_property
):
    for program in ("api", "scheduler", "share"):
        cloud.start(program)
    until(cloud.serves, "the API serves")
    cloud.make_type()
    first = cloud.create().json()["share"]["id"]
    until(lambda: status(cloud, first) == Status.AVAILABLE, "there is a share")
    until(
        lambda: service(cloud).info_hash and truth.is_idle(cloud.sessions), "the back end is known"
    )
    cloud.stop("share")
    without = finishes_new_work(cloud, first, "10.0.0.1")
    cloud.stop("share")

    fill(cloud, first)
    before = calls(cloud)
    took = finishes_new_work(cloud, first, "10.0.0.2")
    then = rounds(cloud)
    # A few heartbeats, reports and looks at the back end later still nothing was asked.
    until(lambda: rounds(cloud) > then + 6, "it goes on")
    assert truth.is_idle(cloud.sessions)
    (only,) = {id for _, id in before}
    assert calls(cloud)[len(before) :] == [("apply_access", only)]
    assert len(cloud.held("alpha")) == NUMBER + 1
    figures = {"without": round(without, 2), f"with {NUMBER}": round(took, 2)}
    sys.stdout.write(f"seconds from start to the first rule: {figures}\n")
    for name, value in figures.items():
        record_property(name, value)
    assert took - without < MORE
