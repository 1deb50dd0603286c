"""Snapshots and what is made of them, as tests."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable

import pytest

from fileshare import errors
from fileshare.drivers import base
from fileshare.drivers.conformance.suite import Enforced, Suite, pairs, paths, snapshot_of
from fileshare.drivers.model import AccessChange, ShareRef, SnapshotRef


class SnapshotDriver(
    base.Driver,
    base.Resizable,
    base.Snapshots,
    base.CloneFromSnapshot,
    base.Revertible,
    base.MountableSnapshots,
):
    """What the tests here may call, each where its suite is inherited."""


class SnapshotsSuite(Suite, capability=base.Snapshots):
    """Taking and removing snapshots."""

    def test_snapshot_twice_is_once(
        self, driver: SnapshotDriver, another: SnapshotDriver, share: ShareRef
    ) -> None:
        """A repeated call returns the same place."""
        snapshot = snapshot_of(share)
        location = driver.create_snapshot(snapshot)
        assert another.create_snapshot(snapshot) == location
        driver.delete_snapshot(snapshot)

    def test_delete_snapshot_twice_is_once(
        self, driver: SnapshotDriver, another: SnapshotDriver, share: ShareRef
    ) -> None:
        """One that is not there is fine; the share stays."""
        snapshot = snapshot_of(share)
        driver.create_snapshot(snapshot)
        driver.delete_snapshot(snapshot)
        another.delete_snapshot(snapshot)
        assert share.id in driver.instances()

    def test_a_snapshot_is_no_share(self, driver: SnapshotDriver, share: ShareRef) -> None:
        """It does not show among the shares, nor count as one."""
        snapshot = snapshot_of(share)
        before = driver.instances()
        driver.create_snapshot(snapshot)
        assert driver.instances() == before
        driver.delete_snapshot(snapshot)

    def test_a_lost_share_has_no_snapshot(
        self, driver: SnapshotDriver, new: Callable[..., ShareRef]
    ) -> None:
        """Taking one of what is not there raises."""
        with pytest.raises(errors.DriverError):
            driver.create_snapshot(snapshot_of(new()))


class CloneFromSnapshotSuite(Suite, capability=base.CloneFromSnapshot):
    """Shares from snapshots."""

    def test_a_clone_has_the_snapshot_s_content(
        self, driver: SnapshotDriver, share: ShareRef, new: Callable[..., ShareRef]
    ) -> None:
        """Not what the source holds now; nobody may mount it yet; a later change stays apart."""
        snapshot = snapshot_of(share)
        self.put(driver, share, "then")
        driver.apply_access(share, AccessChange(self.rules))
        driver.create_snapshot(snapshot)
        self.put(driver, share, "now")
        clone = new()
        driver.create_from_snapshot(clone, snapshot)
        assert self.text(driver, clone) == "then"
        assert self.enforced(driver, clone) == set()
        self.put(driver, clone, "clone")
        assert self.text(driver, share) == "now"
        driver.delete_snapshot(snapshot)
        assert self.text(driver, clone) == "clone"

    def test_clone_twice_is_once(
        self,
        driver: SnapshotDriver,
        another: SnapshotDriver,
        share: ShareRef,
        new: Callable[..., ShareRef],
    ) -> None:
        """A repeated call keeps what was written meanwhile; the clone may be larger."""
        snapshot = snapshot_of(share)
        driver.create_snapshot(snapshot)
        clone = new(size=share.size + 1)
        exports = paths(driver.create_from_snapshot(clone, snapshot))
        self.put(driver, clone, "kept")
        assert paths(another.create_from_snapshot(clone, snapshot)) == exports
        assert self.text(driver, clone) == "kept"
        assert driver.instances()[clone.id] == share.size + 1
        driver.delete_snapshot(snapshot)

    def test_a_lost_snapshot_makes_no_share(
        self, driver: SnapshotDriver, share: ShareRef, new: Callable[..., ShareRef]
    ) -> None:
        """The call raises and leaves no share behind."""
        clone = new()
        with pytest.raises(errors.DriverError):
            driver.create_from_snapshot(clone, snapshot_of(share))
        assert clone.id not in driver.instances()


class RevertibleSuite(Suite, capability=base.Revertible):
    """Going back to a snapshot."""

    def test_revert(
        self, driver: SnapshotDriver, another: SnapshotDriver, share: ShareRef
    ) -> None:
        """Content is the snapshot's again, as often as asked; rules hold; the snapshot stays."""
        snapshot = snapshot_of(share)
        self.put(driver, share, "then")
        driver.apply_access(share, AccessChange(self.rules))
        driver.create_snapshot(snapshot)
        for reverting in (driver, another):
            self.put(driver, share, "now")
            reverting.revert(snapshot)
            assert self.text(driver, share) == "then"
        assert self.enforced(driver, share) == pairs(*self.rules)
        driver.delete_snapshot(snapshot)

    def test_revert_brings_the_size_back(self, driver: SnapshotDriver, share: ShareRef) -> None:
        """A share that has grown since is as large as it was."""
        if not isinstance(driver, base.Resizable):
            pytest.skip("shares of this driver keep their size")
        snapshot = snapshot_of(share)
        driver.create_snapshot(snapshot)
        driver.extend(share, share.size + 1)
        driver.revert(snapshot)
        assert driver.instances()[share.id] == share.size
        driver.delete_snapshot(snapshot)

    def test_a_lost_snapshot_reverts_nothing(
        self, driver: SnapshotDriver, share: ShareRef
    ) -> None:
        """The call raises and the share keeps what it has."""
        self.put(driver, share, "now")
        with pytest.raises(errors.DriverError):
            driver.revert(snapshot_of(share))
        assert self.text(driver, share) == "now"


class MountableSnapshotsSuite(Suite, capability=base.MountableSnapshots):
    """Snapshots that clients mount."""

    @abc.abstractmethod
    def snapshot_enforced(self, driver: SnapshotDriver, snapshot: SnapshotRef) -> Enforced:
        """As :meth:`Suite.enforced`, for a snapshot."""

    def test_a_snapshot_has_exports_of_its_own(
        self, driver: SnapshotDriver, share: ShareRef
    ) -> None:
        """Other paths than the share's, for nobody at first."""
        snapshot = snapshot_of(share)
        driver.create_snapshot(snapshot)
        exports = paths(driver.snapshot_exports(snapshot))
        assert exports
        assert not exports & paths(driver.ensure(share))
        assert self.snapshot_enforced(driver, snapshot) == set()
        driver.delete_snapshot(snapshot)

    def test_snapshot_rules_are_a_set(
        self, driver: SnapshotDriver, another: SnapshotDriver, share: ShareRef
    ) -> None:
        """Equal to what is asked for, twice as once, apart from the share's rules."""
        snapshot = snapshot_of(share)
        driver.create_snapshot(snapshot)
        rules = tuple(dataclasses.replace(rule, level="ro") for rule in self.rules)
        for applying in (driver, another):
            applying.apply_snapshot_access(snapshot, AccessChange(rules))
            assert self.snapshot_enforced(driver, snapshot) == pairs(*rules)
        assert self.enforced(driver, share) == set()
        driver.apply_snapshot_access(snapshot, AccessChange(()))
        assert self.snapshot_enforced(driver, snapshot) == set()
        driver.delete_snapshot(snapshot)
