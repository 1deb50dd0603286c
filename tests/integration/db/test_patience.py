"""A step changes a table that is in use: whoever uses it goes on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import migration, patience
from fileshare.db.session import create_engine
from tests.chaos.deployment import until

BEFORE, STEP = "e0009", "e0010"
LOOK = "SELECT id FROM shares"
WAITS = (
    "SELECT 1 FROM information_schema.processlist WHERE state = 'Waiting for table metadata lock'"
)


def test_a_step_gives_way(mariadb_url, monkeypatch):
    """A transaction has read the table and goes on for long: others read it meanwhile."""
    tried = []
    monkeypatch.setattr(patience.LOG, "info", lambda *words: tried.append(words))
    migration.upgrade(mariadb_url, BEFORE)
    engine = create_engine(mariadb_url)
    with ThreadPoolExecutor(1) as pool, engine.connect() as first, engine.connect() as second:
        first.exec_driver_sql(LOOK)
        step = pool.submit(migration.upgrade, mariadb_url, STEP)
        try:
            until(lambda: second.exec_driver_sql(WAITS).all(), "the step waits")
            second.exec_driver_sql("SET SESSION lock_wait_timeout = 10")
            assert second.exec_driver_sql(LOOK).all() == []
            second.rollback()
            until(lambda: len(tried) >= 2, "it tries again")
            assert not step.done()
        finally:
            first.rollback()
            second.rollback()
        step.result(60)
        assert second.exec_driver_sql("SELECT @@SESSION.lock_wait_timeout").scalar_one() == 10
    engine.dispose()
    assert STEP in {*migration.version(mariadb_url).values()}


def test_afterwards_the_connection_waits_as_before(mariadb_url):
    engine = sa.create_engine(mariadb_url)
    with engine.connect() as connection:
        ask = "SELECT @@SESSION.lock_wait_timeout"
        usual = connection.exec_driver_sql(ask).scalar_one()
        with patience.patient(connection):
            assert connection.exec_driver_sql(ask).scalar_one() == patience.WAIT
        assert connection.exec_driver_sql(ask).scalar_one() == usual
    engine.dispose()


def test_a_lost_connection_is_told_as_such(mariadb_url):
    """Not as what its loss did to the clearing up."""
    engine = create_engine(mariadb_url)
    with engine.connect() as connection:
        mine = connection.exec_driver_sql("SELECT CONNECTION_ID()").scalar_one()
        with pytest.raises(db_exception.DBConnectionError), patience.patient(connection):
            connection.exec_driver_sql(f"KILL {mine}")
    engine.dispose()


def test_who_waits_in_vain_for_another_change_makes_none(mariadb_url, monkeypatch):
    _, values = migration._TAKE["mysql"]
    monkeypatch.setitem(values, "wait", 0)
    engine = create_engine(mariadb_url)
    with (
        migration._exclusive(engine),
        pytest.raises(errors.Conflict, match="Another process"),
    ):
        migration.upgrade(mariadb_url)
    assert sa.inspect(engine).get_table_names() == []
    migration.upgrade(engine, BEFORE)
    engine.dispose()
