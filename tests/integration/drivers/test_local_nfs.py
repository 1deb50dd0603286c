"""The local driver with real NFS clients, each at an address of its own."""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path

import pytest

from fileshare import errors
from fileshare.drivers.model import AccessChange, AccessRule
from tests.fixtures.backends import NAME, new_share, started
from tests.fixtures.local_backends import needs_local_driver
from tests.fixtures.nfs_client import REFUSED, NfsClient, available

pytestmark = [
    *needs_local_driver,
    pytest.mark.skipif(not available(), reason="libnfs is not installed"),
]

GIB = 2**30


@pytest.fixture(scope="module")
def conf(lab, local_backend):
    return local_backend(
        local_share_size=8,
        local_export_ips=[lab.address, lab.address6],
        local_nfs_port=2049,
    )


@pytest.fixture
def share(driver):
    share = new_share()
    driver.create(share)
    yield share
    driver.delete(share)


@pytest.fixture
def mount(lab, share):
    """A function that mounts the share as machine NUMBER of the lab."""
    mounted: list[NfsClient] = []

    def mount(number: int, address: str = lab.address) -> NfsClient:
        client = NfsClient(address, f"/{share.id}", namespace=lab.client(number))
        mounted.append(client)
        return client

    yield mount
    for client in mounted:
        client.close()


def allow(driver, share, *rules: tuple[str, str]) -> None:
    wanted = tuple(
        AccessRule(str(number), "ip", to, level) for number, (to, level) in enumerate(rules)
    )
    result = driver.apply_access(share, AccessChange(wanted))
    assert all(what.error is None for what in result.rules.values())


def refused(mount, number: int, *address: str) -> bool:
    """Whether machine NUMBER may not mount."""
    with pytest.raises(OSError) as caught:
        mount(number, *address)
    return caught.value.errno in REFUSED


def test_nobody_mounts_a_share_without_rules(mount):
    assert refused(mount, 21)


def test_the_allowed_address_writes_and_reads_and_no_other_mounts(driver, share, mount):
    allow(driver, share, ("10.99.0.21", "rw"))
    client = mount(21)
    client.write("/file", b"hello")
    assert client.read("/file") == b"hello"
    assert client.list() == ["file"]
    assert refused(mount, 22)


def test_a_user_of_a_client_writes_and_owns_the_file(driver, share, lab):
    allow(driver, share, ("10.99.0.21", "rw"))
    where = (lab.address, f"/{share.id}")
    with NfsClient(*where, namespace=lab.client(21), uid=1000) as client:
        client.write("/file", b"hello")
    assert (driver._volumes.source(share.id) / "data" / "file").stat().st_uid == 1000


def test_users_of_this_machine_do_not_reach_shares(driver, share, conf):
    state = Path(conf[NAME].local_state_path)
    for path in (state / "pool" / "volumes", state / "exports", state / "ganesha" / "run"):
        assert path.stat().st_mode & 0o077 == 0


def test_read_only_reads_and_does_not_write(driver, share, mount):
    allow(driver, share, ("10.99.0.21", "rw"), ("10.99.0.22", "ro"))
    mount(21).write("/file", b"hello")
    reader = mount(22)
    assert reader.read("/file") == b"hello"
    with pytest.raises(OSError) as caught:
        reader.write("/file", b"other")
    assert caught.value.errno == errno.EROFS
    assert mount(21).read("/file") == b"hello"


def test_root_is_root_by_either_level(driver, share, mount):
    """C112: what only root may read, it reads by a rule to read, too."""
    allow(driver, share, ("10.99.0.21", "rw"), ("10.99.0.22", "ro"))
    mount(21).write("/file", b"hello")
    file = driver._volumes.source(share.id) / "data" / "file"
    file.chmod(0o600)
    assert file.stat().st_uid == 0
    for number in (21, 22):
        assert mount(number).read("/file") == b"hello"
    with pytest.raises(OSError) as caught:
        mount(22).write("/file", b"other")
    assert caught.value.errno == errno.EROFS


def test_the_narrower_rule_wins(driver, share, mount):
    allow(driver, share, ("10.99.0.0/24", "ro"), ("10.99.0.21", "rw"))
    mount(21).write("/file", b"hello")
    with pytest.raises(OSError) as caught:
        mount(22).write("/other", b"hello")
    assert caught.value.errno == errno.EROFS


def test_ipv6_addresses_are_told_apart(driver, share, mount, lab):
    allow(driver, share, ("fd00:99::21", "rw"))
    mount(21, lab.address6).write("/file", b"six")
    assert refused(mount, 22, lab.address6)
    assert refused(mount, 21, lab.address)


@pytest.mark.parametrize(("everyone", "others"), [("0.0.0.0/0", 6), ("::/0", 4)])
def test_everyone_of_a_version_means_everyone_of_it(driver, share, mount, lab, everyone, others):
    """C006: by a client at an address of its own."""
    allow(driver, share, (everyone, "rw"))
    addresses = {4: lab.address, 6: lab.address6}
    other = addresses.pop(others)
    (address,) = addresses.values()
    mount(21, address).write("/file", b"one")
    mount(22, address).write("/other", b"two")
    assert mount(21, address).list() == ["file", "other"]
    assert refused(mount, 21, other)


def test_a_revoked_rule_is_refused_at_once(driver, share, mount):
    allow(driver, share, ("10.99.0.21", "rw"), ("10.99.0.22", "rw"))
    client = mount(21)
    client.write("/file", b"hello")
    allow(driver, share, ("10.99.0.22", "rw"))
    with pytest.raises(OSError):
        client.read("/file")
    assert refused(mount, 21)
    assert mount(22).read("/file") == b"hello"


def test_a_level_changes_without_a_gap(driver, share, mount):
    """C011: a client that reads all the time notices nothing."""
    allow(driver, share, ("10.99.0.21", "rw"), ("10.99.0.22", "ro"))
    mount(21).write("/file", b"hello")
    stays = mount(22)
    stop = threading.Event()
    failures: list[OSError] = []
    reads: list[bytes] = []

    def read() -> None:
        while not stop.is_set():
            try:
                reads.append(stays.read("/file"))
            except OSError as error:
                failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    changes = 0
    while changes < 40 or len(reads) < 40:
        allow(driver, share, ("10.99.0.21", ("ro", "rw")[changes % 2]), ("10.99.0.22", "ro"))
        changes += 1
    stop.set()
    reader.join()
    assert failures == []
    assert set(reads) == {b"hello"}


def test_the_size_is_enforced_and_grows(driver, share, mount):
    allow(driver, share, ("10.99.0.21", "rw"))
    client = mount(21)
    ballast(driver, share, GIB - 2**20)
    with pytest.raises(OSError) as caught:
        client.write("/over", bytes(4 * 2**20))
    assert caught.value.errno == errno.EDQUOT
    driver.extend(share, 2)
    client.write("/fits", bytes(4 * 2**20))
    assert client.read("/fits", 16) == bytes(16)


def test_the_enforced_size_is_the_last_one_asked_for(driver, share, mount):
    """C107: up, down and up again, within 1 %; what df says is for a driver with volumes."""
    allow(driver, share, ("10.99.0.21", "rw"))
    client = mount(21)
    for resize, size in ((driver.extend, 4), (driver.shrink, 2), (driver.extend, 3)):
        resize(share, size)
        ballast(driver, share, size * GIB - 8 * 2**20)
        client.write("/fits", bytes(2**20))
        with pytest.raises(OSError) as caught:
            client.write("/over", bytes(16 * 2**20))
        assert caught.value.errno == errno.EDQUOT
        for name in client.list():
            client.unlink(f"/{name}")


def test_a_mount_that_is_busy_is_let_go_later(driver):
    """C114: the deletion may be tried again, and then all is gone."""
    share = new_share()
    driver.create(share)
    with (Path(driver._volumes._mount_point(share.id)) / "held").open("w"):
        with pytest.raises(errors.BackendBusy) as caught:
            driver.delete(share)
        assert caught.value.transient
    driver.delete(share)
    assert share.id not in driver.instances()
    assert not driver._volumes.source(share.id).exists()


def test_a_full_share_still_grows_and_is_deleted(driver, share, mount):
    allow(driver, share, ("10.99.0.21", "rw"))
    ballast(driver, share, GIB - 2**20)
    client = mount(21)
    with pytest.raises(OSError):
        client.write("/over", bytes(4 * 2**20))
    driver.extend(share, 3)
    driver.delete(share)
    assert share.id not in driver.instances()
    assert refused(mount, 21)


def test_ganesha_killed_comes_back_with_the_same_exports(driver, share, mount, conf):
    allow(driver, share, ("10.99.0.21", "rw"), ("10.99.0.22", "ro"))
    mount(21).write("/file", b"hello")
    before = ganesha(conf)
    os.kill(before, signal.SIGKILL)
    while ganesha(conf) == before:
        driver.check()
    assert mount(21).read("/file") == b"hello"
    with pytest.raises(OSError) as caught:
        mount(22).write("/file", b"other")
    assert caught.value.errno == errno.EROFS
    assert refused(mount, 23)


def test_the_bus_killed_comes_back(driver, share, mount, conf):
    os.kill(pid(conf, "bus.pid"), signal.SIGKILL)
    allow(driver, share, ("10.99.0.21", "rw"))
    mount(21).write("/file", b"hello")


def test_a_restart_of_the_daemon_cuts_nobody(driver, share, mount, conf):
    allow(driver, share, ("10.99.0.21", "rw"))
    client = mount(21)
    client.write("/file", b"hello")
    before = ganesha(conf)
    driver.close()
    again = started(conf)
    assert ganesha(conf) == before
    assert client.read("/file") == b"hello"
    assert again.exports.enforced(share.id) == {("10.99.0.21", "rw")}
    again.close()


def test_a_lost_export_is_brought_back_by_ensure(driver, share, mount):
    allow(driver, share, ("10.99.0.21", "rw"))
    driver.exports._bus.remove(driver.exports._must(share.id).id)
    assert refused(mount, 21)
    driver.ensure(share)
    mount(21).write("/file", b"hello")


def test_a_lost_mount_is_never_served_as_an_empty_share(driver, share, mount, conf):
    allow(driver, share, ("10.99.0.21", "rw"))
    mount(21).write("/file", b"hello")
    driver.exports.end()
    driver._volumes.close(share.id)
    driver.exports.check()
    assert refused(mount, 21)
    driver.ensure(share)
    assert mount(21).read("/file") == b"hello"


def test_two_daemons_serve_one_back_end(driver, conf):
    other = started(conf)
    shares = [new_share() for _ in range(6)]
    failures: list[Exception] = []

    def work(driver, mine) -> None:
        try:
            for share in mine:
                driver.create(share)
                allow(driver, share, ("10.99.0.21", "rw"))
        except (OSError, errors.DriverError) as error:
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=(who, shares[start::2]))
        for start, who in enumerate((driver, other))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    ids = {driver.exports._must(share.id).id for share in shares}
    assert len(ids) == len(shares)
    for share in shares:
        assert other.exports.enforced(share.id) == {("10.99.0.21", "rw")}
        other.delete(share)
    assert not ids & driver.exports._bus.ids()
    other.close()


def test_a_delete_killed_half_way_is_finished_by_the_next(driver, share):
    driver.exports.remove(share.id)
    driver._volumes.close(share.id)
    driver.delete(share)
    assert share.id not in driver.instances()
    assert not driver._volumes.source(share.id).exists()


def test_a_create_killed_half_way_is_finished_by_the_next(driver, lab):
    share = new_share()
    driver._begin(share)
    assert driver.instances()[share.id] == 1
    driver.create(share)
    allow(driver, share, ("10.99.0.21", "rw"))
    with NfsClient(lab.address, f"/{share.id}", namespace=lab.client(21)) as client:
        client.write("/file", b"hello")
    driver.delete(share)


def ballast(driver, share, size: int) -> None:
    """Take up *size* bytes of the share without writing them."""
    path = driver._volumes.source(share.id) / "data" / "ballast"
    with path.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, size)


def pid(conf, name: str) -> int:
    path = Path(conf[NAME].local_state_path) / "ganesha" / "run" / name
    return int(path.read_text().split()[0])


def ganesha(conf) -> int:
    return pid(conf, "ganesha.pid")
