"""Daemons that share a back end, or take it over on another machine."""

from __future__ import annotations

import os
import subprocess

import pytest
import sqlalchemy as sa

from devstack.servers import HOST
from fileshare.db import clock, migration, models
from fileshare.db.session import Sessions, create_engine
from fileshare.drivers.dummy.state import State
from tests.chaos import truth
from tests.chaos.deployment import PROGRAMS, deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

MACHINE = """
import os, socket
socket.gethostname = lambda: os.environ["MACHINE"]
"""
"""What Python runs before a program, so that it believes to be on another machine."""


@pytest.fixture
def cloud(tmp_path):
    """No daemon yet, and no broker."""
    with deployment(tmp_path, f"sqlite:///{tmp_path}/fileshare.db") as made:
        made.sessions = Sessions(create_engine(made.database))
        migration.upgrade(made.sessions.engine)
        (tmp_path / "sitecustomize.py").write_text(MACHINE)
        yield made
        made.sessions.dispose()


def machine(cloud, name):
    """The environment of a process on the machine *name*."""
    path = os.pathsep.join([str(cloud.directory), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, "MACHINE": name}


def start(cloud, program, node):
    cloud.start(program, node, **machine(cloud, node))


def begin(cloud, node):
    for program in ("api", "scheduler"):
        start(cloud, program, node)
    until(lambda: cloud.serves(node), "the API serves")
    cloud.make_type(node)


def nodes(cloud):
    """The nodes whose share daemons are members of a service."""
    query = (
        sa.select(models.Member.node)
        .join(models.Service, models.Service.id == models.Member.service_id)
        .where(models.Service.binary == "share")
    )
    return cloud.sessions.run(lambda session: sorted(session.scalars(query)))


def check_status(cloud, node):
    done = subprocess.run(
        [
            PROGRAMS / "fileshare-status",
            "upgrade",
            "check",
            "--config-file",
            cloud.nodes[node].path,
        ],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.returncode, done.stdout


def test_two_machines_with_locks_of_their_own_do_not_serve_one_back_end(cloud):
    """The second one says why and waits; it serves when the first one has gone."""
    for name in ("one", "two"):
        cloud.node(name, ("alpha",), backend_host="cluster", delay=0)
    begin(cloud, "one")
    start(cloud, "share", "one")
    until(lambda: nodes(cloud) == ["one"], "the first one serves")
    assert check_status(cloud, "one")[0] == 0
    start(cloud, "share", "two")
    log = cloud.log("share@two")
    until(lambda: "[coordination] backend_url" in log.read_text(), "the second one says why")
    assert nodes(cloud) == ["one"]
    cloud.create(node="one")
    until(lambda: truth.is_idle(cloud.sessions), "the first one works")
    assert owners(cloud) == {"one"}
    cloud.kill("share", "one")
    until(lambda: nodes(cloud) == ["two"], "the second one serves")
    cloud.create(node="one")
    until(lambda: truth.is_idle(cloud.sessions), "the second one works")
    truth.check(truth.read(cloud.sessions), cloud.held("alpha"))


@pytest.fixture
def locks(request):
    """The URL of locks between machines, on a real service."""
    server = request.getfixturevalue(request.param)
    if request.param == "mariadb":
        return f"mysql://fileshare:fileshare@{HOST}:{server.port}/mysql"
    return f"{server.url()}?timeout=5"


@pytest.mark.integration
@pytest.mark.parametrize("locks", ["etcd", "redis", "mariadb"], indirect=True)
def test_machines_with_common_locks_serve_one_back_end(cloud, locks, record_property):
    """What a killed one had in hand the other one takes over; no two calls at once on a share."""
    for name in ("one", "two"):
        cloud.node(name, ("alpha",), backend_host="cluster", delay=0.3, locks=locks)
    begin(cloud, "one")
    for name in ("one", "two"):
        start(cloud, "share", name)
    until(lambda: nodes(cloud) == ["one", "two"], "both serve")
    ids = [cloud.create(node="one").json()["share"]["id"] for _ in range(12)]
    for number, share_id in enumerate(ids):
        cloud.allow(share_id, f"10.0.{number}.1", node="one")
    until(lambda: State(cloud.directory / "alpha").in_flight(), "they are at work")
    cloud.kill("share", "one")
    took = until(lambda: truth.is_idle(cloud.sessions), "the other one does it all")
    truth.check(truth.read(cloud.sessions), cloud.held("alpha"))
    assert cloud.overlaps("alpha") == []
    assert owners(cloud) >= {"two"}
    assert check_status(cloud, "two")[0] == 0
    record_property("seconds to settle", round(took, 2))


def owners(cloud):
    """The machines whose daemons finished the work of the back end."""
    query = sa.select(models.Intent.owner).where(models.Intent.destination.contains("cluster"))
    found = cloud.sessions.run(lambda session: session.scalars(query).all())
    return {owner.partition(":")[0] for owner in found if owner}


def test_the_status_check_tells_of_daemons_of_the_release_before(cloud):
    """They do not say where their locks are, and refuse nothing."""
    # The other one, which does not run, is alive until then.
    cloud.node("one", ("alpha",), backend_host="cluster", delay=0, service_down_time=120)
    begin(cloud, "one")
    start(cloud, "share", "one")
    until(lambda: nodes(cloud) == ["one"], "the first one serves")
    service = sa.select(models.Service.id).where(models.Service.binary == "share")
    cloud.sessions.run(
        lambda session: session.execute(
            sa.insert(models.Member).values(
                id="old",
                service_id=session.scalars(service).one(),
                node="two",
                process="two:1:abc",
                heartbeat_at=clock.now(),
            )
        )
    )
    code, text = check_status(cloud, "one")
    assert code == 2
    assert "Locks: failure" in text
    assert "cluster@alpha on one, two" in text


@pytest.mark.parametrize("end", ["stop", "kill"])
@pytest.mark.parametrize("identity", [{"backend_host": "cluster"}, {"host": "old"}])
def test_a_daemon_moves_to_another_machine(cloud, end, identity):
    """The back end keeps its name, so the new one does what was in flight and knows all shares."""
    intents = {"lease": 2}
    cloud.node("old", ("alpha",), delay="create:3", intents=intents, **identity)
    cloud.node("new", ("alpha",), delay=0, intents=intents, **{"host": "new", **identity})
    begin(cloud, "new")
    start(cloud, "share", "old")
    first = cloud.create("first", node="new").json()["share"]["id"]
    until(lambda: truth.is_idle(cloud.sessions), "the old one works")
    cloud.create("second", node="new")
    until(lambda: "create" in State(cloud.directory / "alpha").in_flight().values(), "it is made")
    getattr(cloud, end)("share", "old")
    start(cloud, "share", "new")
    until(lambda: truth.is_idle(cloud.sessions), "the new one goes on")
    found = truth.read(cloud.sessions)
    truth.check(found, cloud.held("alpha"))
    assert len(found.shares) == 2
    assert cloud.allow(first, "10.0.0.1", node="new").status_code == 200
    assert cloud.ask("DELETE", f"/shares/{first}", node="new").status_code == 202
    until(lambda: truth.is_idle(cloud.sessions), "what the old one made is removed")
    assert len(cloud.held("alpha")) == 1
    query = sa.select(models.Service.host).where(models.Service.binary == "share")
    services = cloud.sessions.run(lambda session: session.scalars(query).all())
    assert len(services) == 1, "one service, wherever its daemons live"
