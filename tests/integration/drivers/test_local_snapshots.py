"""Snapshots, clones and reverts of the btrfs driver, seen by real NFS clients."""

from __future__ import annotations

import errno
import os
import uuid

import pytest

from fileshare import errors
from fileshare.drivers import loader
from fileshare.drivers.model import AccessChange, AccessRule, SnapshotRef
from fileshare.privileged import btrfs, mounts
from tests.fixtures.backends import NAME, new_share, started
from tests.fixtures.local_backends import local_conf, needs_local_driver
from tests.fixtures.nfs_client import REFUSED, NfsClient, available

pytestmark = [
    *needs_local_driver,
    pytest.mark.skipif(not available(), reason="libnfs is not installed"),
]

ANYBODY = AccessChange((AccessRule("1", "ip", "10.99.0.0/24", "rw"),))


@pytest.fixture(scope="module")
def conf(lab, local_backend):
    return local_backend(
        share_driver="local_btrfs", local_share_size=8, local_export_ips=[lab.address],
        local_nfs_port=2049,
    )  # fmt: skip


@pytest.fixture
def share(driver):
    share = new_share()
    driver.create(share)
    driver.apply_access(share, ANYBODY)
    yield share
    driver.delete(share)


@pytest.fixture
def snapshot(driver, share):
    """A snapshot of the share whose file says «then»; the file says «now» since."""
    snapshot = SnapshotRef(str(uuid.uuid4()), share, share.size)
    data = driver._volumes.source(share.id) / "data" / "file"
    data.write_text("then")
    driver.create_snapshot(snapshot)
    data.write_text("now")
    yield snapshot
    driver.delete_snapshot(snapshot)


@pytest.fixture
def mount(lab):
    """A function that mounts a path as machine 21."""
    mounted: list[NfsClient] = []

    def mount(id: str) -> NfsClient:
        client = NfsClient(lab.address, f"/{id}", namespace=lab.client(21))
        mounted.append(client)
        return client

    yield mount
    for client in mounted:
        client.close()


def test_a_snapshot_is_read_and_not_written(driver, snapshot, mount):
    driver.snapshot_exports(snapshot)
    with pytest.raises(OSError) as caught:
        mount(snapshot.id)
    assert caught.value.errno in REFUSED
    driver.apply_snapshot_access(snapshot, ANYBODY)
    client = mount(snapshot.id)
    assert client.read("/file") == b"then"
    with pytest.raises(OSError) as caught:
        client.write("/file", b"other")
    assert caught.value.errno == errno.EROFS


def test_a_revert_is_seen_by_clients(driver, share, snapshot, mount):
    assert mount(share.id).read("/file") == b"now"
    driver.revert(snapshot)
    client = mount(share.id)
    assert client.read("/file") == b"then"
    client.write("/other", b"goes on")


def test_a_revert_killed_half_way_is_finished_by_the_next(driver, share, snapshot, mount, conf):
    driver.exports.hide(share.id)
    volumes = driver._subvolumes
    leftover = volumes.top / "volumes" / f"{share.id}.revert"
    btrfs.snapshot(str(volumes.source(share.id)), str(leftover), read_only=False)
    volumes.close(share.id)
    again = started(conf)
    again.revert(snapshot)
    assert mount(share.id).read("/file") == b"then"
    assert sorted(path.name for path in (volumes.top / "volumes").iterdir()) == [share.id]
    again.close()


@pytest.mark.parametrize("fails", ["revert", "exchange"])
def test_clients_have_the_share_back_when_a_revert_fails(
    driver, share, snapshot, mount, monkeypatch, fails
):
    """Before the share was unmounted for it, and after."""

    def refuse(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    where = driver._volumes if fails == "revert" else mounts
    monkeypatch.setattr(where, fails, refuse)
    with pytest.raises(errors.DriverError):
        driver.revert(snapshot)
    assert mount(share.id).read("/file") == b"now"
    monkeypatch.undo()
    driver.revert(snapshot)
    assert mount(share.id).read("/file") == b"then"


def test_a_clone_has_a_limit_of_its_own(driver, share, snapshot, mount):
    clone = new_share(2)
    driver.create_from_snapshot(clone, snapshot)
    driver.apply_access(clone, ANYBODY)
    client = mount(clone.id)
    assert client.read("/file") == b"then"
    big = driver._volumes.source(clone.id) / "data" / "big"
    with big.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, 3 * 2**29)
    with big.open("r+b") as stream, pytest.raises(OSError) as caught:
        os.posix_fallocate(stream.fileno(), 0, 5 * 2**29)
    assert caught.value.errno == errno.EDQUOT
    driver.delete(clone)
    assert mount(share.id).read("/file") == b"now"


def test_exports_of_snapshots_come_back_after_a_restart(driver, snapshot, mount, conf):
    driver.apply_snapshot_access(snapshot, ANYBODY)
    driver.exports.end()
    driver._subvolumes.close(snapshot.id)
    again = started(conf)
    assert mount(snapshot.id).read("/file") == b"then"
    again.close()


def test_another_file_system_is_refused(tmp_path):
    conf = local_conf(tmp_path, share_driver="local_btrfs", local_share_path=str(tmp_path))
    with pytest.raises(errors.BadConfiguration) as caught:
        loader.load(conf, NAME).setup()
    assert "is no btrfs" in caught.value.operator_text
