"""The dummy driver against the driver contract."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from fileshare.drivers import base
from fileshare.drivers.conformance import (
    AccessSuite,
    CloneFromSnapshotSuite,
    Enforced,
    MetadataUpdatesSuite,
    MountableSnapshotsSuite,
    ResizableSuite,
    RevertibleSuite,
    SharesSuite,
    SnapshotsSuite,
    UsageSuite,
)
from fileshare.drivers.dummy.driver import CONTENT, METADATA, USED
from fileshare.drivers.dummy.state import SHARES, SNAPSHOTS
from tests.fixtures.backends import backend_conf, started


class DummyHooks:
    """How the suites look into the dummy's state."""

    pools = "pool:1000:thin"

    @pytest.fixture(autouse=True)
    def _state_path(self, tmp_path: Path):
        self.path = tmp_path

    def make_driver(self) -> base.Driver:
        return started(
            backend_conf("dummy", dummy_state_path=str(self.path), dummy_pools=self.pools)
        )

    def enforced(self, driver, share) -> Enforced:
        record = driver.state.read(SHARES, share.id)
        return {(rule["to"], rule["level"]) for rule in record["rules"]}

    def snapshot_enforced(self, driver, snapshot) -> Enforced:
        record = driver.state.read(SNAPSHOTS, snapshot.id)
        return {(rule["to"], rule["level"]) for rule in record["rules"]}

    metadata: ClassVar = {"tier": "fast"}
    other_metadata: ClassVar = {"tier": "slow", "weight": "5"}

    def metadata_in_force(self, driver, share):
        return driver.state.read(SHARES, share.id)[METADATA]

    def put(self, driver, share, text) -> None:
        record = driver.state.read(SHARES, share.id)
        driver.state.write(SHARES, share.id, {**record, CONTENT: text})

    def text(self, driver, share) -> str:
        return driver.state.read(SHARES, share.id)[CONTENT]

    def fill(self, driver, share) -> None:
        record = driver.state.read(SHARES, share.id)
        driver.state.write(SHARES, share.id, {**record, USED: 2})


class TestDummyDriver(
    DummyHooks,
    SharesSuite,
    AccessSuite,
    ResizableSuite,
    MetadataUpdatesSuite,
    SnapshotsSuite,
    CloneFromSnapshotSuite,
    RevertibleSuite,
    MountableSnapshotsSuite,
    UsageSuite,
):
    pass


class TestThickDummyDriver(TestDummyDriver):
    pools = "thick1:1000,thick2:10"
