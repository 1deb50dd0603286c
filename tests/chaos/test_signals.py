"""What the daemons do when they are told to stop, told to read their options, or badly set up."""

from __future__ import annotations

import signal
import time

import pytest
import sqlalchemy as sa

from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import IntentState, ServiceState, Status
from fileshare.drivers.dummy.state import State
from tests.chaos import truth
from tests.chaos.deployment import deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

NOBODY = "rabbit://guest:guest@127.0.0.1:1/"


@pytest.fixture
def cloud(tmp_path):
    """No daemon yet; no broker either, so that work is found by polling."""
    with deployment(tmp_path, f"sqlite:///{tmp_path}/fileshare.db") as made:
        made.sessions = Sessions(create_engine(made.database))
        yield made
        made.sessions.dispose()


def begin(cloud, *programs):
    migration.upgrade(cloud.sessions.engine)
    for program in programs:
        cloud.start(program)
    until(cloud.serves, "the API serves")
    cloud.make_type()


def state_of(cloud, binary):
    query = sa.select(models.Service.state).where(models.Service.binary == binary)
    return cloud.sessions.run(lambda session: session.scalars(query).first())


def in_flight(cloud):
    return State(cloud.directory / "alpha").in_flight()


def new_share(cloud):
    answer = cloud.create()
    assert answer.status_code == 200, answer.text
    return answer.json()["share"]["id"]


def status(cloud, share_id):
    query = sa.select(models.Share.status).where(models.Share.id == share_id)
    return cloud.sessions.run(lambda session: session.scalars(query).one())


def test_sigterm_drains(cloud):
    """The service is down at once; what runs is finished, longer than a lease; no more begins."""
    cloud.node(backends=("alpha",), delay="create:4", intents={"lease": 2})
    begin(cloud, "api", "scheduler", "share")
    first = new_share(cloud)
    until(lambda: "create" in in_flight(cloud).values(), "the driver is at work")
    cloud.signal("share", signal.SIGTERM)
    until(lambda: state_of(cloud, "share") == ServiceState.DOWN, "the service is down", 3)
    assert status(cloud, first) == Status.CREATING
    second = new_share(cloud)
    cloud.stop("share")
    assert status(cloud, first) == Status.AVAILABLE
    assert status(cloud, second) == Status.CREATING
    assert in_flight(cloud) == {}
    cloud.start("share")
    until(lambda: truth.is_idle(cloud.sessions), "the next daemon does the rest")
    truth.check(truth.read(cloud.sessions), cloud.held("alpha"))
    claims = sa.select(models.Intent.attempts).where(models.Intent.share_id == first)
    assert cloud.sessions.run(lambda session: session.scalars(claims).all()) == [1]
    assert cloud.stop("scheduler") < 20
    assert state_of(cloud, "scheduler") == ServiceState.DOWN
    assert cloud.stop("share") < 20


def test_without_a_broker_nothing_waits(cloud):
    """Requests are answered at once, work is done, and daemons end when they are told to."""
    cloud.transport = NOBODY
    cloud.node(backends=("alpha",))
    begin(cloud, "api", "scheduler", "share")
    for _ in range(5):
        began = time.monotonic()
        new_share(cloud)
        assert time.monotonic() - began < 2
    until(lambda: truth.is_idle(cloud.sessions), "work is found by polling")
    truth.check(truth.read(cloud.sessions), cloud.held("alpha"))
    for program in ("share", "scheduler", "api"):
        assert cloud.stop(program) < 20, program
    assert cloud.left() == []


def test_a_daemon_waits_for_its_database(cloud):
    cloud.node(backends=("alpha",))
    cloud.start("share")
    cloud.start("scheduler")
    log = cloud.log("share@node")
    until(lambda: "heartbeat of node@alpha failed" in log.read_text(), "there is no database")
    begin(cloud, "api")
    share_id = new_share(cloud)
    until(lambda: status(cloud, share_id) == Status.AVAILABLE, "it serves afterwards")


def test_sighup_reads_mutable_options_again(cloud):
    """C181: by every daemon, with the same process."""
    cloud.node(backends=("alpha",), debug=False)
    begin(cloud, "api", "scheduler", "share")
    path, log = cloud.nodes["node"].path, cloud.log("share@node")
    until(lambda: state_of(cloud, "share") == ServiceState.UP, "the service is up")
    assert " DEBUG " not in log.read_text()
    path.write_text(path.read_text().replace("debug = False", "debug = True"))
    cloud.signal("share", signal.SIGHUP)
    until(lambda: " DEBUG " in log.read_text(), "the level has changed", 30)
    share_id = new_share(cloud)
    until(lambda: status(cloud, share_id) == Status.AVAILABLE, "it goes on serving")
    closed = sa.select(models.Intent.state)
    assert set(cloud.sessions.run(lambda session: session.scalars(closed).all())) == {
        IntentState.DONE
    }


@pytest.mark.parametrize("program", ["api", "scheduler", "share", "data"])
def test_options_that_cannot_work_are_refused(cloud, program):
    cloud.node(report_interval=10, service_down_time=10)
    cloud.start(program)
    process = cloud.running.pop(f"{program}@node")
    assert process.wait(60) == 1
    assert "must be more than report_interval" in cloud.log(f"{program}@node").read_text()
