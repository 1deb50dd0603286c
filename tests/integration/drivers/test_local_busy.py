"""Shares of the local driver that somebody on the machine still uses when they are deleted."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.fixtures.local_backends import mine_now, needs_local_driver
from tests.fixtures.local_clouds import gone, local_cloud, settled, state_path
from tests.fixtures.waiting import until

__all__ = ["local_cloud"]

pytestmark = needs_local_driver

SECONDS = 10
HOLD = """
import os, sys, time
os.chdir(sys.argv[1])
held = open("held", "w")
print("holds", flush=True)
time.sleep(float(sys.argv[2]))
"""


def holder(path, *inside):
    """A process that works in a directory for a while, and then goes."""
    process = subprocess.Popen(
        [*inside, sys.executable, "-c", HOLD, str(path), str(SECONDS)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "holds\n"
    return process


@pytest.mark.parametrize(
    "inside",
    [(), ("unshare", "--mount", "--propagation=private")],
    ids=["this namespace", "another namespace"],
)
def test_a_share_that_is_in_use_goes_by_itself(local_cloud, inside):
    """C114: DELETE is tried again until the mount is let go of, and then all is gone."""
    local_cloud.start("standalone")
    until(local_cloud.serves, "the program serves")
    local_cloud.make_type()
    answer = local_cloud.create("one", 1)
    assert answer.status_code == 200, answer.text
    share_id = answer.json()["share"]["id"]
    assert settled(local_cloud, share_id)["status"] == "available"
    state = state_path(local_cloud)
    (volume,) = (state / "pool" / "volumes").iterdir()
    (mounted,) = (path for path in mine_now(str(state)) if volume.name in path)
    with holder(mounted, *inside):
        assert local_cloud.ask("DELETE", f"/shares/{share_id}").status_code == 202
        until(lambda: gone(local_cloud, share_id), "the share is gone", 60)
    assert list((state / "pool" / "volumes").iterdir()) == []
    assert list((state / "pool" / "records").glob("*.json")) == []
    assert mounted not in mine_now(str(state))
    local_cloud.stop("standalone")
