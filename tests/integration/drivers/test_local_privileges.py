"""The local driver in a process that is not root.

The interpreter starts as root, forks the helper of oslo.privsep or does not, and then becomes
«nobody» for good.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from devstack.servers import free_port
from tests.fixtures.local_backends import ended, local_conf, needs_local_driver

pytestmark = needs_local_driver

NOBODY = 65534

SCRIPT = """
import json, os, sys
import oslo_privsep.daemon
from oslo_privsep import priv_context
from fileshare.privileged import helper
from tests.fixtures import local_backends, backends
from fileshare import errors
from fileshare.drivers import loader
from fileshare.drivers.model import AccessChange, AccessRule

state, port, with_helper = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "helper"
conf = local_backends.local_conf(state, local_share_size=1, local_nfs_port=port)
driver = loader.load(conf, backends.NAME)
helper.context.set_client_mode(True)
if with_helper:
    helper.context.start(priv_context.Method.FORK)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
told = {"user": os.geteuid()}
try:
    driver.setup()
    driver.check()
    share = backends.new_share()
    told["exports"] = [export.path for export in driver.create(share)]
    driver.apply_access(share, AccessChange((AccessRule("1", "ip", "10.0.0.1", "rw"),)))
    told["enforced"] = sorted(driver.exports.enforced(share.id))
    driver.extend(share, 2)
    driver.shrink(share, 1)
    told["instances"] = driver.instances()
    driver.delete(share)
    told["left"] = driver.instances()
    driver.close()
except errors.DriverError as error:
    told["error"] = [error.code, error.operator_text]
print(json.dumps(told))
sys.stdout.flush()
os._exit(0)
"""


@pytest.fixture
def state():
    """A directory of nobody's that nobody can reach, unlike pytest's own temporary ones."""
    state = Path(tempfile.mkdtemp(prefix="fileshare-nobody-"))
    os.chown(state, NOBODY, NOBODY)
    yield state
    ended(local_conf(state, local_share_size=1))
    shutil.rmtree(state)


def run(state: Path, port: int, *arguments: str) -> dict:
    result = subprocess.run(
        (sys.executable, "-c", SCRIPT, str(state), str(port), *arguments),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert result.stdout, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def test_with_the_helper_all_works(state):
    told = run(state, free_port(), "helper")
    assert told["user"] == NOBODY
    assert "error" not in told
    assert told["enforced"] == [["10.0.0.1", "rw"]]
    assert list(told["instances"].values()) == [1]
    assert told["left"] == {}


def test_without_it_the_driver_says_what_is_missing(state):
    told = run(state, free_port(), "alone")
    code, text = told["error"]
    assert code == "driver.privilege_missing"
    assert "Run the daemon as root" in text
    assert "privsep-helper" in text
