"""The quick start, from nothing to a file in a share and back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from devstack.servers import free_port
from devstack.supervisor import OWNER
from tests.fixtures.clouds import ROOT

pytestmark = [
    pytest.mark.integration,
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting and serving NFS need root"),
    *(
        pytest.mark.skipif(
            shutil.which(program) is None and not os.environ.get("CI"),
            reason=f"{program} is not installed",
        )
        for program in ("ganesha.nfsd", "dbus-daemon", "mkfs.btrfs")
    ),
]

# A network and mounts of its own: a quick start that runs on this machine is left alone.
ALONE = (
    "mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up"
    ' && exec "$0" -m devstack.quickstart "$@"'
)


def _quickstart(where, *arguments):
    return subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", ALONE, sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "FILESHARE_QUICKSTART": str(where), OWNER: str(os.getpid())},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_once_and_again(tmp_path):
    where = tmp_path / "quickstart"
    for outcome in ("default is made", "default is there"):
        done = _quickstart(where, "--once", f"--port={free_port()}")
        assert done.returncode == 0, done.stdout + done.stderr
        assert outcome in done.stdout
        assert "19 bytes, the same" in done.stdout
        assert done.stdout.count("no such export for it") == 2
        assert "All steps passed" in done.stdout
        assert done.stdout.endswith("Stopped.\n")
    assert (where / "openrc").stat().st_mode & 0o077 == 0


def test_purge_removes_the_data(tmp_path):
    where = tmp_path / "quickstart"
    where.mkdir()
    done = _quickstart(where, "--purge")
    assert done.returncode == 0, done.stderr
    assert not where.exists()
