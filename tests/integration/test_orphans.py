"""Rows whose owner is gone: none is left by what the service does, and one that is planted is found."""

from __future__ import annotations

import datetime as dt

import inprocess
import managing
import pytest
import sqlalchemy as sa
from inprocess import ADMIN, PROJECT
from oslo_db import exception as db_exception

from fileshare.db import models, orphans
from fileshare.db.clock import now
from fileshare.domain.quotas import type_scope

GONE = "99999999-9999-4999-8999-999999999999"
TABLES = models.Base.metadata.tables


def found(program):
    return [(item.table, item.id) for item in program.sessions.run(orphans.find)]


def value_of(column):
    """Something for a column that must have a value; *GONE* names nothing that is there."""
    if isinstance(column.type, sa.String):
        return GONE[: column.type.length]
    kinds = {sa.DateTime: dt.datetime(2020, 1, 1), sa.JSON: {}, sa.Boolean: False}  # noqa: DTZ001
    return next((value for kind, value in kinds.items() if isinstance(column.type, kind)), 0)


def row_of(table, **values):
    needed = {column.name: value_of(column) for column in table.columns if not column.nullable}
    return {**needed, **values}


def is_bound(column):
    return column.foreign_keys and not column.nullable


BOUND = sorted(
    {column.table.name for table in TABLES.values() for column in table.c if is_bound(column)}
)


@pytest.fixture
def program(any_url, tmp_path):
    # Nobody sends heartbeats here, however long it takes.
    with inprocess.running(tmp_path, any_url) as made:
        yield made


@pytest.fixture
def manage(program):
    return lambda *words: managing.run(program.runtime, *words, "-f", "json")


def test_the_database_itself_refuses_a_child_of_nothing(program):
    """C160: where a key holds the rows together, no orphan can be planted at all."""
    for name in BOUND:
        with pytest.raises(db_exception.DBReferenceError):
            program.write(sa.insert(TABLES[name]).values(row_of(TABLES[name])))


def test_nothing_is_left_of_what_came_and_went(program):
    """C160: a hundred of every object, with metadata, made and deleted; fewer on the servers."""
    times = 100 if program.sessions.engine.dialect.name == "sqlite" else 20
    for number in range(times):
        specs = {"name": f"t{number}", "extra_specs": {"driver_handles_share_servers": "False"}}
        type_ = program.post("/types", {"share_type": specs}, as_=ADMIN)["share_type"]["id"]
        path = f"/quota-sets/{PROJECT}?share_type={type_}"
        assert program.put(path, {"quota_set": {"shares": 3}}, as_=ADMIN).status == 200
        group = {"name": f"g{number}", "share_types": [type_], "group_specs": {"k": "v"}}
        answer = program.post("/share-group-types", {"share_group_type": group}, as_=ADMIN)
        share = program.new_share(share_type=type_, metadata={"k": "v"})
        rule = {"access_type": "ip", "access_to": "10.0.0.1", "metadata": {"m": "n"}}
        rule["lock_visibility"] = True
        assert program.act(share, "allow_access", rule).status == 200
        program.drain()
        exports = f"/shares/{share}/export_locations"
        export = program.get(exports)["export_locations"][0]["id"]
        pair = {"metadata": {"k": "v"}}
        assert program.post(f"{exports}/{export}/metadata", pair).status == 200
        assert program.act(share, "force_delete", as_=ADMIN).status == 202
        program.drain()
        group_type = answer["share_group_type"]["id"]
        assert program.delete(f"/share-group-types/{group_type}", as_=ADMIN).status == 204
        assert program.delete(f"/types/{type_}", as_=ADMIN).status == 202
    assert found(program) == []
    program.check()


@pytest.fixture
def planted(program):
    """An orphan in each table that can have one, with what it is known by."""
    share = program.new_share(metadata={"k": "v"})
    rule = {"access_type": "ip", "access_to": "10.0.0.1"}
    program.act(share, "allow_access", rule)
    program.drain()
    read = program.read_share(share)
    ids = {
        name: program.scalar(sa.select(TABLES[name].c.id))
        for name in (
            "share_instance_export_locations",
            "share_access_mappings",
            "share_access_rules",
        )
    }
    rows = {
        "resource_locks": row_of(TABLES["resource_locks"], id="a-lock", resource_id=GONE),
        "quota_limits": row_of(TABLES["quota_limits"], scope=type_scope(GONE)),
        "pool_reports": row_of(TABLES["pool_reports"], host="h@b#p", backend="h@b"),
        "intents": row_of(
            TABLES["intents"], id="work", state="open", share_id=GONE, open_key=f"share/{GONE}"
        ),
    }
    rows["pool_reports"]["availability_zone_id"] = None
    for name, row in rows.items():
        program.write(sa.insert(TABLES[name]).values(row))
    # As if a deletion had stopped half way: the instance is gone, or the share is.
    program.write(sa.update(models.ShareInstance).values(deleted_at=now()))
    other = program.new_share()
    alive = program.read_share(other).instance.id
    program.write(
        sa.update(models.Share).where(models.Share.id.in_([share, other])).values(deleted_at=now())
    )
    assert read.instance.id != alive
    return {
        "resource_locks": "a-lock",
        **ids,
        "share_instances": alive,
        "quota_limits": type_scope(GONE),
        "pool_reports": "h@b#p",
        "intents": "work",
    }


def test_an_orphan_of_each_table_is_found_and_named(program, manage, planted):
    """C160: by the command that is part of the service, whose exit code tells."""
    assert set(planted.items()) <= set(found(program))
    result = manage("fsck", "--timeout", "0")
    assert result.code != 0
    told = {(row["where"], row["detail"].partition(": ")[0]) for row in result.rows}
    assert set(planted.items()) <= told
    assert {row["repaired"] for row in result.rows if row["what"] == "orphan"} == {False}
    manage("fsck", "--timeout", "0", "--repair")
    assert {name for name, _id in found(program)} == {"share_instances", "intents"}


@pytest.mark.parametrize("any_url", ["postgresql"], indirect=True)
def test_more_orphans_than_a_statement_takes_values(program):
    """PostgreSQL takes 65,535; the others take more than anybody has."""
    limits = [
        {"project_id": PROJECT, "scope": type_scope(f"t{number}"), "resource": "shares"}
        for number in range(66_000)
    ]
    table = TABLES["quota_limits"]
    program.write(sa.insert(table).values(hard_limit=1), limits)
    program.sessions.run(orphans.remove)
    assert program.count(table) == 0
