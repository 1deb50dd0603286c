"""The required interface as tests: shares and their access rules."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from fileshare import errors
from fileshare.drivers import base
from fileshare.drivers.conformance.suite import SUITES, Suite, pairs, paths
from fileshare.drivers.model import AccessChange, ShareRef


class SharesSuite(Suite):
    """The required interface without access rules."""

    def test_the_suites_are_those_of_the_capabilities(self, driver: base.Driver) -> None:
        """Each capability is held to its suite, and no suite is inherited without it."""
        inherited = {name for name, suite in SUITES.items() if isinstance(self, suite)}
        assert inherited == base.capabilities(driver)

    def test_a_share_has_exports(self, driver: base.Driver, new: Callable[..., ShareRef]) -> None:
        """Creating returns at least one path for tenants, and the back end has the share."""
        share = new()
        exports = driver.create(share)
        assert any(export.path and not export.admin_only for export in exports)
        assert driver.instances()[share.id] == share.size

    def test_create_twice_is_once(
        self, driver: base.Driver, another: base.Driver, share: ShareRef
    ) -> None:
        """A repeated create, by whomever, returns the same and keeps what is in the share."""
        self.put(driver, share, "kept")
        assert paths(another.create(share)) == paths(driver.create(share))
        assert self.text(driver, share) == "kept"

    def test_create_with_another_size_is_refused(
        self, driver: base.Driver, share: ShareRef
    ) -> None:
        """The share that is there stays as it is."""
        with pytest.raises(errors.ShareExistsDifferently):
            driver.create(dataclasses.replace(share, size=share.size + 1))
        assert driver.instances()[share.id] == share.size

    def test_a_mount_point_name_is_one_shares(
        self, driver: base.Driver, another: base.Driver, new: Callable[..., ShareRef]
    ) -> None:
        """Where the back end takes names: another share gets one when the first is gone."""
        if not driver.info().capabilities.get("mount_point_name_support"):
            return
        first, second = (
            dataclasses.replace(new(), mount_point_name="team_data") for _ in range(2)
        )
        assert all("team_data" in path for path in paths(driver.create(first)))
        assert paths(another.create(first)) == paths(driver.create(first))
        with pytest.raises(errors.DriverError):
            another.create(second)
        assert second.id not in driver.instances()
        driver.delete(first)
        assert driver.create(second)

    def test_delete_twice_is_once(
        self, driver: base.Driver, another: base.Driver, share: ShareRef
    ) -> None:
        """A repeated delete is fine, and the share is gone."""
        driver.delete(share)
        another.delete(share)
        assert share.id not in driver.instances()

    def test_delete_of_an_unknown_share_is_fine(
        self, driver: base.Driver, new: Callable[..., ShareRef]
    ) -> None:
        """What is not there is already deleted."""
        before = driver.instances()
        driver.delete(new())
        assert driver.instances() == before

    def test_a_deleted_share_can_come_again_empty(
        self, driver: base.Driver, share: ShareRef
    ) -> None:
        """Nothing of the old one shows in the new one of the same id."""
        self.put(driver, share, "old")
        driver.delete(share)
        driver.create(share)
        assert self.text(driver, share) == ""

    def test_ensure_changes_nothing(
        self, driver: base.Driver, another: base.Driver, share: ShareRef
    ) -> None:
        """Ensuring a share that is as it should be returns its exports, as often as asked."""
        self.put(driver, share, "kept")
        exports = paths(driver.create(share))
        assert paths(driver.ensure(share)) == exports
        assert paths(another.ensure(share)) == exports
        assert self.text(driver, share) == "kept"

    def test_ensure_of_a_lost_share_raises(
        self, driver: base.Driver, new: Callable[..., ShareRef]
    ) -> None:
        """Nobody is told that data is there which is not."""
        with pytest.raises(errors.ShareLost):
            driver.ensure(new())

    def test_pools_have_names_and_capacity(self, driver: base.Driver) -> None:
        """At least one pool; names differ; no more is free than there is."""
        pools = driver.pools()
        assert pools
        assert len({pool.name for pool in pools}) == len(pools)
        for pool in pools:
            assert pool.total is None or pool.free is None or 0 <= pool.free <= pool.total

    def test_different_shares_at_the_same_time(
        self, driver: base.Driver, another: base.Driver, new: Callable[..., ShareRef]
    ) -> None:
        """Calls on different shares do not disturb each other, within a process or between two."""
        shares = [new() for _ in range(6)]
        drivers = [driver, another] * 3
        with ThreadPoolExecutor(4) as threads:
            exports = list(
                threads.map(lambda driver, share: driver.create(share), drivers, shares)
            )
            assert len({path for found in exports for path in paths(found)}) >= len(shares)
            assert {share.id for share in shares} <= driver.instances().keys()
            list(threads.map(lambda driver, share: driver.delete(share), drivers, shares))
        assert not {share.id for share in shares} & driver.instances().keys()

    @pytest.mark.parametrize(
        "id", ["../out", "a/b", "", "a\nb", "a b", ".hidden", 'a"b', "x" * 300]
    )
    def test_an_id_that_is_no_name_is_refused(self, driver: base.Driver, id: str) -> None:
        """No id can lead out of the back end's own place."""
        share = ShareRef(id, "share", self.size, self.protocol, "project", driver.pools()[0].name)
        before = driver.instances()
        for call in (driver.create, driver.ensure, driver.delete):
            with pytest.raises(errors.DriverError):
                call(share)
        assert driver.instances() == before


class AccessSuite(Suite):
    """Access rules are a set."""

    def test_a_new_share_is_for_nobody(self, driver: base.Driver, share: ShareRef) -> None:
        """Without a rule nobody may mount."""
        assert self.enforced(driver, share) == set()

    def test_rules_become_what_is_asked_for(self, driver: base.Driver, share: ShareRef) -> None:
        """The rules alone count: what was there before goes, whatever the hints say."""
        first, second = self.rules
        driver.apply_access(share, AccessChange((first, second), added=(first, second)))
        assert self.enforced(driver, share) == pairs(first, second)
        driver.apply_access(share, AccessChange((second,)))
        assert self.enforced(driver, share) == pairs(second)
        driver.apply_access(share, AccessChange((), removed=(second,)))
        assert self.enforced(driver, share) == set()

    def test_rules_twice_are_once(
        self, driver: base.Driver, another: base.Driver, share: ShareRef
    ) -> None:
        """A repeated call changes nothing, with hints or without."""
        change = AccessChange(self.rules, added=self.rules)
        driver.apply_access(share, change)
        another.apply_access(share, change)
        driver.apply_access(share, AccessChange(self.rules))
        assert self.enforced(driver, share) == pairs(*self.rules)

    def test_a_level_can_change(self, driver: base.Driver, share: ShareRef) -> None:
        """From rw to ro and back."""
        rule = self.rules[0]
        for level in ("rw", "ro", "rw"):
            changed = dataclasses.replace(rule, level=level)
            driver.apply_access(share, AccessChange((changed,), changed=(changed,)))
            assert self.enforced(driver, share) == pairs(changed)

    def test_one_bad_rule_spoils_no_other(self, driver: base.Driver, share: ShareRef) -> None:
        """It gets an error of its own, and the others hold."""
        result = driver.apply_access(share, AccessChange((self.bad_rule, *self.rules)))
        failed = {id for id, what in result.rules.items() if what.error is not None}
        assert failed == {self.bad_rule.id}
        assert self.enforced(driver, share) == pairs(*self.rules)

    def test_everyone_means_everyone(self, driver: base.Driver, share: ShareRef) -> None:
        """The rule of all addresses is one that the back end takes."""
        result = driver.apply_access(share, AccessChange(self.everyone))
        assert all(what.error is None for what in result.rules.values())
        assert self.enforced(driver, share) == pairs(*self.everyone)

    def test_ensure_keeps_rules(
        self, driver: base.Driver, another: base.Driver, share: ShareRef
    ) -> None:
        """Reconciling neither opens a share nor closes it."""
        driver.apply_access(share, AccessChange(self.rules))
        another.ensure(share)
        assert self.enforced(driver, share) == pairs(*self.rules)

    def test_rules_go_with_the_share(self, driver: base.Driver, share: ShareRef) -> None:
        """A new share of the same id is for nobody."""
        driver.apply_access(share, AccessChange(self.rules))
        driver.delete(share)
        driver.create(share)
        assert self.enforced(driver, share) == set()

    def test_rules_of_a_lost_share_raise(
        self, driver: base.Driver, new: Callable[..., ShareRef]
    ) -> None:
        """No rule is shown as active on a share that is not there, with rules or without."""
        for rules in (self.rules, ()):
            with pytest.raises(errors.ShareLost):
                driver.apply_access(new(), AccessChange(rules))
