"""Capabilities, their suites, and what the report says of them."""

from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.drivers import base, loader
from fileshare.drivers.conformance import SUITES
from tests.fixtures.backends import NAME, backend_conf, started


def test_every_capability_has_a_suite():
    assert set(SUITES) == {cls.__name__ for cls in base.CAPABILITIES}


class Plain(base.Driver):
    """A driver with nothing but the required interface."""

    setup = check = info = pools = create = delete = ensure = None
    apply_access = instances = None


def test_a_driver_without_a_capability_is_refused_it():
    plain = Plain("b", {"b": None})
    assert base.capabilities(plain) == frozenset()
    with pytest.raises(errors.Unsupported, match="Resizable"):
        base.require(plain, base.Resizable)


@pytest.mark.parametrize("options", [{}, {"reserved_share_percentage": 7}])
def test_report_has_the_field_s_keys(tmp_path, options):
    conf = backend_conf("dummy", dummy_state_path=str(tmp_path), **options)
    (pool,) = loader.backend_report(started(conf), conf)
    reserved = options.get("reserved_share_percentage", 0)
    assert (
        pool.items()
        >= {
            "pool_name": "pool",
            "share_backend_name": NAME,
            "driver_handles_share_servers": False,
            "vendor_name": "fileshare",
            "driver_version": "1.0",
            "storage_protocol": "NFS_CIFS",
            "total_capacity_gb": 10000.0,
            "free_capacity_gb": 10000.0,
            "allocated_capacity_gb": 0.0,
            "provisioned_capacity_gb": 0.0,
            "reserved_percentage": reserved,
            "reserved_snapshot_percentage": reserved,
            "reserved_share_extend_percentage": reserved,
            "thin_provisioning": True,
            "max_over_subscription_ratio": 20.0,
            "snapshot_support": True,
            "create_share_from_snapshot_support": True,
            "revert_to_snapshot_support": True,
            "mount_snapshot_support": True,
            "mount_point_name_support": True,
            "ipv4_support": True,
            "ipv6_support": True,
            "qos": False,
            "dedupe": False,
            "compression": False,
            "replication_type": None,
            "replication_domain": None,
            "filter_function": None,
            "goodness_function": None,
            "share_group_stats": {"consistent_snapshot_support": None},
        }.items()
    )
    assert "max_shares_per_share_server" not in pool


def test_report_of_share_servers_and_of_what_the_section_says(tmp_path):
    conf = backend_conf(
        "dummy",
        dummy_state_path=str(tmp_path),
        driver_handles_share_servers=True,
        share_backend_name="gold",
        replication_domain="here",
        dummy_replication_type="readable",
        reserved_share_percentage=10,
        reserved_share_from_snapshot_percentage=5,
        max_over_subscription_ratio=2.5,
        dummy_pools=["fast:10", "slow:20:thin"],
    )
    fast, slow = loader.backend_report(started(conf), conf)
    assert (fast["pool_name"], fast["thin_provisioning"]) == ("fast", False)
    assert (slow["pool_name"], slow["thin_provisioning"]) == ("slow", True)
    for pool in (fast, slow):
        assert pool["driver_handles_share_servers"] is True
        assert pool["max_shares_per_share_server"] == -1
        assert pool["server_pools_mapping"] == {}
        assert pool["share_backend_name"] == "gold"
        assert pool["replication_domain"] == "here"
        assert pool["replication_type"] == "readable"
        assert pool["reserved_percentage"] == 10
        assert pool["reserved_snapshot_percentage"] == 5
        assert pool["reserved_share_extend_percentage"] == 10
        assert pool["max_over_subscription_ratio"] == 2.5
