"""From a back end's section to a driver that works, and to what the scheduler is told of it."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from oslo_config import cfg
from stevedore import driver as stevedore_driver
from stevedore import exception as stevedore_errors
from stevedore import extension as stevedore_extension

from fileshare import errors
from fileshare.conf import backend
from fileshare.drivers import base
from fileshare.drivers.model import BackendInfo, Pool

LOG = logging.getLogger(__name__)

NAMESPACE = "fileshare.drivers"

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0

Report = Callable[[str | None], None]
"""Told why the driver does not work yet, and at last None: it works."""


def driver_class(name: str) -> type[base.Driver]:
    """The driver class of an entry point; raises BadConfiguration for one that is not there."""
    try:
        found = stevedore_driver.DriverManager(NAMESPACE, name, warn_on_missing_entrypoint=False)
    except stevedore_errors.NoMatches as error:
        text = f"There is no driver {name!r} in {NAMESPACE}."
        raise errors.BadConfiguration(operator_text=text) from error
    except (RuntimeError, ImportError) as error:
        text = f"Driver {name!r} could not be loaded: {error}"
        raise errors.BadConfiguration(operator_text=text) from error
    cls = found.driver
    if not (isinstance(cls, type) and issubclass(cls, base.Driver)):
        text = f"{name!r} in {NAMESPACE} is no driver."
        raise errors.BadConfiguration(operator_text=text)
    return cls


def list_opts() -> list[tuple[str, Sequence[cfg.Opt]]]:
    """(section, options) of every installed driver, for the sample generator and the manual.

    One section stands for all back ends; what follows there from a driver's base is named once.
    """
    found: dict[str, cfg.Opt] = {}
    for name in sorted(stevedore_extension.ExtensionManager(NAMESPACE).names()):
        found.update((opt.name, opt) for opt in driver_class(name).OPTS)
    return [(backend.GROUP, list(found.values()))]


def load(conf: cfg.ConfigOpts, name: str) -> base.Driver:
    """The driver of the back end whose section is *name*, not set up yet.

    Registers the section's options and those of the driver.  Raises BadConfiguration.
    """
    backend.register_backend(conf, name)
    section = conf[name]
    if not section.share_driver:
        raise errors.BadConfiguration(operator_text=f"[{name}] share_driver is not set.")
    cls = driver_class(section.share_driver)
    conf.register_opts(cls.OPTS, group=name)
    try:
        dict(section)  # each value is looked at: a wrong one is found only when it is asked for
    except cfg.Error as error:
        raise errors.BadConfiguration(operator_text=str(error)) from error
    handles = section.driver_handles_share_servers
    if handles is None:
        text = f"[{name}] driver_handles_share_servers must be set."
        raise errors.BadConfiguration(operator_text=text)
    if handles not in cls.HANDLES_SHARE_SERVERS:
        text = (
            f"[{name}] driver {section.share_driver!r} does not work with "
            f"driver_handles_share_servers = {handles}."
        )
        raise errors.BadConfiguration(operator_text=text)
    return cls(name, conf)


def initialize(
    driver: base.Driver,
    stop: threading.Event,
    report: Report,
    *,
    first_pause: float = FIRST_PAUSE,
    longest_pause: float = LONGEST_PAUSE,
) -> bool:
    """Set the driver up and check it, again and again until it works or *stop* is set.

    Every failure goes to *report* and to the log with its reason.  Returns whether it works.
    """
    pause = first_pause
    while not stop.is_set():
        try:
            driver.setup()
            driver.check()
        except base.DEFECTS as error:  # whatever a driver raises, the daemon lives on
            reason = describe(error)
            LOG.warning(
                "Back end %s does not work, next try in %s s: %s", driver.name, pause, reason
            )
            report(reason)
        else:
            report(None)
            return True
        stop.wait(pause)
        pause = min(pause * 2, longest_pause)
    return False


def describe(error: BaseException) -> str:
    """What an operator should read about a failure of a driver."""
    if isinstance(error, errors.DriverError):
        return error.operator_text
    return errors.storable(f"{type(error).__name__}: {error}")


def backend_report(driver: base.Driver, conf: cfg.ConfigOpts) -> list[dict[str, Any]]:
    """What the scheduler is told, one dictionary for each pool, with the field's keys."""
    info = driver.info()
    common = {**_common(driver, info, conf), **info.capabilities}
    return [{**common, **_pool(pool, conf[driver.name])} for pool in driver.pools()]


def fingerprint(driver: base.Driver, conf: cfg.ConfigOpts) -> str:
    """A digest of what the back end says of itself (no capacity), and of its driver's options.

    Unchanged means that there is nothing to ensure.
    """
    info = driver.info()
    section = conf[driver.name]
    options = {opt.name: section[opt.dest] for opt in driver.OPTS if not opt.secret}
    facts = {**_common(driver, info, conf), **info.capabilities, "options": options}
    text = json.dumps(facts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _common(driver: base.Driver, info: BackendInfo, conf: cfg.ConfigOpts) -> dict[str, Any]:
    """The keys that all pools share, from the section and the capability classes."""
    section = conf[driver.name]
    protocol = info.storage_protocol
    report: dict[str, Any] = {
        "share_backend_name": section.share_backend_name or driver.name,
        "driver_handles_share_servers": section.driver_handles_share_servers,
        "vendor_name": info.vendor_name,
        "driver_version": info.driver_version,
        "storage_protocol": protocol if isinstance(protocol, str) else list(protocol),
        "replication_type": None,
        "replication_domain": section.replication_domain,
        "filter_function": section.filter_function,
        "goodness_function": section.goodness_function,
        "capabilities": sorted(base.capabilities(driver)),
        **_derived(driver),
        **_NOT_OFFERED,
    }
    if section.driver_handles_share_servers:
        report["max_shares_per_share_server"] = section.max_shares_per_share_server
        report["max_share_server_size"] = section.max_share_server_size
        report["server_pools_mapping"] = {}
    return report


def _derived(driver: base.Driver) -> dict[str, bool]:
    """The flags that follow from a capability class."""
    return {
        "snapshot_support": isinstance(driver, base.Snapshots),
        "create_share_from_snapshot_support": isinstance(driver, base.CloneFromSnapshot),
        "revert_to_snapshot_support": isinstance(driver, base.Revertible),
        "mount_snapshot_support": isinstance(driver, base.MountableSnapshots),
    }


_NOT_OFFERED: dict[str, Any] = {
    "qos": False,
    "dedupe": False,
    "compression": False,
    "ipv4_support": True,
    "ipv6_support": False,
    "snapshot_inherit_share_access_support": False,
    "mount_point_name_support": False,
    "security_service_update_support": False,
    "network_allocation_update_support": False,
    "share_server_multiple_subnet_support": False,
    "share_replicas_migration_support": False,
    "encryption_support": None,
    "qos_type_support": False,
    "share_group_stats": {"consistent_snapshot_support": None},
}
"""What a back end has only where its driver says so in ``BackendInfo.capabilities``."""


def _pool(pool: Pool, section: Any) -> dict[str, Any]:
    """The keys of one pool; the section fills what the driver leaves open."""
    reserved = _first(pool.reserved_percentage, section.reserved_share_percentage)
    thin = pool.thin_provisioning
    return {
        "pool_name": pool.name,
        "total_capacity_gb": _first(pool.total, "unknown"),
        "free_capacity_gb": _first(pool.free, "unknown"),
        "allocated_capacity_gb": pool.allocated,
        "provisioned_capacity_gb": pool.provisioned,
        "reserved_percentage": reserved,
        "reserved_snapshot_percentage": _first(
            pool.reserved_snapshot_percentage,
            section.reserved_share_from_snapshot_percentage,
            reserved,
        ),
        "reserved_share_extend_percentage": _first(
            pool.reserved_share_extend_percentage,
            section.reserved_share_extend_percentage,
            reserved,
        ),
        "thin_provisioning": thin if isinstance(thin, bool) else list(thin or ()),
        "max_over_subscription_ratio": _first(
            pool.max_over_subscription_ratio, section.max_over_subscription_ratio
        ),
        **pool.capabilities,
    }


def _first(*values: Any) -> Any:
    """The first of *values* that is not None."""
    return next((value for value in values if value is not None), None)
