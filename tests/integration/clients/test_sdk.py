"""The unmodified openstacksdk."""

from __future__ import annotations

import uuid

import pytest
from openstack import exceptions

pytestmark = pytest.mark.integration


@pytest.fixture(params=["standalone", "stack"])
def cloud(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def member(cloud):
    with cloud.member.connect() as connection:
        yield connection.shared_file_system


@pytest.fixture
def admin(cloud):
    with cloud.admin.connect() as connection:
        yield connection.shared_file_system


def test_the_life_of_a_share(member):
    share = member.create_share(
        name=f"sdk-{uuid.uuid4().hex[:8]}",
        share_protocol="NFS",
        size=1,
        is_public=False,
    )
    share = member.wait_for_status(share, status="available", interval=0.2, wait=60)
    assert member.get_share(share.id).size == 1
    assert share.id in {found.id for found in member.shares()}

    (location,) = member.export_locations(share)
    assert ":" in location.path

    rule = member.create_access_rule(
        share.id,
        access_type="ip",
        access_to="203.0.113.7",
        access_level="ro",
    )
    rule = member.wait_for_status(
        rule,
        status="active",
        attribute="state",
        failures=["error"],
        interval=0.2,
        wait=60,
    )
    assert [found.access_to for found in member.access_rules(share)] == ["203.0.113.7"]
    member.delete_access_rule(rule.id, share.id)

    member.resize_share(share.id, 2)
    share = member.wait_for_status(
        member.get_share(share.id),
        status="available",
        interval=0.2,
        wait=60,
    )
    assert share.size == 2

    member.update_share(share.id, display_name="renamed")
    assert member.get_share(share.id).name == "renamed"

    member.delete_share(share)
    member.wait_for_delete(share, interval=0.2, wait=60)
    with pytest.raises(exceptions.NotFoundException):
        member.get_share(share.id)


def test_availability_zones(member):
    names = {zone.name for zone in member.availability_zones()}
    assert names >= {"manila-zone-0", "manila-zone-1"}


def test_pools(admin):
    assert {pool.backend for pool in admin.storage_pools()} >= {"alpha", "beta"}


def test_messages(admin, member):
    name = f"sdk-{uuid.uuid4().hex[:8]}"
    kind = admin.create_share_type(
        name=name,
        extra_specs={"driver_handles_share_servers": False, "share_backend_name": "NOWHERE"},
    )
    share = member.create_share(name=name, share_protocol="NFS", size=1, share_type=name)
    with pytest.raises(exceptions.ResourceFailure):
        member.wait_for_status(
            share, status="available", failures=["error"], interval=0.2, wait=60
        )
    found = list(member.user_messages(resource_id=share.id))
    assert {message.resource_id for message in found} == {share.id}
    member.delete_share(share)
    member.wait_for_delete(share, interval=0.2, wait=60)
    admin.delete_share_type(kind)
