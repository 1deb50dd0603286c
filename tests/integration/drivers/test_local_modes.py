"""Who on the machine of the local driver reaches what: nobody but root reaches a share's files."""

from __future__ import annotations

import stat

import pytest

from tests.fixtures.backends import new_share
from tests.fixtures.local_backends import needs_local_driver

pytestmark = needs_local_driver


@pytest.fixture(scope="module", params=["btrfs", "directories"])
def conf(request, local_backend, tmp_path_factory):
    options = {"local_root_mode": "0750"}
    if request.param == "btrfs":
        return local_backend(local_share_size=1, **options)
    return local_backend(local_share_path=str(tmp_path_factory.mktemp("pool")), **options)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_share_has_the_mode_that_is_set_and_lies_in_private_directories(driver):
    """No other user of the machine can put a link where root will follow it."""
    share = new_share()
    driver.create(share)
    volume = driver._volumes.source(share.id)
    assert mode(volume / "data") == 0o750
    above = [volume.parent, driver._top / "records", driver._state / "ganesha" / "run"]
    if driver._volumes.enforces_size:
        above += [driver._top, driver._state / "exports"]
    assert {str(path): oct(mode(path)) for path in above if mode(path) & 0o077} == {}
    assert all(path.stat().st_uid == 0 for path in [*above, volume, volume / "data"])
    driver.delete(share)
