"""What the daemons do when they are told to stop, told to read their options, or badly set up."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest
import requests
import sqlalchemy as sa

from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import ServiceState, Status
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


DAEMONS = ("api", "scheduler", "share", "data")
CHANGED = "Option DEFAULT.debug changed from [False] to [True]"


@contextlib.contextmanager
def asking(cloud):
    """Somebody who asks all the time; what was not answered with 200."""
    failures, end = [], threading.Event()

    def ask():
        while not end.is_set():
            try:
                answer = cloud.ask("GET", "/shares")
                failures.extend([answer.text] * (answer.status_code != 200))
            except requests.RequestException as error:
                failures.append(error)

    user = threading.Thread(target=ask)
    user.start()
    try:
        yield failures
    finally:
        end.set()
        user.join()


def processes(cloud, programs):
    return {name: (cloud.running[f"{name}@node"].pid, cloud.children(name)) for name in programs}


def test_sighup_reads_mutable_options_again(cloud):
    """C181: by every daemon within 5 seconds, with the same processes, and no call is lost."""
    filters = "AvailabilityZoneFilter,CapacityFilter,CapabilitiesFilter"
    cloud.node(
        backends=("alpha",),
        debug=False,
        delay=0,
        driver={"filter_function": "'share.size < 5'"},
        scheduler_default_filters=filters,
    )
    begin(cloud, *DAEMONS)
    until(lambda: state_of(cloud, "share") == ServiceState.UP, "the service is up")
    large = made(cloud, 6)
    assert status(cloud, large) == Status.AVAILABLE
    before = processes(cloud, DAEMONS)
    assert all(children for _pid, children in before.values())
    path = cloud.nodes["node"].path
    text = path.read_text().replace("debug = False", "debug = True")
    path.write_text(text.replace(filters, f"{filters},DriverFilter"))
    with asking(cloud) as failures:
        for name in DAEMONS:
            cloud.signal(name, signal.SIGHUP)
        for name in DAEMONS:
            log = cloud.log(f"{name}@node")
            until(lambda log=log: is_changed(log), f"{name} has read it", 5)
        assert status(cloud, made(cloud, 4)) == Status.AVAILABLE
    assert failures == []
    assert status(cloud, made(cloud, 6)) == Status.ERROR
    # A filter that is none changes nothing, and what is no configuration does not either.
    for wrong, name, words in (
        (path.read_text().replace("DriverFilter", "NoSuchFilter"), "scheduler", "stay what they"),
        ("[DEFAULT\n", "share", "could not be read again"),
        ("[DEFAULT\n", "api", "could not be read again"),
    ):
        path.write_text(wrong)
        cloud.signal(name, signal.SIGHUP)
        log = cloud.log(f"{name}@node")
        until(lambda log=log, words=words: words in log.read_text(), words, 5)
    assert status(cloud, made(cloud, 4)) == Status.AVAILABLE
    assert processes(cloud, DAEMONS) == before


def is_changed(log):
    """Whether a daemon says that it has read the options, and logs more since."""
    _, changed, since = log.read_text().rpartition(CHANGED)
    return changed and " DEBUG " in since


def made(cloud, size):
    """A share that is no longer being made."""
    share_id = cloud.create(size=size).json()["share"]["id"]
    until(lambda: status(cloud, share_id) != Status.CREATING, "the share is made or not")
    return share_id


def test_sighup_is_understood_where_all_is_one_process(cloud):
    """C181"""
    cloud.node(backends=("alpha",), debug=False)
    cloud.start("standalone")
    until(cloud.serves, "the program serves")
    path = cloud.nodes["node"].path
    path.write_text(path.read_text().replace("debug = False", "debug = True"))
    with asking(cloud) as failures:
        cloud.signal("standalone", signal.SIGHUP)
        until(lambda: is_changed(cloud.log("standalone@node")), "it has read the options", 5)
    assert failures == []
    assert cloud.stop("standalone") < 20


@pytest.mark.parametrize("program", ["api", "scheduler", "share", "data"])
def test_options_that_cannot_work_are_refused(cloud, program):
    cloud.node(report_interval=10, service_down_time=10)
    cloud.start(program)
    process = cloud.running.pop(f"{program}@node")
    assert process.wait(60) == 1
    assert "must be more than report_interval" in cloud.log(f"{program}@node").read_text()
