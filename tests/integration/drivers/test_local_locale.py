"""The local driver in a daemon that speaks another language, whose numbers have a comma."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.chaos.deployment import ADMIN
from tests.fixtures.local_backends import needs_local_driver
from tests.fixtures.local_clouds import gone, local_cloud, settled, state_path
from tests.fixtures.waiting import until

__all__ = ["local_cloud"]

SOURCE = Path("/usr/share/i18n/locales/de_DE")
GERMAN = "de_DE.UTF-8"

pytestmark = [
    *needs_local_driver,
    pytest.mark.skipif(
        not SOURCE.exists() and not os.environ.get("CI"),
        reason="the Debian package locales is not installed",
    ),
]

PASSING = {"timestamp", "free_capacity_gb"}


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """The environment of a process that runs in the locale, which is made for it."""
    where = tmp_path_factory.mktemp("locales")
    make = ["localedef", "-i", SOURCE.name, "-f", "UTF-8", "--no-archive", str(where / GERMAN)]
    subprocess.run(make, check=True, capture_output=True)
    environment = {"LC_ALL": GERMAN, "LANGUAGE": "de", "LOCPATH": str(where)}
    shown = subprocess.run(
        ["printf", "%.1f", "1,5"],
        capture_output=True,
        env={**os.environ, **environment},
        check=True,
    )
    assert shown.stdout == b"1,5"
    return environment


def pool(cloud):
    """What the only pool says of itself, once it does."""

    def pools():
        return cloud.ask("GET", "/scheduler-stats/pools/detail", as_=ADMIN).json()["pools"]

    until(pools, "the back end reports its pool")
    (found,) = pools()
    return found["capabilities"]


def steady(cloud):
    """What of it is the same in each run; what is free must be what the kernel says is."""

    def free():
        held = os.statvfs(state_path(cloud) / "pool")
        return held.f_bavail * held.f_frsize / 2**30

    until(lambda: abs(pool(cloud)["free_capacity_gb"] - free()) < 0.05, "what is free is reported")
    return {key: value for key, value in pool(cloud).items() if key not in PASSING}


def resized(cloud, share_id, action, size):
    answer = cloud.ask("POST", f"/shares/{share_id}/action", {action: {"new_size": size}})
    assert answer.status_code == 202, answer.text
    shown = settled(cloud, share_id)
    return shown["status"], shown["size"]


def life(cloud, environment):
    """What a run of the program says of its pool, and of a share from its making to its end."""
    cloud.start("standalone", **environment)
    until(cloud.serves, "the program serves")
    if not cloud.ask("GET", "/types").json()["share_types"]:
        cloud.make_type()
    told = {"empty": steady(cloud)}
    answer = cloud.create("one", 2)
    assert answer.status_code == 200, answer.text
    share_id = answer.json()["share"]["id"]
    made = settled(cloud, share_id)
    told["made"] = {key: made[key] for key in ("status", "size", "share_proto", "host")}
    until(lambda: pool(cloud)["allocated_capacity_gb"] == 2, "the pool is reported anew")
    told["holding"] = steady(cloud)
    told["extended"] = resized(cloud, share_id, "extend", 3)
    (data,) = (state_path(cloud) / "pool" / "volumes").glob("*/data")
    (data / "ballast").write_bytes(bytes(300 * 2**20))
    # The driver asks btrfs what the share holds; read wrongly, it would be too much.
    told["shrunk"] = resized(cloud, share_id, "shrink", 1)
    cloud.ask("DELETE", f"/shares/{share_id}")
    until(lambda: gone(cloud, share_id), "the share is deleted")
    until(lambda: pool(cloud)["allocated_capacity_gb"] == 0, "the pool is reported anew")
    return told


def locale_of(pid):
    words = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(word.split("=", 1) for word in words if "=" in word).get("LC_ALL")


def test_numbers_are_the_same_in_every_locale(local_cloud, german):
    """C115: of the pools, of shares, and of what these hold; by a daemon that runs in German."""
    cloud, told = local_cloud, {}
    for name, environment in ((GERMAN, german), ("C", {"LC_ALL": "C"})):
        told[name] = life(cloud, environment)
        assert locale_of(cloud.running["standalone@node"].pid) == name
        cloud.stop("standalone")
    assert told[GERMAN] == told["C"]
    assert told["C"]["empty"]["total_capacity_gb"] == 8
    assert told["C"]["made"]["status"] == "available"
    assert (told["C"]["extended"], told["C"]["shrunk"]) == (("available", 3), ("available", 1))
    # Started by the daemon that runs in German.
    run = state_path(cloud) / "ganesha" / "run"
    assert locale_of(int((run / "ganesha.pid").read_text())) == "C"
