"""``fileshare-manage db``: databases that are not there, purges, changes of data."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import HOST, PROJECT
from managing import run

from fileshare.cmd.manage import database
from fileshare.db import purge
from fileshare.db.clock import after
from fileshare.db.models import (
    AccessRule,
    ExportLocation,
    Intent,
    Message,
    Share,
    ShareInstance,
    ShareMetadata,
)
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


# -- purge ---------------------------------------------------------------------------------


def age_deletions(program, days):
    for model in (Share, ShareInstance):
        program.write(
            sa.update(model)
            .where(model.deleted_at.is_not(None))
            .values(deleted_at=after(-days * 86400)),
        )


def test_purge(program, manage):
    kept = program.new_share(metadata={"a": "b"})
    gone = [program.new_share(metadata={"a": "b"}) for _ in range(3)]
    young = program.new_share()
    for id in gone:
        assert program.delete(f"/shares/{id}").status == 202
    program.drain()
    # What a deletion of another release may have left.
    instance = program.scalar(sa.select(ShareInstance.id).where(ShareInstance.share_id == gone[0]))
    program.write(sa.insert(ExportLocation).values(share_instance_id=instance, path="x"))
    age_deletions(program, 31)
    assert program.delete(f"/shares/{young}").status == 202
    program.drain()
    program.write(sa.update(Intent).values(closed_at=after(-31 * 86400)))
    program.write(
        sa.insert(Message).values(
            project_id=PROJECT, action_id="001", message_level="ERROR", expires_at=after(-1)
        ),
    )
    shares = program.count(Share)
    dry = manage("db", "purge", "30", "--dry-run")
    assert {row["table"]: row["to remove"] for row in dry.rows} == {
        "shares": 3, "share_instances": 3, "intents": 9, "messages": 1,
    }  # fmt: skip
    assert program.count(Share) == shares
    result = manage("db", "purge", "30", "--batch", "2")
    removed = {row["table"]: row["removed"] for row in result.rows}
    assert removed["shares"] == removed["share_instances"] == 3
    assert removed["share_metadata"] == 3
    assert removed["share_instance_export_locations"] == 1
    assert (removed["intents"], removed["messages"]) == (9, 1)
    assert "rows removed" in result.err
    assert {kept, young} == set(program.scalars(sa.select(Share.id)))
    assert program.count(ShareMetadata) == 1
    assert program.show(kept)["metadata"] == {"a": "b"}
    assert manage("db", "purge", "30").rows == []
    program.check()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x"], "x is no age in days"),
        (["nan"], "nan is no age in days"),
        (["-1"], "-1"),
        (["1", "--batch", "0"], "0 is no whole number above 0"),
        (["1", "--batch", "x"], "x is no whole number above 0"),
    ],
)
def test_purge_says_what_it_does_not_take(manage, capsys, words, told):
    with pytest.raises(SystemExit):
        manage("db", "purge", *words)
    told_all = capsys.readouterr().err
    assert told in told_all
    assert "_days" not in told_all
    assert "_positive" not in told_all


def test_purge_leaves_what_is_alive(program, manage):
    """C166: a deleted share with an instance that is not: something is wrong, and nothing is lost."""
    share_id = program.new_share()
    program.write(sa.update(Share).values(deleted_at=after(-86400 * 99)))
    assert "shares" not in {row["table"] for row in manage("db", "purge", "0").rows}
    assert program.count(Share, Share.id == share_id) == 1
    assert program.count(ShareInstance) == 1


def test_purge_goes_on_where_it_was_interrupted(program, manage, monkeypatch):
    """C166"""
    for _ in range(4):
        assert program.delete(f"/shares/{program.new_share()}").status == 202
    program.drain()
    age_deletions(program, 2)
    real, steps = purge.step, []

    def step(session, **kw):
        steps.append(kw["table"].name)
        if len(steps) == 4:
            raise KeyboardInterrupt
        return real(session, **kw)

    monkeypatch.setattr(purge, "step", step)
    assert manage("db", "purge", "1", "--batch", "2").code == 130
    left = program.count(Share)
    assert 0 < left + program.count(ShareInstance) < 8
    monkeypatch.setattr(purge, "step", real)
    assert manage("db", "purge", "1").code == 0
    assert program.count(Share) + program.count(ShareInstance) == 0


def test_purge_knows_every_table(program):
    """Whatever hangs on a row that is purged goes first, by the keys of the schema."""
    names = {table.name for table in purge.tables()}
    assert names >= {"shares", "share_instances"}
    assert {c.table.name for c in purge._children(Share.__table__)} >= {
        "share_instances", "share_metadata", AccessRule.__tablename__,
    }  # fmt: skip


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
