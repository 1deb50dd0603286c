from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.domain import specs

CAPABILITIES = {
    "share_backend_name": "ALPHA",
    "storage_protocol": "NFS_CIFS",
    "snapshot_support": True,
    "dedupe": [True, False],
    "iops": 500,
    "version": "1.2",
    "qos": {"level": {"name": "gold"}},
    "thin_provisioning": "False",
    "nothing": None,
}


@pytest.mark.parametrize(
    ("key", "value", "met"),
    [
        ("share_backend_name", "ALPHA", True),
        ("share_backend_name", "alpha", True),
        ("share_backend_name", "ALPH", False),
        ("capabilities:share_backend_name", "ALPHA", True),
        ("vendor:anything", "x", True),
        ("absent", "x", False),
        ("nothing", "None", False),
        ("snapshot_support", "<is> True", True),
        ("snapshot_support", "<is> false", False),
        ("snapshot_support", "true", True),
        ("snapshot_support", "yes", True),
        ("thin_provisioning", "<is> False", True),
        ("thin_provisioning", "<is> True", False),
        ("storage_protocol", "<in> NFS", True),
        ("storage_protocol", "<in> CIFS", True),
        ("storage_protocol", "<in> CEPHFS", False),
        ("share_backend_name", "<or> BETA <or> ALPHA", True),
        ("share_backend_name", "<or> BETA <or> GAMMA", False),
        ("iops", "= 400", True),
        ("iops", "= 501", False),
        ("iops", "== 500.0", True),
        ("iops", "!= 500", False),
        ("iops", ">= 500", True),
        ("iops", "<= 499", False),
        ("iops", ">= many", False),
        ("share_backend_name", ">= 1", False),
        ("version", "s== 1.2", True),
        ("version", "s!= 1.2", False),
        ("version", "s< 1.3", True),
        ("version", "s<= 1.2", True),
        ("version", "s> 1.1", True),
        ("version", "s>= 1.3", False),
        ("share_backend_name", "s== alpha", False),
        ("dedupe", "<is> True", True),
        ("dedupe", "<is> False", True),
        ("capabilities:qos:level:name", "gold", True),
        ("capabilities:qos:level:name", "silver", False),
        ("capabilities:qos:level:absent", "x", False),
        ("capabilities:iops:deeper", "x", False),
        ("availability_zones", "nowhere", True),
    ],
)
def test_one_spec(key, value, met):
    assert (specs.capabilities_match({key: value}, CAPABILITIES) is None) is met


def test_the_reason_names_the_spec():
    reason = specs.capabilities_match({"iops": ">= 900", "dedupe": "<is> True"}, CAPABILITIES)
    assert reason == "iops is not >= 900"


def test_a_qos_type_needs_a_pool_that_takes_one():
    asked = {"default_qos_type": "fast"}
    assert specs.capabilities_match(asked, {}) is not None
    assert specs.capabilities_match(asked, {"qos_type_support": True}) is None


def test_defaults():
    given = {"snapshot_support": "True", "revert_to_snapshot_support": "<is> False", "x": "true"}
    assert specs.with_defaults(given, "NFS") == {
        "snapshot_support": "<is> True",
        "revert_to_snapshot_support": "<is> False",
        "x": "true",
        "storage_protocol": "<in> NFS",
    }
    assert specs.with_defaults({"storage_protocol": "CIFS"}, "NFS")["storage_protocol"] == "CIFS"
    scoped = {"capabilities:storage_protocol": "CIFS"}
    assert specs.with_defaults(scoped, "NFS") == scoped


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("True", True),
        ("<is> yes", True),
        (" on ", True),
        ("0", False),
        ("<is> False", False),
        ("maybe", None),
        (False, False),
        (None, None),
    ],
)
def test_boolean(text, meaning):
    assert specs.boolean(text) is meaning


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("driver_handles_share_servers", "maybe"),
        ("driver_handles_share_servers", "<is> True"),
        ("snapshot_support", "maybe"),
        ("snapshot_support", ""),
        ("replication_type", "sometimes"),
        ("availability_zones", ""),
        ("availability_zones", "one,,two"),
        ("provisioning:min_share_size", "0"),
        ("provisioning:max_share_size", "-1"),
        ("provisioning:max_share_extend_size", "1.5"),
        ("provisioning:max_share_size", "²"),
    ],
)
def test_impossible_values(key, value):
    with pytest.raises(errors.InvalidInput) as raised:
        specs.validate(key, value)
    assert key in str(raised.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("driver_handles_share_servers", "False"),
        ("driver_handles_share_servers", True),
        ("snapshot_support", "<is> True"),
        ("replication_type", "dr"),
        ("availability_zones", "one, two"),
        ("provisioning:min_share_size", "5"),
        ("anything", "at all"),
    ],
)
def test_possible_values(key, value):
    specs.validate(key, value)


def test_a_type_needs_the_required_spec():
    with pytest.raises(errors.InvalidInput):
        specs.validate_all({"snapshot_support": "True"})
    specs.validate_all({"driver_handles_share_servers": "False"})
    with pytest.raises(errors.InvalidInput):
        specs.validate_all(
            {"driver_handles_share_servers": True, specs.LEAST_SIZE: "5", specs.MOST_SIZE: "4"}
        )


def test_size_limits():
    limits = specs.size_limits({specs.LEAST_SIZE: "2", specs.MOST_SIZE: "10"})
    assert limits == specs.SizeLimits(2, 10, 10)
    assert limits.refusal(1)
    assert limits.refusal(11)
    assert limits.refusal(11, extend=True)
    assert limits.refusal(2) is None
    own = specs.size_limits({specs.MOST_SIZE: "10", specs.MOST_EXTEND_SIZE: "20"})
    assert own.refusal(15, extend=True) is None
    assert own.refusal(21, extend=True)
    assert specs.size_limits({}).refusal(10**9) is None


def test_zones_and_flags():
    assert specs.zones({"availability_zones": " one, two "}) == ("one", "two")
    assert specs.zones({}) == ()
    assert specs.flag({"snapshot_support": "<is> True"}, "snapshot_support")
    assert not specs.flag({"snapshot_support": "maybe"}, "snapshot_support")
    assert not specs.flag({}, "snapshot_support")
