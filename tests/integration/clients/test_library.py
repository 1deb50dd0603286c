"""The unmodified library python-manilaclient, at the microversions where its calls change."""

from __future__ import annotations

import uuid

import pytest
from keystoneauth1 import session, token_endpoint
from manilaclient import client
from waiting import until

pytestmark = pytest.mark.integration

VERSIONS = ("2.0", "2.6", "2.7", "2.9", "2.28", "2.44", "2.45", "2.69", "2.95")


def connected(person, version):
    """A client of this version for somebody at the stand-alone."""
    auth = token_endpoint.Token(person.variables["OS_ENDPOINT"], person.variables["OS_TOKEN"])
    return client.Client(version, session=session.Session(auth=auth))


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


@pytest.fixture
def member(standalone, version):
    return connected(standalone.member, version)


@pytest.fixture
def admin(standalone, version):
    return connected(standalone.admin, version)


def minor(version):
    return int(version.partition(".")[2])


@pytest.fixture
def share(member, admin):
    name = f"library-{uuid.uuid4().hex[:8]}"
    made = member.shares.create("NFS", 1, name=name, metadata={"a": "1"})
    until(lambda: member.shares.get(made).status == "available", "the share")
    yield made
    admin.shares.force_delete(made)


def test_a_share(member, share, version):
    assert share.id in {found.id for found in member.shares.list()}
    assert share.id in {found.id for found in member.shares.list(detailed=False)}
    member.shares.update(share, display_name="renamed")
    assert member.shares.get(share).name == "renamed"
    member.shares.set_metadata(share, {"b": "2"})
    assert member.shares.get_metadata(share).to_dict() == {"a": "1", "b": "2"}
    member.shares.delete_metadata(share, ["a"])
    for change, size in ((member.shares.extend, 2), (member.shares.shrink, 1)):
        change(share, size)
        until(lambda: member.shares.get(share).status == "available", "the share")
        assert member.shares.get(share).size == size
    if minor(version) < 9:
        assert len(member.shares.get(share).export_locations) == 1
    else:
        assert len(member.share_export_locations.list(share)) == 1


def test_access(member, share, version):
    def rules():
        if minor(version) < 45:
            return member.shares.access_list(share)
        return member.share_access_rules.access_list(share)

    made = member.shares.allow(share, "ip", "203.0.113.7", "ro")
    made = made if isinstance(made, dict) else made.to_dict()
    until(lambda: [rule.state for rule in rules()] == ["active"], "the rule")
    assert [(rule.access_to, rule.access_level) for rule in rules()] == [("203.0.113.7", "ro")]
    member.shares.deny(share, made["id"])
    until(lambda: rules() == [], "no rule")


def test_what_a_cloud_offers(member, admin, version):
    assert "default" in {kind.name for kind in member.share_types.list()}
    assert {zone.name for zone in member.availability_zones.list()} >= {"manila-zone-0"}
    assert {found.binary for found in admin.services.list()} >= {"manila-share"}
    assert {pool.backend for pool in admin.pools.list()} >= {"alpha", "beta"}
    limits = {limit.name: limit.value for limit in member.limits.get().absolute}
    assert limits["maxTotalShares"] == admin.quota_classes.get("default").shares
    project = str(uuid.uuid4())
    admin.quotas.update(project, shares=7)
    assert admin.quotas.get(project).shares == 7
    admin.quotas.delete(project)
    assert admin.quotas.get(project).shares == admin.quotas.defaults(project).shares
    if minor(version) >= 37:
        member.messages.list()


def test_what_operators_do(member, admin, share, version):
    admin.shares.reset_state(share, "error")
    assert member.shares.get(share).status == "error"
    admin.shares.reset_state(share, "available")
    if minor(version) >= 3:
        (instance,) = admin.shares.list_instances(share)
        assert instance.id in {found.id for found in admin.share_instances.list()}
    if minor(version) >= 69:
        member.shares.soft_delete(share)
        assert share.id not in {found.id for found in member.shares.list()}
        member.shares.restore(share)
        assert share.id in {found.id for found in member.shares.list()}
