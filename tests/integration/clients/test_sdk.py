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


@pytest.fixture
def share(member):
    made = member.create_share(name=f"sdk-{uuid.uuid4().hex[:8]}", share_protocol="NFS", size=1)
    made = member.wait_for_status(made, status="available", interval=0.2, wait=60)
    yield made
    member.delete_share(made)
    member.wait_for_delete(made, interval=0.2, wait=60)


@pytest.fixture
def kind(admin):
    specs = {"driver_handles_share_servers": False, "snapshot_support": True}
    made = admin.create_share_type(name=f"sdk-{uuid.uuid4().hex[:8]}", extra_specs=specs)
    yield made
    admin.delete_share_type(made)


def test_share_types(admin, kind):
    assert kind.id in {found.id for found in admin.share_types()}
    assert admin.update_share_type(kind, description="for tests").description == "for tests"
    admin.update_share_type_extra_specs(kind, share_backend_name="SHELF")
    assert admin.get_share_type(kind.id).extra_specs["share_backend_name"] == "SHELF"
    admin.delete_share_type_extra_spec_property(kind, "share_backend_name")
    assert "share_backend_name" not in admin.get_share_type(kind.id).extra_specs


def test_metadata(member, share):
    member.create_share_metadata(share.id, a="1", b="2")
    assert member.get_share_metadata(share.id).metadata == {"a": "1", "b": "2"}
    assert member.get_share_metadata_item(share.id, "a").metadata == {"a": "1"}
    member.update_share_metadata(share.id, {"c": "3"}, replace=True)
    assert member.get_share_metadata(share.id).metadata == {"c": "3"}
    member.delete_share_metadata(share.id, ["c"])
    assert member.get_share_metadata(share.id).metadata == {}


def test_locks(member, share):
    lock = member.create_resource_lock(
        resource_id=share.id, resource_type="share", lock_reason="audit"
    )
    assert [found.id for found in member.resource_locks(resource_id=share.id)] == [lock.id]
    assert member.update_resource_lock(lock, lock_reason="later").lock_reason == "later"
    with pytest.raises(exceptions.ForbiddenException):
        member.delete_share(share)
    member.delete_resource_lock(lock)

    rule = member.create_access_rule(
        share.id,
        access_type="ip",
        access_to="203.0.113.7",
        access_level="rw",
        lock_deletion=True,
        lock_visibility=True,
    )
    with pytest.raises(exceptions.ForbiddenException):
        member.delete_access_rule(rule.id, share.id)
    member.delete_access_rule(rule.id, share.id, unrestrict=True)
    assert list(member.resource_locks(resource_id=share.id)) == []


def test_the_recycle_bin(member, share):
    member.soft_delete_share(share.id)
    assert share.id not in {found.id for found in member.shares()}
    assert member.get_share(share.id).status == "available"
    member.restore_share(share.id)
    assert share.id in {found.id for found in member.shares()}


def test_what_administrators_do(admin, member, share):
    (instance,) = [found for found in admin.share_instances() if found.share_id == share.id]
    assert admin.get_share_instance(instance.id).host.endswith("#pool")
    admin.reset_share_instance_status(instance, "error")
    assert member.get_share(share.id).status == "error"
    admin.reset_share_status(share.id, "available")
    assert member.get_share(share.id).status == "available"
    services = {(found.binary, found.host) for found in admin.services()}
    host = instance.host.partition("#")[0]
    assert ("manila-share", host) in services


def test_quotas(admin, member, share):
    project = share.project_id
    assert admin.update_quota_set(project, share_networks=7).share_networks == 7
    assert member.get_quota_set(project).share_networks == 7
    admin.revert_quota_set(project)
    defaults = admin.get_quota_class_set("default")
    assert member.get_quota_set(project).share_networks == defaults.share_networks
