"""How the local driver starts, and how it says why it cannot."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import threading

import pytest

from devstack.servers import free_port
from devstack.waiting import patience
from fileshare import errors
from fileshare.drivers import loader
from fileshare.drivers.exports import server
from fileshare.privileged import servers
from tests.fixtures import waiting
from tests.fixtures.backends import NAME, new_share, started
from tests.fixtures.local_backends import local_conf, needs_local_driver


@pytest.fixture
def ganesha(monkeypatch, tmp_path):
    """A function that has a shell script run as NFS-Ganesha."""

    def put(script):
        program = tmp_path / "instead" / "ganesha.nfsd"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return put


@pytest.fixture
def dead_directory(tmp_path):
    """A mount point whose server never answers: whoever asks for an attribute waits."""
    point = tmp_path / "dead"
    point.mkdir()
    server_side = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={server_side},rootmode=40000,user_id=0,group_id=0"
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        if libc.mount(b"dead", bytes(point), b"fuse", 0, options.encode()):
            pytest.skip(f"FUSE cannot be mounted: {os.strerror(ctypes.get_errno())}")
        yield point
    finally:
        os.close(server_side)  # who waits is told that nobody will answer
        libc.umount(bytes(point))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "Neither local_share_path nor local_share_size"),
        ({"local_share_size": 1, "local_export_ips": []}, "local_export_ips is not set"),
        ({"local_share_size": 1, "local_export_ips": ["host"]}, "local_export_ips"),
    ],
)
def test_options_that_cannot_work(tmp_path, options, reason):
    with pytest.raises(errors.BadConfiguration) as caught:
        loader.load(local_conf(tmp_path, **options), NAME)
    assert reason in caught.value.operator_text


class TestAsRoot:
    pytestmark = needs_local_driver

    def test_a_missing_package_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setattr(server.shutil, "which", lambda _: None)
        driver = loader.load(local_conf(tmp_path, local_share_path=str(tmp_path)), NAME)
        with pytest.raises(errors.PrivilegeMissing) as caught:
            driver.setup()
        assert "ganesha.nfsd, dbus-daemon" in caught.value.operator_text
        assert "nfs-ganesha-vfs" in caught.value.operator_text

    def test_a_directory_that_is_not_there_is_refused(self, tmp_path):
        conf = local_conf(tmp_path, local_share_path=str(tmp_path / "missing"))
        with pytest.raises(errors.BadConfiguration) as caught:
            loader.load(conf, NAME).setup()
        assert "is no directory" in caught.value.operator_text

    def test_another_file_system_below_the_mount_point_is_refused(self, local_backend, tmp_path):
        shares = tmp_path / "shares"
        shares.mkdir()
        conf = local_backend(local_share_path=str(shares))
        driver = started(conf)
        share = new_share()
        driver.create(share)
        shares.rename(tmp_path / "mounted")
        shares.mkdir()
        with pytest.raises(errors.BadConfiguration) as caught:
            loader.load(conf, NAME).setup()
        assert "is its file system mounted" in caught.value.operator_text
        with pytest.raises(errors.BackendBusy):
            driver.check()
        shares.rmdir()
        (tmp_path / "mounted").rename(shares)
        driver.check()
        driver.delete(share)
        driver.close()

    def test_the_report_says_whether_sizes_are_enforced(self, local_backend, tmp_path):
        for options, enforced in (
            ({"local_share_size": 1}, True),
            ({"local_share_path": str(tmp_path)}, False),
        ):
            conf = local_backend(**options)
            driver = started(conf)
            (pool,) = loader.backend_report(driver, conf)
            assert pool["size_enforced"] is enforced
            assert pool["storage_protocol"] == "NFS"
            assert pool["thin_provisioning"] is True
            assert 0 < pool["free_capacity_gb"] <= pool["total_capacity_gb"]
            assert pool["snapshot_support"] is False
            driver.close()

    def test_a_busy_port_is_reported_with_a_reason(self, local_backend):
        import socket

        conf = local_backend(local_share_size=1)
        with socket.create_server(("127.0.0.1", conf[NAME].local_nfs_port)):
            driver = loader.load(conf, NAME)
            with pytest.raises(errors.BackendBusy) as caught:
                driver.setup()
            driver.close()
            assert "did not start" in caught.value.operator_text

    def test_a_server_that_takes_its_time_is_waited_for(self, local_backend, ganesha):
        """It goes to the background at once, and writes its pid when it comes to that."""
        real = shutil.which("ganesha.nfsd")
        ganesha(f'(sleep 2; exec {real} "$@") >/dev/null 2>&1 &')
        started(local_backend(local_share_size=1)).close()

    def test_it_is_seen_alive_in_whatever_process_it_is(self, local_backend, ganesha, tmp_path):
        """At any moment it may be in the middle of a fork, or of becoming another program."""
        real = shutil.which("ganesha.nfsd")
        steps = tmp_path / "steps"
        steps.write_text(
            "#!/bin/sh\nsteps=$1; shift\n"
            f'[ $steps -gt 0 ] || exec {real} "$@"\n'
            '"$0" $((steps - 1)) "$@" &\n'
        )
        steps.chmod(0o755)
        ganesha(f'{steps} 200 "$@" >/dev/null 2>&1 &')
        started(local_backend(local_share_size=1)).close()

    def test_one_that_is_about_to_start_is_adopted(
        self, local_backend, ganesha, monkeypatch, tmp_path
    ):
        """Who started it may be gone before it has a pid."""
        real, starts = shutil.which("ganesha.nfsd"), tmp_path / "starts"
        ganesha(f'echo >>{starts}; (sleep 2; exec {real} "$@") >/dev/null 2>&1 &')
        conf = local_backend(local_share_size=1)
        with monkeypatch.context() as impatient:
            impatient.setattr(server, "START_SECONDS", 0.0)
            with pytest.raises(errors.BackendBusy):
                started(conf)
        started(conf).close()
        assert starts.read_text() == "\n"

    def test_one_that_does_not_get_to_its_pid_is_ended(
        self, local_backend, ganesha, monkeypatch, tmp_path
    ):
        pids = tmp_path / "pids"
        ganesha(f"echo $$ >>{pids}; (exec sleep 1000) >/dev/null 2>&1 &")
        monkeypatch.setattr(server, "START_SECONDS", 0.5)
        conf = local_backend(local_share_size=1)
        for starts in (1, 2):
            with pytest.raises(errors.BackendBusy):
                started(conf)
            assert len(pids.read_text().split()) == starts
        exports = loader.load(conf, NAME).exports
        lock = str(exports.settings.state / "run" / "ganesha.lock")
        assert servers.held(lock)
        exports.end()
        assert not servers.held(lock)

    def test_it_is_ended_where_another_file_system_hangs(self, tmp_path, dead_directory):
        """It may be its own, mounted by a client on the same machine."""
        lock = tmp_path / "lock"
        holder = subprocess.Popen(("flock", lock, "sleep", "1000"))
        waiting.until(lambda: servers.held(str(lock)), "the lock is held")
        open_file = os.open(dead_directory, os.O_PATH)
        ending = threading.Thread(target=servers.end, args=("no-config", None, str(lock)))
        ending.start()
        ending.join(patience(30))
        still_ending = ending.is_alive()
        os.close(open_file)
        assert not still_ending
        assert not servers.held(str(lock))
        holder.wait()

    def test_one_that_ends_at_once_is_not(self, local_backend, ganesha, monkeypatch):
        ganesha("exit 0")
        monkeypatch.setattr(server, "START_SECONDS", 1000.0)
        driver = loader.load(local_backend(local_share_size=1), NAME)
        with pytest.raises(errors.BackendBusy) as caught:
            driver.setup()
        driver.close()
        assert "did not start" in caught.value.operator_text

    def test_the_pool_grows_with_its_option(self, local_backend):
        conf = local_backend(local_share_size=1)
        driver = started(conf)
        share = new_share()
        driver.create(share)
        (before,) = driver.pools()
        driver.close()
        conf.set_override("local_share_size", 3, group=NAME)
        again = started(conf)
        (after,) = again.pools()
        assert (before.total, after.total) == (1.0, 3.0)
        again.delete(share)
        again.close()

    def test_other_options_of_the_server_hold_after_a_restart(self, local_backend):
        import socket

        conf = local_backend(local_share_size=1)
        started(conf).close()
        port = free_port()
        conf.set_override("local_nfs_port", port, group=NAME)
        again = started(conf)
        socket.create_connection(("127.0.0.1", port)).close()
        again.close()
