"""The unmodified command line client, python-openstackclient with python-manilaclient."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from waiting import until

pytestmark = pytest.mark.integration


@pytest.fixture(params=["standalone", "stack"])
def cloud(request):
    return request.getfixturevalue(request.param)


def test_the_program_itself(cloud):
    program = shutil.which("openstack", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OS_")}
    done = subprocess.run(
        [program, "share", "type", "list", "--format=json"],
        env={**kept, **cloud.member.variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "default" in {kind["Name"] for kind in json.loads(done.stdout)}


def _name():
    return f"client-{uuid.uuid4().hex[:8]}"


def test_the_life_of_a_share(cloud):
    member, name = cloud.member.client, _name()

    made = member.ask("share", "create", "NFS", "1", "--name", name)
    assert (made["size"], made["share_proto"], made["name"]) == (1, "NFS", name)

    until(lambda: member.ask("share", "show", name)["status"] == "available", "the share")
    assert name in {share["Name"] for share in member.ask("share", "list")}

    (location,) = member.ask("share", "export", "location", "list", name)
    assert ":" in location["Path"]

    rule = member.ask("share", "access", "create", name, "ip", "203.0.113.7")
    assert (rule["access_to"], rule["access_level"]) == ("203.0.113.7", "rw")
    rules = ("share", "access", "list", name)
    until(lambda: [each["State"] for each in member.ask(*rules)] == ["active"], "the rule")
    member.do("share", "access", "delete", name, rule["id"])
    until(lambda: member.ask(*rules) == [], "no rule")

    member.do("share", "resize", name, "2", "--wait")
    assert member.ask("share", "show", name)["size"] == 2

    member.do("share", "delete", name, "--wait")
    assert name not in {share["Name"] for share in member.ask("share", "list")}


def test_an_unknown_share_is_said_to_be_unknown(cloud):
    done = cloud.member.client.run("share", "show", _name())
    assert done.code == 1
    assert "No share with a name or ID" in done.err


def test_share_types(cloud):
    admin, name = cloud.admin.client, _name()
    made = admin.ask("share", "type", "create", name, "false", "--snapshot-support", "true")
    assert made["name"] == name
    assert name in {kind["Name"] for kind in cloud.member.client.ask("share", "type", "list")}
    admin.do("share", "type", "delete", name)
    assert name not in {kind["Name"] for kind in admin.ask("share", "type", "list")}


def test_a_member_may_not_make_share_types(cloud):
    done = cloud.member.client.run("share", "type", "create", _name(), "false")
    assert done.code == 1
    assert "403" in done.err


def test_pools(cloud):
    names = {pool["Name"] for pool in cloud.admin.client.ask("share", "pool", "list")}
    assert {name.partition("@")[2].partition("#")[0] for name in names} >= {"alpha", "beta"}


def test_services(cloud):
    found = cloud.admin.client.ask("share", "service", "list")
    assert {service["Binary"] for service in found} >= {
        "manila-scheduler",
        "manila-share",
        "manila-data",
    }
    assert {service["State"] for service in found} == {"up"}


def test_availability_zones(cloud):
    found = cloud.member.client.ask("share", "availability", "zone", "list")
    assert {zone["Name"] for zone in found} >= {"manila-zone-0", "manila-zone-1"}


def test_messages(cloud):
    admin, member, name = cloud.admin.client, cloud.member.client, _name()
    admin.do(
        "share", "type", "create", name, "false", "--extra-specs", "share_backend_name=NOWHERE"
    )
    made = member.ask("share", "create", "NFS", "1", "--name", name, "--share-type", name)
    until(lambda: member.ask("share", "show", name)["status"] == "error", "an error")
    messages = ("share", "message", "list", "--resource-id", made["id"])
    until(lambda: member.ask(*messages), "a message")
    found = member.ask(*messages)
    assert {message["Resource ID"] for message in found} == {made["id"]}
    member.do("share", "delete", name, "--wait")
    admin.do("share", "type", "delete", name)


def test_quotas(stack):
    found = stack.admin.client.ask("share", "quota", "show", "demo")
    assert int(found["shares"]) > 0


@pytest.fixture
def share(cloud):
    member, name = cloud.member.client, _name()
    member.do("share", "create", "NFS", "1", "--name", name)
    until(lambda: member.ask("share", "show", name)["status"] == "available", "the share")
    yield name
    member.do("share", "delete", name)


def _refused(client, *words):
    done = client.run(*words)
    assert done.code == 1
    return done.err


def test_what_members_set(cloud, share):
    member = cloud.member.client
    # This client sets the phase of a migration with whatever else it sets, which only
    # administrators may: the command ends with a refusal after the property was set.
    assert "403" in _refused(member, "share", "set", share, "--property", "a=1")
    assert member.ask("share", "properties", "show", share) == {"a": "1"}

    (location,) = member.ask("share", "export", "location", "list", share)
    words = (share, location["ID"], "--property")
    member.do("share", "export", "location", "set", *words, "rack=4")
    shown = member.ask("share", "export", "location", "show", share, location["ID"])
    assert "rack" in str(shown["properties"])
    member.do("share", "export", "location", "unset", *words, "rack")


def test_rules_and_their_locks(cloud, share):
    member = cloud.member.client
    rule = member.ask("share", "access", "create", share, "ip", "203.0.113.7")
    member.do("share", "access", "set", rule["id"], "--access-level", "ro")
    member.do("share", "access", "set", rule["id"], "--property", "who=me")
    shown = member.ask("share", "access", "show", rule["id"])
    assert (shown["access_level"], "who" in str(shown["properties"])) == ("ro", True)
    member.do("share", "access", "unset", rule["id"], "--property", "who")

    member.do("share", "lock", "create", rule["id"], "access_rule", "--resource-action", "delete")
    assert "locked" in _refused(member, "share", "access", "delete", share, rule["id"])
    member.do("share", "access", "delete", share, rule["id"], "--unrestrict")
    assert member.ask("share", "lock", "list", "--resource", rule["id"]) == []

    lock = member.ask("share", "lock", "create", share, "share", "--lock-reason", "audit")
    assert "locked" in _refused(member, "share", "delete", share)
    member.do("share", "lock", "delete", lock["id"])


def test_changing_types(cloud):
    admin, name = cloud.admin.client, _name()
    project, path = str(uuid.uuid4()), ("share", "type")
    admin.do(*path, "create", name, "false", "--public", "false")
    assert name not in {row["Name"] for row in cloud.member.client.ask(*path, "list")}
    admin.do(*path, "access", "create", name, project)
    (access,) = admin.ask(*path, "access", "list", name)
    assert access["Project ID"].replace("-", "") == project.replace("-", "")
    admin.do(*path, "access", "delete", name, project)
    admin.do(*path, "set", name, "--description", "new", "--extra-specs", "rack=4")
    shown = admin.ask(*path, "show", name)
    assert (shown["description"], "rack" in str(shown["optional_extra_specs"])) == ("new", True)
    admin.do(*path, "unset", name, "rack")
    admin.do(*path, "delete", name)


def test_disabling_a_service(cloud):
    """One that serves no pool: the cloud is that of other tests, too, which look at its pools."""
    admin, binary = cloud.admin.client, "manila-data"
    rows = admin.ask("share", "service", "list")
    host = next(row["Host"] for row in rows if row["Binary"] == binary)

    def shown():
        words = ("--host", host, "--binary", binary)
        (service,) = admin.ask("share", "service", "list", *words)
        return service["Status"], service["Disabled Reason"]

    words = ("share", "service", "set", host, binary)
    try:
        admin.do(*words, "--disable", "--disable-reason", "x")
        assert shown() == ("disabled", "x")
    finally:
        admin.do(*words, "--enable")
    assert shown()[0] == "enabled"


def test_limits(cloud):
    rows = cloud.member.client.ask("share", "limits", "show", "--absolute")
    assert {row["Name"]: row["Value"] for row in rows}["maxTotalShares"] >= -1
