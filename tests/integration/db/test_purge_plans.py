"""How MariaDB finds what a purge removes among what it leaves: by indexes, row by row."""

from __future__ import annotations

import contextlib

import pytest
import sqlalchemy as sa

from fileshare.db import purge, sweeps
from fileshare.db.models import Intent, Message, RequestKey, ResourceLock, Share, ShareInstance
from fileshare.domain.statuses import IntentState
from tests.fixtures.copies import analyse
from tests.integration.db.filled import SHARES, fill, filled, numbered, text

pytestmark = pytest.mark.integration

LIMIT = 100
PLACES = 3  # steps of which each begins where the one before it ended


@pytest.fixture(scope="module", params=["few", "most"])
def many(request, mariadb):
    """A tenth of the shares is deleted, or nearly all; of what else is swept, half is old."""
    with filled(mariadb) as sessions:
        with sessions.engine.begin() as writer:
            for model in (Share, ShareInstance):
                moments = {"deleted_at": model.created_at}
                if request.param == "most":
                    some = sa.update(model).where(sa.func.right(model.id, 1) < "9")
                    writer.execute(some.values(moments))
                writer.execute(
                    sa.update(model).where(model.deleted_at.is_not(None)).values(moments)
                )
            failed = {"state": IntentState.FAILED}
            some = sa.update(Intent).where(Intent.closed_at.is_not(None), Intent.id.like("%7"))
            writer.execute(some.values(failed))
            names = {"id": numbered("k"), "digest": text("d"), "resource_id": text("r")}
            fill(writer, RequestKey, SHARES, **names)
            _locks(writer)
            half = sa.func.right(Message.id, 1) < "5"
            writer.execute(sa.update(Message).where(half).values(expires_at=Message.created_at))
        analyse(sessions.engine)
        yield sessions


def _locks(connection):
    fill(
        connection,
        ResourceLock,
        SHARES // 10,
        id=numbered("l"),
        user_id=text("u"),
        project_id=text("p"),
        lock_context=text("user"),
        resource_type=text("share"),
        resource_id="CONCAT('s-', n * 7)",
        resource_action=text("delete"),
        cause_id=numbered("a"),
    )


def name_of(sweep):
    return " ".join([sweep.table.name, *(str(clause.right.value) for clause in sweep.where)])


SWEEPS = {name_of(sweep): sweep for sweep in purge.sweeps(0, SHARES / 2)}


@contextlib.contextmanager
def watched(connection):
    """What is asked meanwhile, with its parameters; and how many rows that reads in the end."""
    asked, read = [], {}

    def note(_connection, _cursor, statement, parameters, _context, _many):
        asked.append((statement, parameters))

    connection.exec_driver_sql("FLUSH STATUS")
    sa.event.listen(connection, "before_cursor_execute", note)
    yield asked, read
    sa.event.remove(connection, "before_cursor_execute", note)
    rows = connection.exec_driver_sql("SHOW SESSION STATUS LIKE 'Handler_read%%'", ())
    read.update((name, int(number)) for name, number in rows)


@pytest.mark.parametrize("name", SWEEPS)
def test_each_step_reads_what_it_removes(many, name):
    """C166: no whole table, no sort, and as much at the tenth step as at the first."""
    sweep = SWEEPS[name]
    with many.begin() as session:
        bound, place, costs = sweep.bound(session), None, []
        for _ in range(PLACES):
            with watched(session.connection()) as (asked, read):
                done = sweeps.step(session, sweep, bound, place, LIMIT)
            assert done.removed[sweep.table.name] == LIMIT
            place = done.place
            costs.append(sum(read.values()))
            for statement, parameters in asked:
                _check(session.connection(), statement, parameters)
        session.rollback()
    # A row, what hangs on it, and where each index has to be looked at.
    assert max(costs) <= 40 * LIMIT, costs
    assert costs[-1] <= costs[0] * 1.2


def _check(connection, statement, parameters):
    """Fail where a statement reads a table from end to end, or sorts."""
    for row in connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).mappings():
        shown = f"{statement}\n{dict(row)}"
        assert row["type"] in {"const", "eq_ref", "ref", "range", "index_subquery"}, shown
        assert row["key"], shown
        assert "filesort" not in (row["Extra"] or ""), shown
        assert "temporary" not in (row["Extra"] or ""), shown
