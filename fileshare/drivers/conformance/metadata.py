"""Metadata that reaches the back end, as tests."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import ClassVar

from fileshare.drivers import base
from fileshare.drivers.conformance.suite import Suite
from fileshare.drivers.model import ShareRef


class MetadataDriver(base.Driver, base.MetadataUpdates):
    """What the tests here may call."""


class MetadataUpdatesSuite(Suite, capability=base.MetadataUpdates):
    """Setting metadata on the back end; *metadata* are pairs that the driver knows."""

    metadata: ClassVar[Mapping[str, str]] = {}
    other_metadata: ClassVar[Mapping[str, str]] = {}

    @abc.abstractmethod
    def metadata_in_force(self, driver: base.Driver, share: ShareRef) -> Mapping[str, str]:
        """The pairs that the back end follows, as the back end says."""

    def test_metadata(
        self, driver: MetadataDriver, another: MetadataDriver, share: ShareRef
    ) -> None:
        """It is followed from then on, however often it is told; content and size stay."""
        self.put(driver, share, "kept")
        driver.update_metadata(share, self.metadata)
        another.update_metadata(share, self.metadata)
        assert self.metadata_in_force(driver, share).items() >= self.metadata.items()
        another.update_metadata(share, self.other_metadata)
        assert self.metadata_in_force(driver, share).items() >= self.other_metadata.items()
        assert self.text(driver, share) == "kept"
        assert driver.instances()[share.id] == share.size

    def test_unknown_metadata(self, driver: MetadataDriver, share: ShareRef) -> None:
        """Keys that the driver does not know are passed over."""
        driver.update_metadata(share, {"no such key": "x", **self.metadata})
        assert self.metadata_in_force(driver, share).items() >= self.metadata.items()
