"""Services over HTTP."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, READER
from refusals import refused

from fileshare.db import services
from fileshare.db.clock import after
from fileshare.db.models import Member, Service
from fileshare.share.service import ShareDaemon
from tests.fixtures.queries import assert_queries

KEYS = {"id", "binary", "host", "zone", "status", "state", "updated_at"}


@pytest.fixture
def hosts(api):
    """The hosts of the services that a query finds."""

    def find(query="", **kw):
        answer = api.get(f"/services?{query}", **{"as_": ADMIN, **kw})
        assert answer.status == 200, answer.body
        return [row["host"] for row in answer["services"]]

    return find


def test_list(api):
    for version, path, keys in (
        ("2.6", "/os-services", KEYS),
        ("2.7", "/services", KEYS),
        ("2.83", "/services", KEYS | {"disabled_reason"}),
        ("2.86", "/services", KEYS | {"disabled_reason", "ensuring"}),
    ):
        answer = api.get(path, as_=ADMIN, version=version)
        assert answer.status == 200
        assert list(answer.body) == ["services"]
        assert [set(row) for row in answer["services"]] == [keys, keys]
    alpha = answer["services"][0]
    assert alpha["updated_at"] is not None
    assert alpha | {"updated_at": None} == {
        "id": 1,
        "binary": "manila-share",
        "host": "node@alpha",
        "zone": "manila-zone-0",
        "status": "enabled",
        "state": "up",
        "updated_at": None,
        "disabled_reason": None,
        "ensuring": False,
    }


def test_paths_and_callers(api):
    assert api.get("/services", as_=ADMIN, version="2.6").status == 404
    assert api.get("/os-services", as_=ADMIN, version="2.7").status == 404
    for who in (MEMBER, READER):
        assert api.get("/services", as_=who).status == 403
        change = {"host": "node@alpha", "binary": "manila-share"}
        assert api.put("/services/disable", change, as_=who).status == 403


def test_filters(api, hosts):
    zone = api.get("/availability-zones")["availability_zones"][1]
    assert hosts("host=node@alpha") == ["node@alpha"]
    assert hosts("host=node") == []
    assert hosts("binary=manila-share") == ["node@alpha", "node@beta"]
    assert hosts("binary=share") == []
    assert hosts("binary=manila-scheduler") == []
    assert hosts("topic=manila-share&host=node@beta") == ["node@beta"]
    assert hosts("topic=nothing") == []
    assert hosts("zone=manila-zone-1") == ["node@beta"]
    assert hosts(f"zone={zone['id']}") == ["node@beta"]
    assert hosts("zone=nowhere") == []
    assert hosts("status=enabled") == ["node@alpha", "node@beta"]
    assert hosts("status=disabled") == []
    assert hosts("status=what") == []
    assert hosts("state=up") == ["node@alpha", "node@beta"]
    assert hosts("state=down") == []
    assert hosts("state=what") == []
    assert hosts("ensuring=false") == ["node@alpha", "node@beta"]
    assert hosts("ensuring=1") == []
    assert hosts("ensuring=what") == []
    assert hosts("ensuring=what", version="2.92") == ["node@alpha", "node@beta"]
    assert hosts("unknown=1&limit=1&offset=7") == ["node@alpha", "node@beta"]


def test_a_service_without_a_heartbeat_is_down(api, hosts):
    """Whatever its row says: a daemon that was killed cannot write that it is down."""
    late = -api.conf.service_down_time - 1

    def age(seconds):
        api.write(
            sa.update(Service)
            .where(Service.host == "node@alpha")
            .values(heartbeat_at=None if seconds is None else after(seconds))
        )

    for seconds in (late, None):
        age(seconds)
        assert hosts("state=down") == ["node@alpha"]
        assert hosts("state=up") == ["node@beta"]
        states = [row["state"] for row in api.get("/services", as_=ADMIN)["services"]]
        assert states == ["down", "up"]
    age(0)
    assert hosts("state=up") == ["node@alpha", "node@beta"]


def test_a_service_is_down_when_its_last_member_left(api, hosts):
    def members(host):
        return api.scalars(sa.select(Member.id).join(Service).where(Service.host == host))

    (first,) = members("node@alpha")
    identity = services.Identity("share", "node@alpha", "share", "manila-zone-0", "node2", "p2")
    second = api.sessions.run(lambda session: services.join(session, identity, 60))
    api.sessions.run(lambda session: services.leave(session, first))
    assert hosts("state=up") == ["node@alpha", "node@beta"]
    api.sessions.run(lambda session: services.leave(session, second))
    assert hosts("state=down") == ["node@alpha"]


def change(api, what, version="2.99", **body):
    given = {"host": "node@alpha", "binary": "manila-share", **body}
    path = "/services" if float(version) > 2.6 else "/os-services"
    return api.put(f"{path}/{what}", given, as_=ADMIN, version=version)


def test_disable_and_enable(api, hosts):
    answer = change(api, "disable", disabled_reason="  broken disk ")
    assert answer.status == 200
    assert answer.body == {
        "host": "node@alpha",
        "binary": "manila-share",
        "status": "disabled",
        "disabled_reason": "broken disk",
        "ensuring": False,
    }
    assert hosts("status=disabled") == ["node@alpha"]
    assert hosts("status=enabled") == ["node@beta"]
    row = api.get("/services?host=node@alpha", as_=ADMIN)["services"][0]
    assert (row["status"], row["state"]) == ("disabled", "up")
    assert row["disabled_reason"] == "broken disk"
    answer = change(api, "enable", disabled_reason="of no use")
    assert (answer["status"], answer["disabled_reason"]) == ("enabled", None)
    assert hosts("status=enabled") == ["node@alpha", "node@beta"]


def test_answer_of_old_versions(api):
    for version in ("2.0", "2.6", "2.7", "2.82"):
        answer = change(api, "disable", version)
        assert answer.body == {
            "host": "node@alpha", "binary": "manila-share", "status": "disabled",
        }  # fmt: skip
    assert set(change(api, "disable", "2.83").body) == {*answer.body, "disabled_reason"}


def test_nothing_is_placed_on_a_disabled_back_end(api):
    change(api, "disable")
    for _ in range(3):
        share_id = api.new_share()
        assert api.read_share(share_id).share.host.startswith("node@beta#")
    change(api, "disable", host="node@beta")
    waiting = api.new_share()  # for a back end
    assert api.read_share(waiting).share.host is None
    change(api, "enable")
    api.make_due()
    api.poll()
    assert api.read_share(waiting).share.host.startswith("node@alpha#")


def joined(api, options, backend="alpha", process="p9"):
    """What the list says of a back end whose daemon has joined, with these options."""
    for name, value in options.items():
        api.conf.set_override(name, value)
    daemon = ShareDaemon(api.runtime, backend, process)
    daemon.daemon.identity = dataclasses.replace(daemon.daemon.identity, host=f"{backend}-node")
    identity = daemon.daemon.identity
    api.sessions.run(lambda session: services.join(session, identity, 60))
    (row,) = api.get(f"/services?host={identity.host}", as_=ADMIN)["services"]
    return row["status"], row["disabled_reason"]


def test_new_back_ends_may_have_to_wait_for_an_administrator(api):
    assert joined(api, {}) == ("enabled", None)
    off = {"enable_new_services": False}
    new = ("disabled", "new; enable_new_services is off")
    assert joined(api, off, "beta") == new
    change(api, "enable", host="beta-node")
    # Nobody's decision is undone by another start.
    assert joined(api, off, "beta", "p10") == ("enabled", None)
    assert joined(api, off, "alpha", "p11") == ("enabled", None)


def test_a_disabled_back_end_serves_what_it_holds(api):
    share_id = api.new_share()
    host = api.read_share(share_id).share.host.partition("#")[0]
    change(api, "disable", host=host)
    assert api.delete(f"/shares/{share_id}").status == 202
    api.drain()
    assert api.get(f"/shares/{share_id}").status == 404


@pytest.mark.parametrize(
    ("what", "body", "version", "status"),
    [
        ("enable", {"host": None}, "2.99", 400),
        ("enable", {"binary": 3}, "2.99", 400),
        ("disable", {"disabled_reason": "x"}, "2.82", 400),
        ("disable", {"disabled_reason": ""}, "2.83", 400),
        ("disable", {"disabled_reason": "  "}, "2.83", 400),
        ("disable", {"disabled_reason": "x" * 256}, "2.83", 400),
        ("disable", {"disabled_reason": "x" * 255 + " "}, "2.83", 200),
        ("stop", {}, "2.99", 404),
        ("disable", {"host": "nobody"}, "2.99", 404),
        ("disable", {"binary": "share"}, "2.99", 404),
        ("disable", {"binary": "manila-data"}, "2.99", 404),
        ("disable", {"unknown": 1}, "2.99", 200),
    ],
)
def test_refusals(api, what, body, version, status):
    assert change(api, what, version, **body).status == status


@pytest.mark.parametrize("missing", ["host", "binary"])
def test_missing_fields(api, missing):
    body = {"host": "node@alpha", "binary": "manila-share"}
    del body[missing]
    assert api.put("/services/disable", body, as_=ADMIN).status == 400


def test_a_service_is_told_by_the_name_that_was_asked_for(api):
    body = {"host": "nowhere", "binary": "manila-share"}
    answer = api.put("/services/disable", body, as_=ADMIN)
    assert "manila-share on nowhere" in refused(answer, 404)
    answer = api.post("/services/ensure-shares", {"host": "nowhere"}, as_=ADMIN)
    assert refused(answer, 404) == "NotFound: Back end nowhere could not be found."


def test_the_prefix_is_an_option(api, hosts):
    api.conf.set_override("service_binary_prefix", "fileshare", "api")
    rows = api.get("/services", as_=ADMIN)["services"]
    assert {row["binary"] for row in rows} == {"fileshare-share"}
    assert hosts("binary=manila-share") == []
    assert hosts("binary=fileshare-share") == ["node@alpha", "node@beta"]
    assert change(api, "disable", binary="fileshare-share").status == 200


def test_statements(api):
    with assert_queries(api.sessions.engine, 1):
        api.get("/services?state=up&zone=manila-zone-0", as_=ADMIN)


@pytest.mark.parametrize("what", [RuntimeError, SystemExit])
def test_a_driver_that_cannot_be_closed_lets_its_daemon_end(api, caplog, what):
    """The locks of the process are given back and its last notices sent after that."""

    def fail():
        raise what("its session is gone")

    daemon = ShareDaemon(api.runtime, "alpha", "test")
    daemon.driver.close = fail
    daemon.stop()
    assert "its session is gone" in caplog.text
