"""The local driver against the driver contract, on a btrfs in a file and on a directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fileshare.drivers import base
from fileshare.drivers.conformance import (
    AccessSuite,
    CloneFromSnapshotSuite,
    Enforced,
    MountableSnapshotsSuite,
    ResizableSuite,
    RevertibleSuite,
    SharesSuite,
    SnapshotsSuite,
    UsageSuite,
)
from tests.fixtures.backends import started
from tests.fixtures.local_backends import local_backend, needs_local_driver  # noqa: F401

pytestmark = needs_local_driver


class LocalHooks:
    """How the suites look at data and at what Ganesha enforces."""

    @pytest.fixture(autouse=True, scope="class")
    def _backend(self, request, local_backend, tmp_path_factory):  # noqa: F811
        request.cls.conf = self.configure(local_backend, tmp_path_factory)

    def make_driver(self) -> base.Driver:
        return started(self.conf)

    def enforced(self, driver, share) -> Enforced:
        return driver.exports.enforced(share.id)

    def snapshot_enforced(self, driver, snapshot) -> Enforced:
        return driver.exports.enforced(snapshot.id)

    def data(self, driver, share) -> Path:
        return driver._volumes.source(share.id) / "data"

    def put(self, driver, share, text) -> None:
        (self.data(driver, share) / "content").write_text(text)

    def text(self, driver, share) -> str:
        path = self.data(driver, share) / "content"
        return path.read_text() if path.exists() else ""

    def fill(self, driver, share) -> None:
        with (self.data(driver, share) / "big").open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, 5 * 2**28)


class TestLocalDriverOnBtrfs(LocalHooks, SharesSuite, AccessSuite, ResizableSuite, UsageSuite):
    def configure(self, local_backend, _):  # noqa: F811
        return local_backend(local_share_size=8)


class TestLocalDriverOnDirectories(
    LocalHooks, SharesSuite, AccessSuite, ResizableSuite, UsageSuite
):
    def configure(self, local_backend, tmp_path_factory):  # noqa: F811
        return local_backend(local_share_path=str(tmp_path_factory.mktemp("shares")))


class TestBtrfsDriver(
    LocalHooks,
    SharesSuite,
    AccessSuite,
    ResizableSuite,
    SnapshotsSuite,
    CloneFromSnapshotSuite,
    RevertibleSuite,
    MountableSnapshotsSuite,
    UsageSuite,
):
    def configure(self, local_backend, _):  # noqa: F811
        return local_backend(local_share_size=8, share_driver="local_btrfs")
