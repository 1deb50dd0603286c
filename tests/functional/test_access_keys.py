"""Keys that back ends make for clients: shown to who may read the rule, and to nothing else."""

from __future__ import annotations

import json
import logging

import pytest
import sqlalchemy as sa
from granting import deny, grant, show, update
from inprocess import ADMIN, STRANGER
from managing import run

from fileshare.context import service_context
from fileshare.db import access, models
from fileshare.drivers.model import AccessRule, RuleResult
from fileshare.operations import access as operations

KEY = "dummy-key-of-alice"


def held(api):
    """The columns of all tables in which the key stands."""
    return {
        f"{table.name}.{name}"
        for table in models.Base.metadata.tables.values()
        for row in api.rows(sa.select(table))
        for name, value in row._mapping.items()
        if KEY in json.dumps(value, default=str)
    }


@pytest.fixture
def ruled(cephfs, caplog):
    """A share with a key, its log and its notices, after all that is done with rules."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, "sqlalchemy.engine")  # every statement
    cephfs.listen()
    share = cephfs.new_share(share_proto="CEPHFS")
    rule = grant(cephfs, share, "alice", "cephx")
    cephfs.drain()
    assert show(cephfs, rule)["access_key"] == KEY
    assert update(cephfs, rule, "ro").status == 200
    cephfs.drain()
    return share, rule


def test_a_key_is_kept_with_its_rule_alone(cephfs, ruled):
    share, rule = ruled
    assert held(cephfs) == {"share_access_rules.access_key"}
    assert deny(cephfs, share, rule).status == 202
    cephfs.drain()
    assert held(cephfs) == set()


def test_a_key_is_neither_logged_nor_announced(cephfs, ruled, caplog):
    logged = "\n".join(record.getMessage() for record in caplog.get_records("setup"))
    assert "UPDATE share_access_rules SET access_key" in logged
    assert KEY not in logged
    notices = [repr(notice) for notice in cephfs.listener.heard]
    assert any("alice" in notice for notice in notices)
    assert KEY not in "".join(notices)


@pytest.mark.parametrize("words", [("intent", "list"), ("share", "explain"), ("intent", "show")])
def test_a_key_is_not_shown_to_operators(cephfs, ruled, words):
    share, _ = ruled
    intents = run(cephfs.runtime, "intent", "list", "-f", "json").rows
    about = {"explain": [share], "list": []}.get(words[1])
    for arguments in [about] if about is not None else [[intent["id"]] for intent in intents]:
        shown = run(cephfs.runtime, *words, *arguments, "-f", "json")
        assert shown.code == 0
        assert shown.out
        assert KEY not in shown.out + shown.err


def test_a_write_that_fails_does_not_tell_the_key(cephfs, caplog, monkeypatch):
    """An error of the database quotes its statement, and would quote what was to be written."""
    real = access.record

    def record(session, **what):
        keys = {} if not what["keys"] else what["keys"]
        real(session, **what)
        for id, key in keys.items():
            session.execute(sa.insert(models.AccessRule).values(id=id, access_key=key))

    share = cephfs.new_share(share_proto="CEPHFS")
    monkeypatch.setattr(access, "record", record)
    grant(cephfs, share, "alice", "cephx")
    with pytest.raises(Exception, match="constraint") as failed:
        cephfs.drain()
    assert KEY not in str(failed.value)
    assert KEY not in repr(failed.value)
    assert KEY not in caplog.text


def test_records_that_hold_a_key_do_not_print_it(cephfs, ruled):
    share, rule = ruled
    (row,) = cephfs.sessions.run(
        lambda session: access.on_instance(session, cephfs.read_share(share).instance.id)
    )
    assert row.access_key == KEY
    assert KEY not in repr(row)
    assert KEY not in repr(AccessRule(rule, "cephx", "alice", "rw", KEY))
    assert KEY not in repr(RuleResult(key=KEY))
    (view,) = operations.find(cephfs.runtime, service_context(), share)
    assert view.access_key == KEY
    assert KEY not in repr(view)


def test_strangers_see_no_key(cephfs, ruled):
    share, rule = ruled
    assert cephfs.get(f"/share-access-rules/{rule}", as_=STRANGER).status == 404
    for path in ("/shares/detail", "/share-instances", f"/shares/{share}", "/messages"):
        assert KEY not in json.dumps(cephfs.get(path, as_=ADMIN).body)
