"""What the unmodified command line client does with shares beside their plain life."""

from __future__ import annotations

import uuid

import pytest
from waiting import until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def share(standalone):
    """The name of a share that is there, and its removal afterwards."""
    member, name = standalone.member.client, f"client-{uuid.uuid4().hex[:8]}"
    member.do("share", "create", "NFS", "1", "--name", name, "--property", "first=1", "--wait")
    yield name
    standalone.admin.client.run("share", "delete", name, "--force")


def _shown(client, name):
    return client.ask("share", "show", name)


def test_properties(standalone, share):
    member, admin = standalone.member.client, standalone.admin.client
    assert _shown(member, share)["properties"] == {"first": "1"}
    # The client's «set» asks to reset the task state too, whatever it is given: operators only.
    share_id = _shown(member, share)["id"]
    admin.do("share", "set", share_id, "--property", "second=two words", "--description", "mine")
    shown = _shown(member, share)
    assert shown["properties"] == {"first": "1", "second": "two words"}
    assert shown["description"] == "mine"
    member.do("share", "unset", share, "--property", "first")
    assert _shown(member, share)["properties"] == {"second": "two words"}
    assert share in {
        row["Name"] for row in member.ask("share", "list", "--property", "second=two words")
    }
    assert member.ask("share", "list", "--property", "second=other") == []
    assert share in {row["Name"] for row in member.ask("share", "list", "--name", share)}


def test_export_locations(standalone, share):
    member = standalone.member.client
    location = member.ask("share", "export", "location", "list", share)[0]
    shown = member.ask("share", "export", "location", "show", share, location["ID"])
    assert shown["path"] == location["Path"]


def test_instances(standalone, share):
    admin = standalone.admin.client
    share_id = _shown(standalone.member.client, share)["id"]
    (row,) = admin.ask("share", "instance", "list", "--share", share_id)
    assert (row["Share ID"], row["Status"]) == (share_id, "available")
    instance = row["ID"]
    assert instance in {item["ID"] for item in admin.ask("share", "instance", "list")}
    assert admin.ask("share", "instance", "show", instance)["share_id"] == share_id
    locations = admin.ask("share", "instance", "export", "location", "list", instance)
    assert locations
    path = ("share", "instance", "export", "location", "show", instance, locations[0]["ID"])
    assert admin.ask(*path)["share_instance_id"] == instance
    admin.do("share", "instance", "set", instance, "--status", "error")
    assert admin.ask("share", "instance", "show", instance)["status"] == "error"
    admin.do("share", "instance", "delete", instance, "--wait")
    assert standalone.member.client.run("share", "show", share).code == 1


def test_the_recycle_bin(standalone, share):
    member = standalone.member.client
    share_id = _shown(member, share)["id"]
    member.do("share", "delete", share, "--soft")
    assert share not in {row["Name"] for row in member.ask("share", "list")}
    assert share in {row["Name"] for row in member.ask("share", "list", "--soft-deleted")}
    member.do("share", "restore", share_id)
    assert share in {row["Name"] for row in member.ask("share", "list")}


def test_status_and_removal_by_operators(standalone, share):
    admin, member = standalone.admin.client, standalone.member.client
    share_id = _shown(member, share)["id"]
    admin.do("share", "set", share_id, "--status", "error_deleting")
    assert _shown(member, share)["status"] == "error_deleting"
    assert member.run("share", "delete", share).code == 1
    admin.do("share", "delete", share_id, "--force")
    until(lambda: member.run("share", "show", share_id).code != 0, "it is gone")


def test_sizes(standalone, share):
    member = standalone.member.client
    member.do("share", "resize", share, "3", "--wait")
    assert _shown(member, share)["size"] == 3
    member.do("share", "resize", share, "2", "--wait")
    assert _shown(member, share)["size"] == 2
