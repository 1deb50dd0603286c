"""Requests over HTTP about shares of the local driver, with real NFS clients that feel them."""

from __future__ import annotations

import errno
import subprocess
import threading

import pytest
from granting import backend_of, deny, forty_at_once, grant, show, update
from inprocess import ADMIN, running
from waiting import until

from fileshare.privileged import btrfs
from tests.fixtures.local_backends import ended, needs_local_driver
from tests.fixtures.nfs_client import REFUSED, NfsClient, available

pytestmark = [
    *needs_local_driver,
    pytest.mark.skipif(not available(), reason="libnfs is not installed"),
]


@pytest.fixture(scope="module", params=["local", "local_btrfs"])
def api(lab, request, tmp_path_factory):
    """The program with one back end, of each driver that serves data."""
    path = tmp_path_factory.mktemp(request.param)
    section = (
        f"share_driver = {request.param}",
        f"local_state_path = {path}/state",
        "local_share_size = 8",
        f"local_export_ips = {lab.address},{lab.address6}",
    )
    with running(path, backends=("data",), sections={"data": section}) as made:
        made.share_type("data", snapshot_support=str(request.param == "local_btrfs"))
        yield made
        made.drivers["data"].close()
        ended(made.conf, "data")


@pytest.fixture
def share(api):
    """A share that is available, and gone after the test."""
    id = api.new_share(share_type="data")
    yield id
    if api.get(f"/shares/{id}").status == 200:
        assert api.act(id, "force_delete", as_=ADMIN).status == 202
        api.drain()
    api.check()


def instance_of(api, share):
    return api.read_share(share).instance.id


def table(api, share):
    """The export table of the back end: (client, level) of each of the share's."""
    driver = api.drivers[backend_of(api, share)]
    return driver.exports.enforced(instance_of(api, share))


@pytest.fixture
def mount(lab, api, share):
    """A function that mounts the share as machine NUMBER of the lab."""
    mounted = []

    def mount(number, address=lab.address):
        path = f"/{instance_of(api, share)}"
        mounted.append(NfsClient(address, path, namespace=lab.client(number)))
        return mounted[-1]

    yield mount
    for client in mounted:
        client.close()


def refused(mount, number, *address):
    with pytest.raises(OSError) as caught:
        mount(number, *address)
    return caught.value.errno in REFUSED


def test_the_export_table_has_all_of_forty_grants_at_once(api, share):
    """C001"""
    clients = forty_at_once(api, share)
    assert table(api, share) == {(client, "rw") for client in clients}


@pytest.mark.parametrize("everyone", ["0.0.0.0/0", "::/0"])
def test_a_rule_for_everybody_lets_everybody_mount(api, share, mount, lab, everyone):
    """C006: as long as it is active, and nobody afterwards."""
    address = lab.address6 if ":" in everyone else lab.address
    assert refused(mount, 21, address)
    rule = grant(api, share, everyone)
    api.drain()
    assert show(api, rule)["state"] == "active"
    for number in (21, 22):
        mount(number, address).write(f"/of-{number}", b"hello")
    assert deny(api, share, rule).status == 202
    api.drain()
    assert api.get(f"/share-access-rules/{rule}").status == 404
    for number in (21, 22):
        assert refused(mount, number, address)


class Loop:
    """Does one thing all the time; how often it worked, and what it met with otherwise."""

    def __init__(self, action):
        self.action = action
        self.done, self.failed = 0, []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._stop.is_set():
            try:
                self.action()
                self.done += 1
            except OSError as error:
                self.failed.append(error.errno)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def goes_on(self, what):
        """Wait until it has worked twice more: once from its beginning."""
        seen = self.done
        until(lambda: self.done >= seen + 2, what)


def test_the_level_of_a_rule_changes_under_a_client_that_works(api, share, mount, lab):
    """C011: reads never fail, and writes only while the rule is to read."""
    rule = grant(api, share, "10.99.0.21")
    api.drain()
    reader = mount(21)
    reader.write("/kept", b"kept")
    where = (lab.address, f"/{instance_of(api, share)}")

    def write():
        # A mount for each: libnfs loses count of its opens at the first that is refused.
        with NfsClient(*where, namespace=lab.client(21)) as client:
            client.write("/file", b"hello")

    def read():
        assert reader.read("/kept") == b"kept"

    with Loop(read) as reads, Loop(write) as writes:
        writes.goes_on("the client writes")
        for level in ("ro", "rw") * 5:
            assert update(api, rule, level).status == 200
            api.drain()
            assert show(api, rule)["state"] == "active"
            if level == "rw":
                writes.goes_on("the client writes again")
                continue
            with pytest.raises(OSError) as caught:
                write()
            assert caught.value.errno == errno.EROFS
            reads.goes_on("the client reads")
    assert reads.failed == []
    assert set(writes.failed) <= {errno.EROFS}


def test_what_is_removed_by_hand_is_deleted_through_the_api(api, share, mount):
    """C054: the rule goes, and the share, though no volume is left."""
    rule = grant(api, share, "10.99.0.21")
    api.drain()
    mount(21).write("/file", b"hello")
    volumes = api.drivers["data"]._volumes
    source = volumes.source(instance_of(api, share))
    point = volumes._mount_point(instance_of(api, share))
    subprocess.run(("umount", "--lazy", str(point)), check=True)
    btrfs.delete_subvolume(str(source), str(volumes.top))
    assert not source.exists()
    assert deny(api, share, rule).status == 202
    api.drain()
    assert api.get(f"/share-access-rules/{rule}").status == 404
    assert table(api, share) == set()
    assert api.delete(f"/shares/{share}").status == 202
    api.drain()
    assert api.get(f"/shares/{share}").status == 404
    api.check()
