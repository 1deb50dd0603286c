"""The steps lead to what the models say, forwards and backwards, on each database."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory
from oslo_db import exception as db_exception

from fileshare.db import migration
from fileshare.db.models import Base, Intent, QuotaUsage, Share, ShareInstance
from fileshare.db.models.base import OPTIONS
from fileshare.domain import statuses
from tests.fixtures.databases import KINDS

pytestmark = pytest.mark.parametrize("kind", KINDS)

_MOST_INDEX_BYTES = 3072  # InnoDB, row format dynamic
_REFUSED = (db_exception.DBError, sa.exc.DBAPIError)  # MariaDB's checks have no class in oslo.db


NULL_NAME = {
    "mariadb": "ALTER TABLE shares MODIFY project_id VARCHAR(255) NULL",
    "postgresql": "ALTER TABLE shares ALTER COLUMN project_id DROP NOT NULL",
}


def _steps():
    script = ScriptDirectory.from_config(Config(migration._INI))
    return [step.revision for step in script.walk_revisions()][::-1]


def test_models_and_steps_agree(empty):
    assert len(migration.check(empty)) >= len(Base.metadata.tables)
    migration.upgrade(empty)
    assert migration.check(empty) == []
    assert migration.version(empty) == migration.heads()


def test_walk(empty):
    """C165: every step is taken forwards, backwards, and forwards again."""
    for step in _steps():
        migration.upgrade(empty, step)
    assert migration.version(empty) == migration.heads()
    migration.downgrade(empty, "base")
    assert migration.version(empty) == dict.fromkeys(migration.BRANCHES)
    assert sa.inspect(empty).get_table_names() == ["alembic_version"]
    migration.upgrade(empty)
    assert migration.check(empty) == []


def test_rows_stay(empty):
    """C165: 10,000 shares of the first step are there after every other, in both directions."""
    first, *others = _steps()
    migration.upgrade(empty, first)
    metadata = sa.MetaData()
    metadata.reflect(empty, only=["availability_zones", "share_types", "shares"])
    ids = [f"{number:05}" for number in range(10_000)]
    rows = {
        "availability_zones": [{"id": "z", "name": "zone"}],
        "share_types": [{"id": "t", "name": "type", "is_public": True}],
        "shares": [{"id": id, "project_id": "p", "share_type_id": "t", "size": 1} for id in ids],
    }
    with empty.begin() as connection:
        for name, given in rows.items():
            table = metadata.tables[name]
            needed = _needed(table)
            connection.execute(sa.insert(table), [{**needed, **row} for row in given])

    def found():
        with empty.connect() as connection:
            return [sorted(connection.scalars(sa.text(f"SELECT id FROM {name}"))) for name in rows]

    for step in others:
        migration.upgrade(empty, step)
    assert migration.check(empty) == []
    assert found() == [["z"], ["t"], ids]
    migration.downgrade(empty, first)
    assert found() == [["z"], ["t"], ids]


def _needed(table):
    """Values for the columns that must have one."""
    values = {sa.String: "x", sa.Integer: 0, sa.DateTime: dt.datetime(2020, 1, 1)}  # noqa: DTZ001
    return {
        column.name: next((v for k, v in values.items() if isinstance(column.type, k)), False)
        for column in table.columns
        if not column.nullable
    }


def test_after_expand_nothing_is_missing(empty):
    """The models of this release work before the contract step: they lack, and miss nothing."""
    migration.upgrade(empty, "expand")
    assert [text for text in migration.check(empty) if "is not of this release" not in text] == []


def test_branches(empty):
    """What is added comes alone; what is removed brings with it what must be there before."""
    migration.upgrade(empty, "expand")
    assert migration.version(empty) == migration.heads() | {"contract": None}
    migration.upgrade(empty, "contract")
    assert migration.version(empty) == migration.heads()


def test_upgrade_again_does_nothing(engine):
    migration.upgrade(engine)
    assert migration.version(engine) == migration.heads()


def test_several_processes_upgrade_at_once(empty_url, empty):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(migration.upgrade, [empty_url] * 4))
    assert migration.check(empty) == []


def test_a_difference_is_found(empty, kind):
    migration.upgrade(empty)
    with empty.begin() as connection:
        connection.execute(sa.text("ALTER TABLE messages ADD COLUMN stray INTEGER"))
        on = " ON intents" if kind == "mariadb" else ""
        connection.execute(sa.text(f"DROP INDEX ix_intents_due{on}"))
        if kind != "sqlite":  # it cannot change a column
            connection.execute(sa.text(NULL_NAME[kind]))
    found = migration.check(empty)
    index = next(i for i in Base.metadata.tables["intents"].indexes if i.name == "ix_intents_due")
    columns = ", ".join(column.name for column in index.columns)
    assert found[-1] == f"index ix_intents_due on intents ({columns}) is missing"
    assert "column messages.stray is not of this release" in found
    nulls = "column shares.project_id takes null: True, not False"
    assert (nulls in found) is (kind != "sqlite")
    assert len(found) == 2 + (kind != "sqlite")


def test_a_table_that_is_not_there_is_named_first(empty):
    migration.upgrade(empty)
    with empty.begin() as connection:
        connection.execute(sa.text("DROP TABLE resource_locks"))
        connection.execute(sa.text("CREATE TABLE strays (id INTEGER PRIMARY KEY)"))
    found = migration.check(empty)
    assert found[:2] == [
        "table resource_locks is missing",
        "table strays is not of this release",
    ]
    assert all("<" not in text for text in found)


def test_stamp(empty):
    migration.stamp(empty)
    assert migration.version(empty) == migration.heads()
    assert sa.inspect(empty).get_table_names() == ["alembic_version"]


def test_checks(engine):
    """The schema itself refuses what no code may write."""
    usage = sa.insert(QuotaUsage).values(project_id="p", scope="project", resource="shares")
    with pytest.raises(_REFUSED), engine.begin() as connection:
        connection.execute(usage.values(used=-1))
    share = sa.insert(Share).values(
        project_id="p", share_proto="NFS", status=statuses.Status.ERROR
    )
    with pytest.raises(_REFUSED), engine.begin() as connection:
        connection.execute(share.values(size=-1))
    with engine.begin() as connection:
        connection.execute(usage.values(used=0))
        connection.execute(share.values(size=0))


def test_foreign_keys(engine):
    orphan = sa.insert(ShareInstance).values(
        share_id="nobody", status=statuses.Status.ERROR, host="h@b#p"
    )
    with (
        pytest.raises(db_exception.DBReferenceError),
        engine.begin() as connection,
    ):
        connection.execute(orphan)


def test_one_open_intent_for_a_resource(engine):
    intent = sa.insert(Intent).values(
        kind="share.extend",
        event="share.extend",
        resource_type="share",
        resource_id="s",
        destination="scheduler",
    )
    with engine.begin() as connection:
        connection.execute(intent.values(open_key="share/s"))
        connection.execute(intent.values(open_key=None))
        connection.execute(intent.values(open_key=None))
    with pytest.raises(db_exception.DBDuplicateEntry), engine.begin() as connection:
        connection.execute(intent.values(open_key="share/s"))


def test_a_value_that_does_not_fit_is_an_error(engine, kind):
    if kind == "sqlite":
        return  # it has no lengths; the API's schemas are the guard there
    zone = sa.insert(Base.metadata.tables["availability_zones"])
    with pytest.raises(db_exception.DBError), engine.begin() as connection:
        connection.execute(zone.values(id="z", name="n" * 256))


def test_texts_keep_case_and_every_character(engine):
    """Two keys that differ in case are two, and a text comes back as it was written."""
    zones = Base.metadata.tables["availability_zones"]
    names = ["Zone", "zone", "ZONE", "zöne", "zone\N{PILE OF POO}", "zone\\%_'\""]
    with engine.begin() as connection:
        for place, name in enumerate(names):
            connection.execute(sa.insert(zones).values(id=str(place), name=name))
        for place, name in enumerate(names):
            found = connection.execute(sa.select(zones.c.id).where(zones.c.name == name)).all()
            assert found == [(str(place),)]


def test_statuses_fit_their_columns(kind):
    if kind != "sqlite":
        return  # a property of the models
    words = {
        value
        for group in vars(statuses).values()
        if isinstance(group, type)
        for value in vars(group).values()
        if isinstance(value, str) and value.islower() and " " not in value
    }
    words |= statuses.TaskState.BUSY | statuses.SHARE_STATUSES
    longest = max(map(len, words))
    holding = {"status", "state", "task_state", "access_rules_status", "replica_state"}
    lengths = {
        f"{table.name}.{column.name}": column.type.length
        for table in Base.metadata.tables.values()
        for column in table.columns
        if column.name in holding
    }
    assert len(lengths) >= 10
    assert {name: length for name, length in lengths.items() if length < longest} == {}


def test_indexes_fit(kind):
    if kind != "sqlite":
        return  # a property of the models; MariaDB itself refused nothing in the tests above
    for table in Base.metadata.tables.values():
        keys = [(list(index.columns), index.dialect_kwargs) for index in table.indexes]
        unique = [key for key in table.constraints if isinstance(key, sa.UniqueConstraint)]
        keys += [(list(key.columns), {}) for key in (*unique, table.primary_key)]
        for columns, options in keys:
            size = sum(_bytes(column, options.get("mysql_length")) for column in columns)
            assert size <= _MOST_INDEX_BYTES, (table.name, columns)


def _bytes(column, cut):
    """What a column takes in an index of MariaDB; *cut* is a prefix, for all or by name."""
    if isinstance(cut, dict):
        cut = cut.get(column.name)
    return 4 * (cut or getattr(column.type, "length", None) or 2)


def test_tables_of_mariadb(engine, kind):
    if kind != "mariadb":
        return
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text(
                "SELECT table_name, engine, table_collation, row_format"
                " FROM information_schema.tables"
                " WHERE table_schema = DATABASE() AND table_name <> 'alembic_version'"
            )
        ).all()
    assert {tuple(row[1:]) for row in rows} == {("InnoDB", OPTIONS["mysql_collate"], "Dynamic")}
    assert {row[0] for row in rows} == set(Base.metadata.tables)
