"""Nothing that a program is told in confidence is in what it writes, however much that is."""

from __future__ import annotations

import pytest
import requests
import sqlalchemy as sa

from devstack.servers import HOST
from fileshare.db import migration, models
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import RuleState, Status
from tests.chaos.deployment import ADMIN, MEMBER, deployment, until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]

WORDS = {name: f"the-{name}-word-94c1" for name in ("broker", "database", "locks")}
BROKER = f"rabbit://fileshare:{WORDS['broker']}@{HOST}:1/"
PROGRAMS = ("api", "scheduler", "share", "data")


def logs(cloud):
    return {path.name: path.read_text() for path in cloud.directory.glob("*.log")}


def search(cloud, *secrets):
    """The log of each program is there, and has none of these texts."""
    found = logs(cloud)
    for name, text in found.items():
        assert " DEBUG " in text, name
        for secret in secrets:
            assert secret not in text, (name, secret)
    return found


@pytest.fixture
def cloud(tmp_path):
    with deployment(tmp_path, f"sqlite:///{tmp_path}/fileshare.db", BROKER) as made:
        made.sessions = Sessions(create_engine(made.database))
        yield made
        made.sessions.dispose()


def column(cloud, model, name, **where):
    clauses = [getattr(model, key) == value for key, value in where.items()]
    query = sa.select(getattr(model, name)).where(*clauses)
    return cloud.sessions.run(lambda session: session.scalars(query).first())


def begin(cloud):
    """Every program, and a share type; the back end makes keys, and cannot extend."""
    migration.upgrade(cloud.sessions.engine)
    cloud.node(
        backends=("alpha",),
        debug=True,
        enabled_share_protocols="NFS,CEPHFS",
        delay=0,
        driver={"dummy_storage_protocols": "NFS,CEPHFS", "dummy_driver_fail": "extend"},
    )
    for program in PROGRAMS:
        cloud.start(program)
    until(cloud.serves, "the API serves")
    cloud.make_type()


def new_share(cloud):
    answer = cloud.create("one", share_proto="CEPHFS")
    assert answer.status_code == 200, answer.text
    share = answer.json()["share"]["id"]
    until(lambda: status(cloud, share) == Status.AVAILABLE, "the share is made")
    return share


def status(cloud, share):
    return column(cloud, models.Share, "status", id=share)


def key_for_bob(cloud, share):
    """The key of a client, as its owner is shown it."""
    rule = {"allow_access": {"access_type": "cephx", "access_to": "bob", "access_level": "rw"}}
    access = cloud.ask("POST", f"/shares/{share}/action", rule).json()["access"]["id"]
    state = RuleState.ACTIVE
    until(
        lambda: column(cloud, models.AccessMapping, "state", access_id=access) == state,
        "the rule is applied",
    )
    (shown,) = cloud.ask("GET", f"/share-access-rules?share_id={share}").json()["access_list"]
    return shown["access_key"]


def test_a_whole_life_at_debug_tells_no_secret(cloud):
    """C103: tokens, keys of clients and the broker's password, in work that succeeds and fails."""
    begin(cloud)
    share = new_share(cloud)
    key = key_for_bob(cloud, share)
    cloud.ask("POST", f"/shares/{share}/action", {"extend": {"new_size": 2}})
    until(lambda: status(cloud, share) == Status.EXTENDING_ERROR, "what is told to fail fails")
    health = f"http://{HOST}:{cloud.nodes['node'].port}/healthcheck"
    bodies = [
        cloud.ask("GET", f"/messages?resource_id={share}").text,
        cloud.ask("GET", "/services", as_=ADMIN).text,
        requests.get(health, timeout=5).text,
    ]
    cloud.ask("DELETE", f"/shares/{share}")
    until(
        lambda: "broker cannot be reached" in "".join(logs(cloud).values()), "the broker is away"
    )
    for program in PROGRAMS:
        cloud.stop(program)
    secrets = (WORDS["broker"], key, MEMBER, ADMIN)
    found = search(cloud, *secrets)
    assert len(found) == len(PROGRAMS)
    assert "Told to fail" in found["share@node.log"]
    for secret in secrets:
        assert secret
        assert secret not in "".join(bodies)


def test_servers_that_cannot_be_reached_are_named_without_passwords(cloud):
    """C103: in what is logged of them, traces of calls and all."""
    cloud.database = f"mysql+pymysql://fileshare:{WORDS['database']}@{HOST}:1/fileshare"
    cloud.node(
        backends=("alpha",),
        debug=True,
        locks=f"redis://:{WORDS['locks']}@{HOST}:1/0",
        log_options=True,
    )
    for program in ("share", "scheduler"):
        cloud.start(program)
    for program in ("share", "scheduler"):
        log = cloud.log(f"{program}@node")
        until(lambda log=log: "heartbeat of" in log.read_text(), "the database is away")
    answer = cloud.run("fileshare-manage", "service", "list", codes=(1,))
    for program in ("share", "scheduler"):
        cloud.kill(program)
    search(cloud, *WORDS.values())
    assert WORDS["database"] not in answer
