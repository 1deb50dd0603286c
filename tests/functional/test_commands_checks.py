"""``fileshare-manage`` compares: quota with a recount, the database with the back ends."""

from __future__ import annotations

import time

import pytest
import sqlalchemy as sa
from inprocess import OTHER_PROJECT, PROJECT, STRANGER
from managing import ALPHA, BETA, disable, down

from fileshare.db import quotas
from fileshare.db.models import Intent, QuotaUsage, Share
from fileshare.drivers.dummy.state import SHARES

# -- quota ---------------------------------------------------------------------------------


def spoil(program, by, resource="gigabytes", project=PROJECT):
    program.write(
        sa.update(QuotaUsage)
        .where(
            QuotaUsage.project_id == project,
            QuotaUsage.resource == resource,
            QuotaUsage.scope == "project",
        )
        .values(used=QuotaUsage.used + by),
    )


def test_quota_check_and_sync(program, manage):
    share_id = program.new_share(size=3)
    program.new_share(size=2, as_=STRANGER)
    # Work in flight is no difference: 2 GiB are booked that no share has yet.
    assert program.act(share_id, "extend", {"new_size": 5}).status == 202
    result = manage("quota", "check")
    assert (result.code, result.rows) == (0, [])
    books = program.sessions.run(quotas.booked)
    spoil(program, 4)
    spoil(program, -1, "shares", OTHER_PROJECT)
    program.write(sa.delete(QuotaUsage).where(QuotaUsage.scope.startswith("type")))
    result = manage("quota", "check")
    assert result.code == 1
    wrong = {(row["project"], row["scope"], row["quota"]): row for row in result.rows}
    assert wrong[PROJECT, "project", "gigabytes"]["booked"] == 9
    assert wrong[PROJECT, "project", "gigabytes"]["counted"] == 5
    assert wrong[OTHER_PROJECT, "project", "shares"]["counted"] == 1
    # Only what was asked for, and nothing on a dry run.
    result = manage("quota", "sync", "--project", OTHER_PROJECT, "--dry-run")
    assert {row["project"] for row in result.rows} == {OTHER_PROJECT}
    assert manage("quota", "check", "--project", OTHER_PROJECT).code == 1
    assert manage("quota", "sync", "--project", OTHER_PROJECT).code == 0
    assert manage("quota", "check", "--project", OTHER_PROJECT).code == 0
    assert manage("quota", "check").code == 1
    assert manage("quota", "sync").code == 0
    assert manage("quota", "check").code == 0
    assert program.sessions.run(quotas.booked) == books
    program.drain()
    program.check()


def test_quota_of_nothing(program, manage):
    """Usage of a project that has nothing goes to zero."""
    program.write(
        sa.insert(QuotaUsage).values(
            project_id="ghost", scope="project", resource="shares", used=2
        ),
    )
    (row,) = manage("quota", "sync").rows
    assert (row["project"], row["booked"], row["counted"]) == ("ghost", 2, 0)
    assert manage("quota", "check").code == 0


def test_quota_is_counted_while_work_ends(program, manage, monkeypatch):
    """An extend that ends between two questions is counted once."""
    share_id = program.new_share(size=3)
    spoil(program, 1)
    assert program.act(share_id, "extend", {"new_size": 5}).status == 202
    intents = program.scalars(sa.select(Intent.id).where(Intent.state == "open"))
    assert len(intents) == 1
    real, hit = quotas._in_flight, []

    def in_flight(session, project_id):
        if len(hit) == 2:  # within the count that holds the books
            end_extend(session)
        hit.append(1)
        return real(session, project_id)

    def end_extend(session):
        # What its worker would commit now; SQLite has one writer, so it is done here.
        session.execute(sa.update(Share).where(Share.id == share_id).values(size=5))
        session.execute(
            sa.update(Intent)
            .where(Intent.id == intents[0])
            .values(state="done", open_key=None, due=None)
        )

    monkeypatch.setattr(quotas, "_in_flight", in_flight)
    rows = manage("quota", "sync").rows
    found = {(row["scope"], row["quota"]): (row["booked"], row["counted"]) for row in rows}
    assert found == {("project", "gigabytes"): (6, 5)}
    assert len(hit) == 4


# -- reconcile and fsck --------------------------------------------------------------------


@pytest.fixture
def daemons(program):
    """Daemons that look for work until the test ends."""
    with program.polling():
        yield


def test_reconcile(program, manage, daemons):
    disable(program, BETA)
    share_id = program.new_share(drain=False)
    deadline = time.monotonic() + 30
    while program.show(share_id)["status"] != "available":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    instance = program.read_share(share_id).instance.id
    result = manage("reconcile", ALPHA)
    assert (result.code, result.rows) == (0, [])
    state = program.drivers["alpha"].state
    state.write(SHARES, "stray", {**state.read(SHARES, instance), "id": "stray"})
    state.write(SHARES, instance, {**state.read(SHARES, instance), "rules": [{"id": "x"}]})
    result = manage("reconcile", ALPHA)
    assert result.code == 1
    assert [(row["what"], row["instance"], row["repaired"]) for row in result.rows] == [
        ("left_over", "stray", False)
    ]
    result = manage("reconcile", ALPHA, "--repair")
    assert result.code == 0
    assert sorted((row["what"], row["repaired"]) for row in result.rows) == [
        ("left_over", True),
        ("rules", True),
    ]
    assert manage("reconcile", ALPHA, "--repair").rows == []


def test_reconcile_without_a_daemon(program, manage):
    result = manage("reconcile", ALPHA, "--timeout", "0")
    assert result.code == 3
    assert "intent show" in result.err
    down(program, ALPHA)
    assert manage("reconcile", ALPHA).code == 1
    assert manage("reconcile", "nobody@here").code == 1


def test_reconcile_of_a_back_end_that_does_not_work(program, manage, daemons):
    program.conf.set_override("max_attempts", 1, "intents")
    (program.drivers["alpha"].state.root / "control.json").write_text('{"fail": ["check"]}')
    result = manage("reconcile", ALPHA)
    assert result.code == 1
    assert "Told to fail at check" in result.err


def test_fsck(program, manage, daemons):
    """C160: each row that is left over is found and named."""
    assert manage("fsck").code == 0
    state = program.drivers["beta"].state
    record = {"id": "stray", "size": 1, "pool": "pool", "rules": [], "protocol": "NFS"}
    state.write(SHARES, "stray", record)
    program.write(
        sa.insert(QuotaUsage).values(
            project_id="ghost", scope="project", resource="shares", used=2
        ),
    )
    result = manage("fsck")
    assert result.code == 1
    found = [(row["where"], row["what"], row["repaired"]) for row in result.rows]
    assert found == [(BETA, "left_over", False), ("ghost", "quota", False)]
    assert [row["repaired"] for row in manage("fsck", "--repair").rows] == [True, True]
    assert (manage("fsck").code, manage("fsck").rows) == (0, [])
    down(program, ALPHA)
    result = manage("fsck")
    assert (result.code, ALPHA in result.err) == (1, True)
