"""``fileshare-manage db purge``: what goes, what stays, and what an interruption leaves."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import PROJECT

from fileshare.db import purge, sweeps
from fileshare.db.clock import after, moment
from fileshare.db.models import (
    AccessRule,
    Base,
    ExportLocation,
    Intent,
    Message,
    RequestKey,
    ResourceLock,
    Share,
    ShareInstance,
    ShareMetadata,
)

DAY = 86400


def gone(program, number=1, **body):
    """Ids of shares that were made and deleted."""
    ids = [program.new_share(**body) for _ in range(number)]
    for id in ids:
        assert program.delete(f"/shares/{id}").status == 202
    program.drain()
    return ids


def age(program, days, *which):
    """Let what is deleted be so for *days*."""
    for model in (Share, ShareInstance):
        here = sa.update(model).where(model.deleted_at.is_not(None), *which)
        program.write(here.values(deleted_at=after(-days * DAY)))


def removed(manage, *words):
    return {row["table"]: row["removed"] for row in manage("db", "purge", *words).rows}


def leave_behind(program, share_id):
    """What a deletion of another release may have left."""
    instance = program.scalar(
        sa.select(ShareInstance.id).where(ShareInstance.share_id == share_id)
    )
    program.write(sa.insert(ExportLocation).values(share_instance_id=instance, path="x"))
    rule = {"access_type": "ip", "access_to": "x", "canonical": "x", "access_level": "rw"}
    program.write(sa.insert(AccessRule).values(id="rule", share_id=share_id, **rule))
    lock = {"user_id": "u", "project_id": PROJECT, "lock_context": "user"}
    for kind, of, cause in (
        ("share", share_id, None),
        ("access_rule", "rule", None),
        ("share", "another", "rule"),
    ):
        values = {"resource_type": kind, "resource_id": of, "cause_id": cause}
        program.write(sa.insert(ResourceLock).values(resource_action="delete", **lock, **values))


def expire(program):
    """A message whose time is over, and a key of a request."""
    told = {"project_id": PROJECT, "action_id": "001", "message_level": "ERROR"}
    program.write(sa.insert(Message).values(expires_at=after(-1), **told))
    key = {"id": "k", "digest": "d", "resource_id": "r"}
    program.write(sa.insert(RequestKey).values(created_at=after(-DAY - 1), **key))


def test_all_that_is_old_goes_and_nothing_else(program, manage):
    kept = program.new_share(metadata={"a": "b"})
    old = gone(program, 3, metadata={"a": "b"})
    leave_behind(program, old[0])
    age(program, 31)
    (young,) = gone(program)
    program.write(sa.update(Intent).values(closed_at=after(-31 * DAY)))
    expire(program)
    shares = program.count(Share)
    dry = manage("db", "purge", "30", "--dry-run")
    assert program.count(Share) == shares
    result = manage("db", "purge", "30", "--batch", "2")
    assert {row["table"]: row["to remove"] for row in dry.rows} == {
        "shares": 3, "share_instances": 3, "share_metadata": 3, "intents": 9, "messages": 1,
        "share_instance_export_locations": 1, "share_access_rules": 1, "resource_locks": 3,
        "request_keys": 1,
    } == {row["table"]: row["removed"] for row in result.rows}  # fmt: skip
    assert "rows removed" in result.err
    assert {kept, young} == set(program.scalars(sa.select(Share.id)))
    assert program.count(ShareMetadata) == 1
    assert program.show(kept)["metadata"] == {"a": "b"}
    assert manage("db", "purge", "30").rows == []
    program.check()


def test_purge_leaves_what_is_alive(program, manage):
    """C166: a deleted share with an instance that is not: something is wrong, and nothing is lost."""
    share_id = program.new_share()
    program.write(sa.update(Share).values(deleted_at=after(-99 * DAY)))
    assert "shares" not in removed(manage, "0")
    assert program.count(Share, Share.id == share_id) == 1
    assert program.count(ShareInstance) == 1


def test_purge_leaves_what_was_restored(program, manage):
    """C166: from the recycle bin by its user, or from deletion by an operator, however late."""
    from_bin = program.new_share(metadata={"a": "b"})
    assert program.act(from_bin, "soft_delete").status == 202
    put_in = {"updated_at": after(-99 * DAY), "scheduled_to_be_deleted_at": after(99 * DAY)}
    program.write(sa.update(Share).values(**put_in))
    assert program.act(from_bin, "restore").status == 202
    undeleted, lost = gone(program, 2)
    age(program, 99)
    program.write(sa.update(Share).where(Share.id == undeleted).values(deleted_at=None))
    mine = sa.update(ShareInstance).where(ShareInstance.share_id == undeleted)
    program.write(mine.values(deleted_at=None))
    assert removed(manage, "30")["shares"] == 1
    assert set(program.scalars(sa.select(Share.id))) == {from_bin, undeleted}
    assert program.count(ShareInstance) == 2
    assert program.show(from_bin)["metadata"] == {"a": "b"}
    assert program.get(f"/shares/{lost}").status == 404


def test_a_row_that_is_restored_just_now_stays(program):
    """C166: what was read as old is looked at once more when it is taken."""
    kept, lost = gone(program, 2)
    age(program, 2)
    (wanted,) = [sweep for sweep in purge.sweeps(1, DAY) if sweep.table.name == "shares"]
    with program.sessions.begin() as session:
        bound = moment(session)
        session.execute(sa.update(Share).where(Share.id == kept).values(deleted_at=None))
        assert sweeps.take(session, wanted, bound, [kept, lost]) == [lost]


def test_a_purge_goes_on_where_it_was_interrupted(program, manage, monkeypatch):
    """C166"""
    ids = gone(program, 5)
    age(program, 2)
    real, steps = sweeps.step, []

    def step(session, *args):
        steps.append(args)
        if len(steps) == 3:
            raise KeyboardInterrupt
        return real(session, *args)

    monkeypatch.setattr(sweeps, "step", step)
    assert manage("db", "purge", "1", "--batch", "2").code == 130
    # Nothing is half gone: each share with its instance, or neither.
    assert program.count(Share) == program.count(ShareInstance) == len(ids) - 4
    monkeypatch.setattr(sweeps, "step", real)
    assert removed(manage, "1")["shares"] == 1
    assert program.count(Share) + program.count(ShareInstance) == 0


def test_a_purge_ends_although_there_is_ever_more_to_purge(program, manage, monkeypatch):
    """What is deleted while it runs is the next one's."""
    gone(program, 3)
    real = sweeps.step

    def step(session, *args):
        found = real(session, *args)
        row = {"project_id": PROJECT, "size": 1, "share_proto": "NFS", "status": "deleted"}
        session.execute(sa.insert(Share).values(deleted_at=after(0), **row))
        return found

    monkeypatch.setattr(sweeps, "step", step)
    assert removed(manage, "0", "--batch", "1")["shares"] == 3


def test_how_hard_it_works():
    pace = sweeps.Pace(batch=400, percent=50)
    for _ in range(20):
        assert pace.rest(0.001)
    assert pace.size == 400
    assert pace.rest(sweeps.GOAL * 1.1)
    assert pace.size == 200
    pace.stop.set()
    assert not pace.rest(30)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x"], "x is no age in days"),
        (["nan"], "nan is no age in days"),
        (["-1"], "-1"),
        (["1", "--batch", "0"], "0 is no whole number above 0"),
        (["1", "--batch", "x"], "x is no whole number above 0"),
        (["1", "--pace", "0"], "0 is not above 0 and at most 100"),
        (["1", "--pace", "101"], "101 is not above 0 and at most 100"),
        (["1", "--pace", "x"], "x is not above 0 and at most 100"),
    ],
)
def test_it_says_what_it_does_not_take(manage, capsys, words, told):
    with pytest.raises(SystemExit) as ended:
        manage("db", "purge", *words)
    told_all = capsys.readouterr().err
    assert (ended.value.code, told in told_all) == (2, True)
    for name in ("_days", "_positive", "_percent"):
        assert name not in told_all


def test_purge_knows_every_table(program):
    """Whatever hangs on a row that is purged goes first, by the keys of the schema."""
    swept = [sweep.table.name for sweep in purge.sweeps(1, DAY)]
    dated = {
        table.name
        for table in Base.metadata.sorted_tables
        if {"deleted_at", "closed_at", "expires_at"} & set(table.c.keys())
    }
    assert set(swept) == dated | {RequestKey.__tablename__}
    assert swept.index("shares") < swept.index("share_instances")
    assert {column.table.name for column in purge.children(Share.__table__)} == {
        "share_instances", "share_metadata", "share_access_rules", "resource_locks",
    }  # fmt: skip


def test_a_table_without_an_index_is_not_swept():
    with pytest.raises(LookupError, match="shares has no index for created_at"):
        sweeps.along(Share.__table__.c.created_at)
