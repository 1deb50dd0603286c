"""What the local driver says its shares hold, while some of them are lost or go."""

from __future__ import annotations

import shutil

import pytest

from fileshare.privileged import btrfs
from tests.fixtures.backends import new_share
from tests.fixtures.local_backends import needs_local_driver

pytestmark = needs_local_driver

MIB = 2**20


@pytest.fixture(scope="module", params=["btrfs", "directories"])
def conf(request, local_backend, tmp_path_factory):
    if request.param == "btrfs":
        return local_backend(local_share_size=1)
    return local_backend(local_share_path=str(tmp_path_factory.mktemp("pool")))


@pytest.fixture
def shares(driver):
    """Three shares that hold 1, 2 and 3 MiB."""
    made = [new_share() for _ in range(3)]
    for number, share in enumerate(made, 1):
        driver.create(share)
        data = driver._volumes.source(share.id) / "data" / "file"
        data.write_bytes(b"x" * number * MIB)
    yield made
    for share in made:
        driver.delete(share)


def lose(driver, share):
    """Take the volume of a share away behind the driver's back."""
    driver.exports.hide(share.id)
    driver._volumes.close(share.id)
    path = driver._volumes.source(share.id)
    if driver._volumes.enforces_size:
        btrfs.delete_subvolume(str(path), str(driver._top))
    else:
        shutil.rmtree(path)


def test_each_share_has_a_number_of_its_own(driver, shares):
    """Also those of many shares are told at once."""
    found = driver.used([share.id for share in shares])
    for number, share in enumerate(shares, 1):
        assert number * MIB <= found[share.id] < (number + 1) * MIB


def test_a_lost_share_does_not_keep_the_others_from_being_told(driver, shares):
    """Its record is there still, and its volume is not."""
    lose(driver, shares[1])
    found = driver.used([share.id for share in shares])
    assert set(found) == {shares[0].id, shares[2].id}


def test_many_shares_are_asked_for_in_one_call(driver, shares, monkeypatch):
    """On btrfs each call waits until the whole file system is on disk."""
    if not driver._volumes.enforces_size:
        pytest.skip("directories are counted one by one")
    commands = []
    run = btrfs.run

    def counted(*command, **options):
        commands.append(command)
        return run(*command, **options)

    monkeypatch.setattr(btrfs, "run", counted)
    driver.used([share.id for share in shares])
    assert len(commands) == 1
