"""Rows for tests of the database floor."""

from __future__ import annotations

import concurrent.futures
import contextlib
import time
import uuid

import sqlalchemy as sa

from fileshare.db.models import Share, ShareInstance, ShareType, ShareTypeExtraSpec
from fileshare.domain.statuses import Status

HOST = "node@backend1#pool1"


def new_id():
    return str(uuid.uuid4())


def add_type(session, name="gold", **specs):
    id = new_id()
    session.execute(sa.insert(ShareType).values(id=id, name=name, is_public=True))
    for key, value in specs.items():
        session.execute(
            sa.insert(ShareTypeExtraSpec).values(share_type_id=id, key=key, value=value)
        )
    return id


def add_share(session, *, status=Status.AVAILABLE, project_id="p1", host=HOST, **columns):
    """A share with one instance; its id."""
    id = new_id()
    values = {"share_proto": "NFS", "size": 1, **columns}
    session.execute(
        sa.insert(Share).values(id=id, project_id=project_id, status=status, host=host, **values)
    )
    session.execute(
        sa.insert(ShareInstance).values(
            share_id=id,
            status=status,
            host=host,
            share_type_id=values.get("share_type_id"),
        )
    )
    return id


_WAITING = {
    "mariadb": (
        "SELECT COUNT(*) FROM information_schema.innodb_trx t"
        " JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id"
        " WHERE p.db = DATABASE() AND t.trx_state = 'LOCK WAIT'"
    ),
    "postgresql": (
        "SELECT COUNT(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ),
}


def until_it_waits(engine, kind, future, seconds=20):
    """Return when the other transaction is done, or waits for a lock (SQLite: for its turn)."""
    end = time.monotonic() + seconds
    while not future.done() and time.monotonic() < end:
        if kind == "sqlite":
            concurrent.futures.wait([future], timeout=0.2)
            return
        with engine.connect() as connection:
            if connection.execute(sa.text(_WAITING[kind])).scalar_one():
                return
        # InnoDB's table shows a state that may be old while it is asked more often than this.
        concurrent.futures.wait([future], timeout=0.15)
    assert future.done(), "the other transaction neither ended nor waited"


@contextlib.contextmanager
def no_deadlock(engine):
    """Fail where two transactions took the same rows in another order."""
    found = []

    def note(context):
        if "deadlock" in str(context.original_exception).lower():
            found.append(f"{context.original_exception}: {context.statement}")

    sa.event.listen(engine, "handle_error", note)
    try:
        yield
    finally:
        sa.event.remove(engine, "handle_error", note)
    assert found == []
