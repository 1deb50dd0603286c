"""One run from a request to its end on eventlet, which operators may choose instead of threads.

It runs where ``FILESHARE_EVENTLET_PROGRAMS`` names the directory of programs of an environment
that has eventlet; the one of the tests must do without it.
"""

from __future__ import annotations

import os
import pathlib

import pytest

from fileshare.db import migration
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import RuleState, Status
from tests.chaos import truth
from tests.chaos.deployment import deployment, until

VARIABLE = "FILESHARE_EVENTLET_PROGRAMS"

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(180)]


@pytest.mark.skipif(VARIABLE not in os.environ, reason=f"{VARIABLE} names no programs")
def test_daemons_run_on_eventlet(tmp_path):
    with deployment(tmp_path, f"sqlite:///{tmp_path}/fileshare.db") as cloud:
        cloud.programs = pathlib.Path(os.environ[VARIABLE])
        cloud.node(backends=("alpha",))
        sessions = Sessions(create_engine(cloud.database))
        migration.upgrade(sessions.engine)
        cloud.start("api")
        for program in ("scheduler", "share"):
            cloud.start(program, FILESHARE_CONCURRENCY="eventlet")
        until(cloud.serves, "the API serves")
        cloud.make_type()
        share_id = cloud.create().json()["share"]["id"]
        until(lambda: truth.is_idle(sessions), "the share is made")
        assert cloud.allow(share_id, "10.0.0.1").status_code == 200
        until(lambda: truth.is_idle(sessions), "the rule is applied")
        found = truth.read(sessions)
        truth.check(found, cloud.held("alpha"))
        assert found.by_status() == {Status.AVAILABLE: 1}
        assert [rule.state for rule in found.rules] == [RuleState.ACTIVE]
        for program in ("share", "scheduler", "api"):
            assert cloud.stop(program) < 20, program
        sessions.dispose()
