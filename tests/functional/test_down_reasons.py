"""Why a back end is down can be read where its daemon tells it, and by nobody who may not."""

from __future__ import annotations

import contextlib
import json

import managing
import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, running
from waiting import until

from fileshare.db.clock import after
from fileshare.db.models import Member, PoolReport, Service
from fileshare.share.service import ShareDaemon

ALPHA = f"{HOST}@alpha"


@pytest.fixture
def cloud(tmp_path):
    """A back end of which nobody has heard yet; its daemons look often."""
    options = {"report_interval": 1, "periodic_interval": 1, "service_down_time": 30}
    with running(tmp_path, backends=("alpha",), **options) as made:
        for model in (Member, PoolReport, Service):
            made.write(sa.delete(model))
        yield made


def faults(cloud, *failures):
    """Let the back end fail as told; without failures, no more."""
    (cloud.state / "alpha" / "control.json").write_text(json.dumps({"fail": failures}))


@contextlib.contextmanager
def serving(cloud, process="one"):
    daemon = ShareDaemon(cloud.runtime, "alpha", process)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def row(cloud, command):
    """State and reason of the back end, as a command lists it."""
    answer = managing.run(cloud.runtime, command, "list", "-f", "json")
    assert answer.code == 0, answer.err
    return next(
        ((each["state"], each["down_reason"]) for each in answer.rows if each["host"] == ALPHA),
        None,
    )


def told(cloud, words):
    """Whether a back end is down, and says *words* of it."""
    state, reason = row(cloud, "service") or ("", "")
    return state == "down" and words in (reason or "")


def is_up(cloud):
    return row(cloud, "service") == ("up", None)


def test_a_back_end_that_never_worked_is_there_and_says_why(cloud):
    faults(cloud, "setup")
    with serving(cloud):
        until(lambda: told(cloud, "Told to fail at setup"), "it says why")
        assert row(cloud, "backend") == row(cloud, "service")
        (service,) = cloud.get("/services", as_=ADMIN)["services"]
        assert (service["host"], service["state"], service["status"]) == (ALPHA, "down", "enabled")
        assert "Told to fail" not in str(service)
        faults(cloud)
        until(lambda: is_up(cloud), "it works, and nothing is wrong any more")
        assert row(cloud, "backend") == ("up", None)


def test_a_back_end_that_stops_working_says_why(cloud):
    with serving(cloud):
        until(lambda: is_up(cloud), "it works")
        cloud.conf.set_override("service_down_time", 2)
        faults(cloud, "check")
        until(lambda: told(cloud, "Told to fail at check"), "it says why")


def test_what_a_daemon_lacks_counts_only_while_none_serves(cloud):
    with serving(cloud):
        until(lambda: is_up(cloud), "it works")
        faults(cloud, "setup")
        with serving(cloud, "two") as second:
            until(lambda: second.reason != "The driver has not been set up yet.", "it fails")
            assert row(cloud, "service")[0] == "up"
            assert row(cloud, "service")[1] is None
        faults(cloud)


def test_a_new_back_end_waits_for_an_administrator_although_it_failed(cloud):
    """What enable_new_services says holds from the first time that it is heard of."""
    cloud.conf.set_override("enable_new_services", False)
    faults(cloud, "setup")
    with serving(cloud):
        until(lambda: told(cloud, "Told to fail at setup"), "it says why")
        faults(cloud)
        until(lambda: is_up(cloud), "it works")
        (service,) = cloud.get("/services", as_=ADMIN)["services"]
        assert service["status"] == "disabled"


def test_one_that_never_worked_is_not_forgotten_at_once(cloud):
    """What an administrator says of it holds while its driver is being mended."""
    faults(cloud, "setup")
    with serving(cloud):
        until(lambda: told(cloud, "Told to fail at setup"), "it says why")
    cleanup = ("service", "cleanup", "-f", "json")
    assert managing.run(cloud.runtime, *cleanup).rows == []
    cloud.write(sa.update(Service).values(created_at=after(-2 * 86400)))
    assert [each["host"] for each in managing.run(cloud.runtime, *cleanup).rows] == [ALPHA]
