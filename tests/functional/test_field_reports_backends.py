"""What users and operators met with in the field: identities, back ends, what a type sets.

Each docstring begins with the number of the report.
"""

from __future__ import annotations

import json

import inprocess
import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER, STRANGER
from test_field_reports import a_type, create, report
from waiting import until

from fileshare.db import models, services
from fileshare.domain.hosts import parse
from fileshare.drivers.dummy.state import SHARES
from fileshare.share.service import ShareDaemon


def faults(api, name, *failures):
    """Let a back end fail as told; without failures, no more."""
    (api.state / name / "control.json").write_text(json.dumps({"fail": failures}))


def driver_of(api, share):
    return api.drivers[parse(api.show(share)["host"]).backend]


def record_of(api, share):
    instance = api.read_share(share).instance.id
    return driver_of(api, share).state.read(SHARES, instance)


def messages(api, share):
    return [(message.action_id, message.detail_id) for message in api.messages(share)]


# -- identities of clients ---------------------------------------------------------------------


def admit(api, identity, as_):
    share = create(api, as_=as_, share_proto="CEPHFS", version="2.99")["share"]["id"]
    api.drain()
    rule = {"access_type": "cephx", "access_to": identity, "access_level": "rw"}
    access = api.act(share, "allow_access", rule, as_=as_)["access"]["id"]
    api.drain()
    return share, api.get(f"/share-access-rules/{access}", as_=as_)["access"]


@pytest.fixture
def one_cephfs(cephfs):
    """A cloud in which one back end makes keys for clients."""
    closed = {"host": f"{HOST}@beta", "binary": "manila-share"}
    assert cephfs.put("/services/disable", closed, as_=ADMIN).status == 200
    return cephfs


def test_an_identity_belongs_to_the_project_that_used_it_first(one_cephfs):
    """C020: its key crosses to no other project, by whatever way."""
    share, mine = admit(one_cephfs, "alice", MEMBER)
    assert (mine["state"], mine["access_key"]) == ("active", "dummy-key-of-alice")
    for version, key in (("2.20", None), ("2.21", "dummy-key-of-alice")):
        (old,) = one_cephfs.act(share, "access_list", version=version)["access_list"]
        assert old.get("access_key") == key
    theirs, taken = admit(one_cephfs, "alice", STRANGER)
    assert (taken["state"], taken["access_key"]) == ("error", None)
    assert messages(one_cephfs, theirs) == [("010", "020")]
    assert "dummy-key-of-alice" not in str(one_cephfs.get("/messages", as_=STRANGER).body)
    assert len(record_of(one_cephfs, share)["rules"]) == 1
    assert record_of(one_cephfs, theirs)["rules"] == []
    again, also_mine = admit(one_cephfs, "alice", MEMBER)
    assert (also_mine["state"], messages(one_cephfs, again)) == ("active", [])


def test_the_identity_of_the_back_end_is_nobodys(one_cephfs):
    """C021"""
    share, rule = admit(one_cephfs, "dummy", MEMBER)
    assert (rule["state"], rule["access_key"]) == ("error", None)
    assert messages(one_cephfs, share) == [("010", "020")]
    assert record_of(one_cephfs, share)["rules"] == []


# -- what is gone from a back end --------------------------------------------------------------


def test_what_somebody_removed_by_hand_is_still_deleted(api):
    """C025, C054: its rules and the share itself, and the quota is given back once."""
    share = api.new_share()
    rule = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "rw"}
    access = api.act(share, "allow_access", rule)["access"]["id"]
    other = api.act(share, "allow_access", {**rule, "access_to": "10.0.0.2"})["access"]["id"]
    api.drain()
    driver_of(api, share).state.remove(SHARES, api.read_share(share).instance.id)
    assert api.act(share, "deny_access", {"access_id": access}).status == 202
    api.drain()
    assert api.get(f"/share-access-rules/{access}").status == 404
    # The other one lets nobody in any more, which is told once.
    assert api.get(f"/share-access-rules/{other}")["access"]["state"] == "error"
    assert len(messages(api, share)) == 1
    assert api.act(share, "deny_access", {"access_id": other}).status == 202
    api.drain()
    assert api.get(f"/share-access-rules/{other}").status == 404
    assert api.show(share)["access_rules_status"] == "active"
    assert len(messages(api, share)) == 1
    assert api.delete(f"/shares/{share}").status == 202
    api.drain()
    assert api.get(f"/shares/{share}").status == 404
    api.check()


# -- capacity and readiness --------------------------------------------------------------------


def test_what_is_reserved_is_kept_free(api):
    """C027: pools tell what the back end has, and the reserve is enforced with a message."""
    pools = api.get("/scheduler-stats/pools/detail", as_=ADMIN)["pools"]
    told = {pool["name"]: pool["capabilities"] for pool in pools}
    for name, driver in api.drivers.items():
        for pool in driver.pools():
            numbers = told[f"{HOST}@{name}#{pool.name}"]
            assert numbers["total_capacity_gb"] == pool.total
            assert numbers["free_capacity_gb"] == pool.free
    for name in api.drivers:
        report(api, name, total_gb=100.0, free_gb=20.0, reserved_percentage=25, thin=False)
    share = api.new_share()
    assert api.show(share)["status"] == "error"
    assert messages(api, share) == [("001", "009")]
    for name in api.drivers:
        report(api, name, total_gb=100.0, free_gb=30.0, reserved_percentage=25, thin=False)
    assert api.show(api.new_share())["status"] == "available"


def state_of(api, name):
    (row,) = api.get(f"/services?host={HOST}@{name}", as_=ADMIN)["services"]
    return row["state"]


@pytest.fixture
def daemons(api):
    """The real daemons of both back ends, none of which has begun; they look for work often."""
    for option, seconds in (("poll_interval", 0.1), ("lease", 30)):
        api.conf.set_override(option, seconds, "intents")
    for option, seconds in (
        ("report_interval", 1), ("periodic_interval", 1), ("service_down_time", 15),
    ):  # fmt: skip
        api.conf.set_override(option, seconds)
    api.write(sa.delete(models.Member))
    api.sessions.run(lambda session: services.mark_down(session, -1))
    made = {name: ShareDaemon(api.runtime, name, "test") for name in ("alpha", "beta")}
    for name in made:
        del api.consumers[f"share.{HOST}@{name}"]
    yield made
    for daemon in made.values():
        daemon.stop()


def placed(api):
    """The back end on which a new share becomes available."""
    share = api.new_share()
    until(lambda: api.show(share)["status"] == "available", "the share is there")
    return parse(api.show(share)["host"]).backend


def test_a_back_end_that_does_not_start_is_down_and_comes_by_itself(api, daemons):
    """C035, C070: its neighbour serves, the reason can be read, and nobody restarts anything."""
    faults(api, "beta", "setup")
    alpha, beta = daemons.values()
    for daemon in daemons.values():
        daemon.start()
    until(lambda: state_of(api, "alpha") == "up", "alpha works")
    until(lambda: "Told to fail at setup" in (beta.reason or ""), "beta says why")
    assert alpha.reason is None
    assert state_of(api, "beta") == "down"
    assert {placed(api) for _each in range(4)} == {"alpha"}
    assert state_of(api, "beta") == "down"
    faults(api, "beta")
    until(lambda: state_of(api, "beta") == "up", "beta works")
    assert beta.reason is None
    closed = {"host": f"{HOST}@alpha", "binary": "manila-share"}
    assert api.put("/services/disable", closed, as_=ADMIN).status == 200
    assert placed(api) == "beta"


def test_a_back_end_that_stops_working_is_down_until_it_works_again(api, daemons):
    """C035, C070: the same of one that had started, and its daemon stays."""
    for daemon in daemons.values():
        daemon.start()
    for name in daemons:
        until(lambda name=name: state_of(api, name) == "up", f"{name} works")
    faults(api, "beta", "check")
    until(lambda: "Told to fail at check" in (daemons["beta"].reason or ""), "beta says why")
    until(lambda: state_of(api, "beta") == "down", "beta is down")
    assert state_of(api, "alpha") == "up"
    assert {placed(api) for _each in range(4)} == {"alpha"}
    faults(api, "beta")
    until(lambda: state_of(api, "beta") == "up", "beta works again")
    assert daemons["beta"].reason is None


def test_a_back_end_belongs_to_no_node(api):
    """C173: a daemon that starts on another node serves the shares that are there."""
    share = api.new_share()
    host = api.show(share)["host"]
    name = parse(host).backend
    api.conf.set_override("backend_host", HOST, group=name)
    api.conf.set_override("host", "another-node")
    daemon = ShareDaemon(api.runtime, name, "another-process")
    daemon.driver.setup()
    assert daemon.host == f"{HOST}@{name}"
    api.consumers[f"share.{daemon.host}"] = daemon.daemon.consumer
    rule = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "rw"}
    access = api.act(share, "allow_access", rule)["access"]["id"]
    assert api.act(share, "extend", {"new_size": 3}).status == 202
    api.drain()
    shown = api.show(share)
    assert (shown["status"], shown["size"], shown["host"]) == ("available", 3, host)
    assert api.get(f"/share-access-rules/{access}")["access"]["state"] == "active"
    assert api.delete(f"/shares/{share}").status == 202
    api.drain()
    assert api.get(f"/shares/{share}").status == 404
    api.check()


# -- export locations --------------------------------------------------------------------------


def test_a_client_can_choose_its_path_without_probing(api):
    """C163: one path is preferred, IPv6 is in brackets, and metadata may name the network."""
    for name in api.drivers:
        addresses = ["10.254.0.10", "[fd00::10]"]
        api.conf.set_override("dummy_export_addresses", addresses, group=name)
    share = api.new_share()
    path = f"/shares/{share}/export_locations"
    exports = api.get(path)["export_locations"]
    assert [row["preferred"] for row in exports] == [True, False]
    assert exports[1]["path"].startswith("[fd00::10]:/")
    pair = {"metadata": {"network": "green"}}
    assert api.post(f"{path}/{exports[1]['id']}/metadata", pair).status == 200
    shown = api.get(f"{path}/{exports[1]['id']}")["export_location"]
    assert shown["metadata"]["network"] == "green"


# -- metadata ----------------------------------------------------------------------------------


def test_a_type_sets_metadata_that_its_back_ends_know(tmp_path):
    """C159: also where the caller sends none; what the caller sends wins."""
    options = {"driver_updatable_metadata": "dummy:tier,dummy:weight"}
    api = inprocess.Program(f"sqlite:///{tmp_path}/db.sqlite", tmp_path, **options)
    a_type(api, "tiered", **{"dummy:tier": "fast", "dummy:other": "x"})
    made = create(api, share_type="tiered")
    assert (made.status, made["share"]["metadata"]) == (200, {"dummy:tier": "fast"})
    given = {"dummy:tier": "slow", "k": "v"}
    assert create(api, share_type="tiered", metadata=given)["share"]["metadata"] == given
    assert create(api, share_type="tiered", metadata={})["share"]["metadata"] == {
        "dummy:tier": "fast"
    }
    api.drain()
    share = api.show(made["share"]["id"])
    assert (share["status"], share["metadata"]) == ("available", {"dummy:tier": "fast"})
    api.sessions.dispose()
