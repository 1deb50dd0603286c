"""The unmodified command line client, python-openstackclient with python-manilaclient."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration


@pytest.fixture(params=["standalone", "stack"])
def cloud(request):
    return request.getfixturevalue(request.param)


def _until(ready, seconds=60):
    end = time.monotonic() + seconds
    while not (found := ready()):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found


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

    _until(lambda: member.ask("share", "show", name)["status"] == "available")
    assert name in {share["Name"] for share in member.ask("share", "list")}

    (location,) = member.ask("share", "export", "location", "list", name)
    assert ":" in location["Path"]

    rule = member.ask("share", "access", "create", name, "ip", "203.0.113.7")
    assert (rule["access_to"], rule["access_level"]) == ("203.0.113.7", "rw")
    _until(
        lambda: [r["State"] for r in member.ask("share", "access", "list", name)] == ["active"],
    )
    member.do("share", "access", "delete", name, rule["id"])
    _until(lambda: member.ask("share", "access", "list", name) == [])

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
    _until(lambda: member.ask("share", "show", name)["status"] == "error")
    found = _until(lambda: member.ask("share", "message", "list", "--resource-id", made["id"]))
    assert {message["Resource ID"] for message in found} == {made["id"]}
    member.do("share", "delete", name, "--wait")
    admin.do("share", "type", "delete", name)


def test_quotas(stack):
    found = stack.admin.client.ask("share", "quota", "show", "demo")
    assert int(found["shares"]) > 0
