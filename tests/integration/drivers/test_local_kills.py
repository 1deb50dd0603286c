"""Processes killed in the middle of a driver call, and the call made again by another one.

The moment of the kill is drawn from a seeded generator, so that over the rounds it falls into
every step of a call; some kills take the command that is running with them, some leave it to end
by itself.  Afterwards the back end must be as if the call had been made once.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from fileshare.drivers.model import AccessChange, AccessRule, SnapshotRef
from tests.fixtures.backends import NAME, new_share, started
from tests.fixtures.local_backends import mine_now, needs_local_driver

pytestmark = [*needs_local_driver, pytest.mark.chaos]

ROUNDS = 2
LONGEST = 0.08
RULES = (AccessRule("1", "ip", "10.0.0.1", "rw"), AccessRule("2", "ip", "10.0.0.0/24", "ro"))
PAIRS = {("10.0.0.1", "rw"), ("10.0.0.0/24", "ro")}


@pytest.fixture(scope="module")
def conf(local_backend):
    return local_backend(share_driver="local_btrfs", local_share_size=8)


@pytest.fixture
def killed(conf) -> Callable[[Callable[[object], object], random.Random], None]:
    """A function that begins a call in another process and kills it within it."""

    def killed(call, dice) -> None:
        ready, go = os.pipe()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.setsid()
                driver = started(conf)
                os.write(go, b".")
                call(driver)
                code = 0
            except BaseException:  # noqa: BLE001  (nothing of pytest may run on in this process)
                traceback.print_exc()
            os._exit(code)
        os.close(go)  # so that a child which ends before its call ends the reading, too
        began = os.read(ready, 1)
        os.close(ready)
        time.sleep(dice.uniform(0, LONGEST))
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if dice.random() < 0.5 else os.kill)(child, signal.SIGKILL)
        _child, status = os.waitpid(child, 0)
        while _exists(child):
            time.sleep(0.005)
        assert began, "the process ended before its call"
        # What the call itself raises is a failure; it is shown above.
        assert os.waitstatus_to_exitcode(status) in {0, -signal.SIGKILL}

    return killed


def _exists(group: int) -> bool:
    """Whether a process of the group is left that is not a mere entry in the table."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z" and int(fields[2]) == group:
                return True
    return False


@pytest.fixture
def share(driver):
    share = new_share()
    driver.create(share)
    driver.apply_access(share, AccessChange(RULES))
    yield share
    driver.delete(share)


@pytest.fixture(params=range(ROUNDS))
def dice(request):
    return random.Random(request.param)


@pytest.fixture(autouse=True)
def _nothing_is_left(driver, conf):
    yield
    state = Path(conf[NAME].local_state_path)
    instances = set(driver.instances())
    volumes = {path.name for path in (state / "pool" / "volumes").iterdir()}
    mounted = {Path(point).name for point in mine_now(str(state)) if "/exports/" in point}
    assert volumes == instances
    assert mounted == instances
    assert driver.exports.keys() == instances
    assert len(list((state / "ganesha" / "ids").iterdir())) == len(instances)
    assert len(driver.exports._bus.ids()) == len(instances)


def test_create(driver, killed, dice):
    """C049"""
    share = new_share()
    killed(lambda other: other.create(share), dice)
    driver.create(share)
    driver.apply_access(share, AccessChange(RULES))
    assert driver.exports.enforced(share.id) == PAIRS
    assert driver.instances()[share.id] == 1
    driver.delete(share)


def test_delete(driver, killed, dice):
    """C031, C050"""
    share = new_share()
    driver.create(share)
    killed(lambda other: other.delete(share), dice)
    driver.delete(share)
    assert share.id not in driver.instances()


def test_access(driver, share, killed, dice):
    killed(lambda other: other.apply_access(share, AccessChange(())), dice)
    driver.apply_access(share, AccessChange(()))
    assert driver.exports.enforced(share.id) == set()
    driver.exports.end()
    driver.check()
    assert driver.exports.enforced(share.id) == set()


def test_extend(driver, share, killed, dice):
    """C051"""
    killed(lambda other: other.extend(share, 3), dice)
    driver.extend(share, 3)
    assert driver.instances()[share.id] == 3


def test_revert(driver, share, killed, dice):
    snapshot = SnapshotRef(str(uuid.uuid4()), share, 1)
    data = driver._volumes.source(share.id) / "data" / "file"
    data.write_text("then")
    driver.create_snapshot(snapshot)
    data.write_text("now")
    killed(lambda other: other.revert(snapshot), dice)
    assert data.read_text() in ("then", "now")
    driver.revert(snapshot)
    assert data.read_text() == "then"
    assert driver.exports.enforced(share.id) == PAIRS
    driver.delete_snapshot(snapshot)


def test_clone(driver, share, killed, dice):
    snapshot = SnapshotRef(str(uuid.uuid4()), share, 1)
    (driver._volumes.source(share.id) / "data" / "file").write_text("then")
    driver.create_snapshot(snapshot)
    clone = new_share(2)
    killed(lambda other: other.create_from_snapshot(clone, snapshot), dice)
    driver.create_from_snapshot(clone, snapshot)
    assert (driver._volumes.source(clone.id) / "data" / "file").read_text() == "then"
    driver.delete(clone)
    driver.delete_snapshot(snapshot)
