"""``fileshare-manage db``: databases that are not there, purges, changes of data."""

from __future__ import annotations

import contextlib
import sqlite3
import threading

import pytest
from inprocess import HOST
from managing import run

from fileshare.cmd.manage import database
from fileshare.db.online import OnlineMigration


def configured(tmp_path, url):
    path = tmp_path / "manage.conf"
    path.write_text(
        f"[DEFAULT]\nstate_path = {tmp_path}\nhost = {HOST}\n[database]\nconnection = {url}\n"
    )
    return ("--config-file", str(path))


def test_a_database_that_is_not_there(tmp_path):
    """C167"""
    where = tmp_path / "nowhere.sqlite"
    config = configured(tmp_path, f"sqlite:///{where}")
    for words in (("service", "list"), ("db", "purge", "30"), ("db", "version")):
        result = run(None, *config, *words)
        assert result.code == 1
        assert str(where) in result.err
        assert "Traceback" not in result.err
        assert not where.exists(), "no command but db sync makes a database"
    config = configured(tmp_path, f"sqlite:///{tmp_path}/no/directory/db.sqlite")
    result = run(None, *config, "db", "sync")
    assert (result.code, "no/directory" in result.err) == (1, True)


@pytest.mark.parametrize("url", ["", " ", "nonsense", "oracle8://user:word@host/db"])
def test_a_url_that_names_no_database(tmp_path, url):
    """C167: an operator's command fails, and says what is wrong."""
    config = configured(tmp_path, url)
    for words in (("db", "purge", "30"), ("db", "sync"), ("db", "version"), ("service", "list")):
        with pytest.raises(SystemExit) as end:
            run(None, *config, *words)
        # A text goes to standard error, and the exit code is 1.
        assert "[database] connection is not the URL" in end.value.code
        assert "word" not in end.value.code


def test_a_database_without_tables_is_no_success(tmp_path):
    """C167"""
    where = tmp_path / "empty.sqlite"
    where.touch()
    config = configured(tmp_path, f"sqlite:///{where}")
    result = run(None, *config, "db", "purge", "30")
    assert result.code == 1
    assert "db sync" in result.err
    assert run(None, *config, "db", "sync").code == 0
    assert run(None, *config, "db", "purge", "30").code == 0


def test_a_new_database_that_another_program_writes_is_waited_for(tmp_path):
    """SQLite itself does not wait where it is told to write ahead."""
    where = tmp_path / "new.sqlite"
    other = sqlite3.connect(where, isolation_level=None, check_same_thread=False)
    with contextlib.closing(other):
        other.execute("BEGIN IMMEDIATE")
        end = threading.Timer(0.5, other.execute, ["COMMIT"])
        end.start()
        assert run(None, *configured(tmp_path, f"sqlite:///{where}"), "db", "sync").code == 0
        end.join()


def test_a_file_that_is_no_database(tmp_path):
    """It is not waited for, and the command says which file it is."""
    where = tmp_path / "letter.txt"
    where.write_bytes(b"Dear operator, " * 100)
    result = run(None, *configured(tmp_path, f"sqlite:///{where}"), "db", "sync")
    assert result.code == 1
    assert "not a database" in result.err
    assert "Traceback" not in result.err


# -- online-data-migrations ----------------------------------------------------------------


def test_online_data_migrations(manage, monkeypatch):
    result = manage("db", "online-data-migrations")
    assert (result.code, result.rows) == (0, [])
    assert "changes no data" in result.err
    left = [7]

    def step(session, limit):
        done = min(limit, left[0])
        found, left[0] = left[0], left[0] - done
        return found, done

    migrations = [OnlineMigration("halve", step)]
    monkeypatch.setattr(database.OnlineDataMigrations, "migrations", migrations)
    result = manage("db", "online-data-migrations", "--max-count", "5")
    assert (result.code, result.rows) == (1, [{"migration": "halve", "found": 7, "done": 5}])
    result = manage("db", "online-data-migrations")
    assert (result.code, result.rows[0]["done"]) == (0, 2)
    assert manage("db", "online-data-migrations", "--max-count", "0").code == 127

    def broken(session, limit):
        raise RuntimeError("no")

    monkeypatch.setattr(
        database.OnlineDataMigrations, "migrations", [OnlineMigration("broken", broken)]
    )
    result = manage("db", "online-data-migrations")
    assert (result.code, "no" in result.err) == (2, True)
