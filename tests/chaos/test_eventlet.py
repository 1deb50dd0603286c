"""One run from a request to its end on eventlet, which operators may choose instead of threads.

The environment of the tests must do without it: ``devstack/test.sh`` installs it beside, into a
directory that only the daemons of this test are shown. ``FILESHARE_EVENTLET`` names another one.
"""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import RuleState, Status
from tests.chaos import truth
from tests.chaos.deployment import deployment, until

BESIDE = pathlib.Path(os.environ.get("FILESHARE_EVENTLET", f"{sys.prefix}/eventlet"))
DAEMONS = ("scheduler", "share")
WORKERS = 6  # of each daemon; as threads of the system they would show

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.timeout(180),
    pytest.mark.skipif(
        not (BESIDE / "eventlet").is_dir(), reason=f"devstack/test.sh installs it: {BESIDE}"
    ),
]


@pytest.fixture
def cloud(tmp_path):
    with deployment(tmp_path, f"sqlite:///{tmp_path}/fileshare.db") as made:
        made.node(backends=("alpha",), intents={"workers": WORKERS})
        yield made


@pytest.fixture
def sessions(cloud):
    made = Sessions(create_engine(cloud.database))
    migration.upgrade(made.engine)
    yield made
    made.dispose()


def start(cloud, **environment):
    """Start the API on threads, and the daemons as *environment* says."""
    cloud.start("api")
    for program in DAEMONS:
        cloud.start(program, **environment)
    until(cloud.serves, "the API serves")
    for program in DAEMONS:
        until(lambda program=program: cloud.children(program), f"{program} has a child")


def threads(cloud, program):
    """The number of threads of a daemon that its system knows of."""
    (child,) = cloud.children(program)
    return len(list(pathlib.Path(f"/proc/{child}/task").iterdir()))


def test_daemons_run_on_eventlet(cloud, sessions):
    path = os.pathsep.join([str(BESIDE), *filter(None, [os.environ.get("PYTHONPATH")])])
    start(cloud, FILESHARE_CONCURRENCY="eventlet", PYTHONPATH=path)
    cloud.make_type()
    share_id = cloud.create().json()["share"]["id"]
    until(lambda: truth.is_idle(sessions), "the share is made")
    assert cloud.allow(share_id, "10.0.0.1").status_code == 200
    until(lambda: truth.is_idle(sessions), "the rule is applied")
    found = truth.read(sessions)
    truth.check(found, cloud.held("alpha"))
    assert found.by_status() == {Status.AVAILABLE: 1}
    assert [rule.state for rule in found.rules] == [RuleState.ACTIVE]
    # What would be a thread of the system otherwise is a green one.
    counts = {program: threads(cloud, program) for program in DAEMONS}
    assert max(counts.values()) < WORKERS, counts
    for program in ("share", "scheduler", "api"):
        assert cloud.stop(program) < 20, program


def test_daemons_run_on_threads(cloud, sessions):
    """By default: this is what the count above would show."""
    start(cloud)
    for program in DAEMONS:
        until(lambda program=program: threads(cloud, program) > WORKERS, f"threads of {program}")
