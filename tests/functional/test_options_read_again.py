"""What SIGHUP changes in a process that runs: how often it does what it does by the clock."""

from __future__ import annotations

import threading

import pytest
from inprocess import running
from oslo_db import exception as db_exception

from devstack.waiting import patience
from fileshare.cmd import bootstrap
from fileshare.intents import rounds
from fileshare.share.service import ShareDaemon


@pytest.fixture
def alpha(tmp_path):
    with running(tmp_path, backends=("alpha",), reconcile_interval=1000) as made:
        yield made


def rewrite(program, old, new):
    """Change a line of the configuration file, and have it read again."""
    path = program.state / "fileshare.conf"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    bootstrap.reread(program.conf)


def test_a_shorter_interval_holds_from_now_on(alpha, monkeypatch):
    """It is not waited for the end of a long one that has begun."""
    monkeypatch.setattr(rounds, "LOOK", 0.1)
    daemon = ShareDaemon(alpha.runtime, "alpha", "test")
    compared = threading.Semaphore(0)
    monkeypatch.setattr(daemon.reconciler, "look", lambda _alive: compared.release())
    daemon.start()
    try:
        rewrite(alpha, "reconcile_interval = 1000", "reconcile_interval = 1")
        for _ in range(2):
            assert compared.acquire(timeout=patience(30.0))
    finally:
        daemon.stop()


def test_what_cannot_work_changes_nothing(alpha, caplog):
    """Else every service were down between two heartbeats, for ever; at a start it is refused."""
    rewrite(alpha, "service_down_time = 1000000", "service_down_time = 15")
    assert (alpha.conf.service_down_time, alpha.conf.report_interval) == (15, 10)
    for wrong in ("service_down_time = 5", "service_down_time = 15\nreport_interval = 15"):
        rewrite(alpha, "service_down_time = 15", f"{wrong}\nreconcile_interval = 7")
        assert (alpha.conf.service_down_time, alpha.conf.report_interval) == (15, 10)
        assert alpha.conf.reconcile_interval == 1000
        assert "must be more than report_interval" in caplog.text
        caplog.clear()
        rewrite(alpha, f"{wrong}\nreconcile_interval = 7", "service_down_time = 15")
    rewrite(alpha, "service_down_time = 15", "service_down_time = 30\nreport_interval = 15")
    assert (alpha.conf.service_down_time, alpha.conf.report_interval) == (30, 15)


def test_a_value_of_another_kind_changes_nothing(alpha, caplog):
    """It is told in a line, and nothing beside it is taken."""
    rewrite(
        alpha, "reconcile_interval = 1000", "reconcile_interval = 7\nperiodic_interval = often"
    )
    assert alpha.conf.reconcile_interval == 1000
    assert "stay what they were: Value for option periodic_interval" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_lost_database_is_one_line_of_each_task(alpha, caplog, monkeypatch):
    """All tasks of all daemons say so for as long as it is away."""

    def lost(_function):
        raise db_exception.DBConnectionError(OSError("Connection refused"))

    daemon = ShareDaemon(alpha.runtime, "alpha", "test")
    task = next(each for each in daemon._periodics() if each.name == "report pools")
    monkeypatch.setattr(alpha.runtime.sessions, "run", lost)
    rounds.Repeated(task, daemon.host, alpha.runtime).once()
    (record,) = [each for each in caplog.records if "report pools" in each.getMessage()]
    assert record.getMessage().endswith("connection to the database: Connection refused")
    assert record.exc_info is None
