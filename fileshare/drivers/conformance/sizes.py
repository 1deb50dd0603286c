"""Growing and shrinking as tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fileshare import errors
from fileshare.drivers import base
from fileshare.drivers.conformance.suite import Suite, pairs
from fileshare.drivers.model import AccessChange, ShareRef


class ResizableDriver(base.Driver, base.Resizable):
    """What the tests here may call."""


class ResizableSuite(Suite, capability=base.Resizable):
    """Growing and shrinking in place."""

    def test_extend(
        self, driver: ResizableDriver, another: ResizableDriver, share: ShareRef
    ) -> None:
        """The size changes once; data and rules stay."""
        self.put(driver, share, "kept")
        driver.apply_access(share, AccessChange(self.rules))
        driver.extend(share, share.size + 2)
        another.extend(share, share.size + 2)
        assert driver.instances()[share.id] == share.size + 2
        assert self.text(driver, share) == "kept"
        assert self.enforced(driver, share) == pairs(*self.rules)

    def test_shrink(
        self, driver: ResizableDriver, another: ResizableDriver, new: Callable[..., ShareRef]
    ) -> None:
        """An empty share gets as small as asked, once."""
        share = new(size=self.size + 2)
        driver.create(share)
        driver.shrink(share, self.size)
        another.shrink(share, self.size)
        assert driver.instances()[share.id] == self.size

    def test_shrink_never_loses_data(
        self, driver: ResizableDriver, new: Callable[..., ShareRef]
    ) -> None:
        """A share that holds more than it shall be large stays as it is."""
        share = new(size=3)
        driver.create(share)
        self.fill(driver, share)
        with pytest.raises(errors.ShrinkWouldLoseData):
            driver.shrink(share, 1)
        assert driver.instances()[share.id] == share.size

    def test_a_lost_share_has_no_size(
        self, driver: ResizableDriver, new: Callable[..., ShareRef]
    ) -> None:
        """Resizing what is not there raises."""
        share = new()
        for call in (driver.extend, driver.shrink):
            with pytest.raises(errors.DriverError):
                call(share, share.size + 1)
