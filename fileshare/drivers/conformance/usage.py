"""What shares hold, as tests."""

from __future__ import annotations

from collections.abc import Callable

from fileshare.drivers import base
from fileshare.drivers.conformance.suite import Suite
from fileshare.drivers.model import ShareRef

GIB = 2**30


class UsageDriver(base.Driver, base.Usage):
    """What the tests here may call."""


class UsageSuite(Suite, capability=base.Usage):
    """Telling how much shares hold."""

    def test_used(
        self, driver: UsageDriver, another: UsageDriver, new: Callable[..., ShareRef]
    ) -> None:
        """Of those that were asked for and are there, to whoever asks."""
        empty, full, lost = new(), new(size=3), new()
        driver.create(empty)
        driver.create(full)
        self.fill(driver, full)
        found = another.used([empty.id, full.id, lost.id])
        assert set(found) == {empty.id, full.id}
        assert found[empty.id] < GIB < found[full.id] <= 3 * GIB
        assert set(driver.used([empty.id])) == {empty.id}
