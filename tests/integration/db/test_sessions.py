"""Transactions, the compare-and-swap under every guarded write, and the database's clock."""

from __future__ import annotations

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare.db import session as module
from fileshare.db.clock import after, now
from fileshare.db.models import AvailabilityZone, Intent
from fileshare.db.session import swap
from tests.fixtures.databases import KINDS, REAL

each = pytest.mark.parametrize("kind", KINDS)
real = pytest.mark.parametrize("kind", REAL)


def zone(name):
    return sa.insert(AvailabilityZone).values(id=name, name=name)


def rename(id, name):
    return sa.update(AvailabilityZone).where(AvailabilityZone.id == id).values(name=name)


def name_of(session, id):
    return session.scalars(
        sa.select(AvailabilityZone.name).where(AvailabilityZone.id == id)
    ).one_or_none()


@each
def test_swap(sessions):
    with sessions.begin() as session:
        session.execute(zone("a"))
        session.execute(zone("b"))
    with sessions.begin() as session:
        assert swap(session, rename("a", "c"))
        assert swap(session, rename("a", "c"))  # found, though nothing changes
        assert not swap(session, rename("nobody", "d"))
        both = sa.update(AvailabilityZone).values(updated_at=now())
        assert not swap(session, both)  # exactly one
        assert swap(session, sa.delete(AvailabilityZone).where(AvailabilityZone.id == "b"))
        assert not swap(session, sa.delete(AvailabilityZone).where(AvailabilityZone.id == "b"))


@each
def test_one_of_many_swaps_wins(sessions):
    with sessions.begin() as session:
        session.execute(zone("a"))

    def take(number):
        statement = rename("a", f"taken by {number}").where(AvailabilityZone.name == "a")
        return sessions.run(lambda session: swap(session, statement))

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(take, range(32))) == 1


@each
def test_an_exception_undoes_all(sessions):
    class Stop(Exception):
        pass

    def work(session):
        session.execute(zone("a"))
        raise Stop

    with pytest.raises(Stop), sessions.begin() as session:
        work(session)
    with pytest.raises(Stop):
        sessions.run(work)
    with sessions.begin() as session:
        assert name_of(session, "a") is None


@real
def test_a_real_deadlock_is_tried_again(sessions):
    with sessions.begin() as session:
        session.execute(zone("a"))
        session.execute(zone("b"))
    both_hold_one = threading.Barrier(2)
    attempts = []

    def work(order):
        def run(session):
            attempts.append(order)
            assert swap(session, rename(order[0], f"{order[0]} by {order}"))
            if attempts.count(order) == 1:
                both_hold_one.wait(timeout=30)
            assert swap(session, rename(order[1], f"{order[1]} by {order}"))
            return order

        return sessions.run(run)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(work, ["ab", "ba"])) == ["ab", "ba"]
    assert len(attempts) >= 3
    with sessions.begin() as session:
        # Both were done, one wholly after the other.
        last = {name_of(session, id).removeprefix(f"{id} by ") for id in "ab"}
    assert last in ({"ab"}, {"ba"})


_KILL = {
    "mariadb": ("SELECT CONNECTION_ID()", "KILL {}"),
    "postgresql": ("SELECT pg_backend_pid()", "SELECT pg_terminate_backend({})"),
}


@real
def test_a_lost_connection_is_tried_again(sessions, kind):
    me, kill = _KILL[kind]
    seen = []

    def work(session):
        session.execute(zone("a"))
        seen.append(session.scalar(sa.text(me)))
        if len(seen) == 1:
            with sessions.engine.connect() as other:
                other.execute(sa.text(kill.format(seen[0])))
        session.execute(zone("b"))
        return "done"

    assert sessions.run(work) == "done"
    assert len(seen) == 2
    assert seen[0] != seen[1]


@each
def test_it_is_given_up_after_some_attempts(sessions, monkeypatch):
    monkeypatch.setattr(module, "ATTEMPTS", 3)
    attempts = []

    def work(_session):
        attempts.append(1)
        raise db_exception.DBDeadlock

    with pytest.raises(db_exception.DBDeadlock):
        sessions.run(work)
    assert len(attempts) == 3


@each
def test_other_errors_are_not_tried_again(sessions):
    attempts = []

    def work(session):
        attempts.append(1)
        session.execute(zone("a"))
        session.execute(zone("a"))

    with pytest.raises(db_exception.DBDuplicateEntry):
        sessions.run(work)
    assert len(attempts) == 1


@each
def test_rows_are_readable_after_the_transaction(sessions):
    with sessions.begin() as session:
        session.execute(zone("a"))
    row = sessions.run(lambda session: session.scalars(sa.select(AvailabilityZone)).one())
    assert (row.id, row.name) == ("a", "a")


@real
def test_what_was_committed_before_the_statement_is_seen(sessions):
    """READ COMMITTED on both servers: the guards on child rows rest on it."""
    with sessions.begin() as session:
        session.execute(zone("a"))
    with sessions.begin() as reader:
        assert name_of(reader, "a") == "a"
        with sessions.begin() as writer:
            assert swap(writer, rename("a", "b"))
            assert name_of(reader, "a") == "a"  # not what is not committed
        assert name_of(reader, "a") == "b"


def moments(connection, *expressions):
    row = connection.execute(sa.select(*expressions)).one()
    return [dt.datetime.fromisoformat(value) if isinstance(value, str) else value for value in row]


@each
def test_now_is_utc(engine, kind):
    with engine.connect() as connection:
        if kind == "postgresql":
            connection.execute(sa.text("SET TIME ZONE 'Asia/Tokyo'"))
        if kind == "mariadb":
            connection.execute(sa.text("SET time_zone = '+09:00'"))
        (moment,) = moments(connection, now())
    ours = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    assert abs((ours - moment).total_seconds()) < 60  # the same machine's clock


@each
def test_now_is_the_statements(sessions):
    """Not the transaction's: a lease that is checked late in a long one must be seen to end."""
    with sessions.begin() as session:
        (first,) = moments(session, now())
        moment = first
        while moment == first:  # the clock's next tick
            (moment,) = moments(session, now())
        assert moment > first


@each
@pytest.mark.parametrize("seconds", [0, 1, 0.25, 86400, -60, -0.5, 2592000])
def test_after(engine, seconds):
    # PostgreSQL reads its clock twice, and may be interrupted in between.
    wrong = []
    with engine.connect() as connection:
        for _ in range(5):
            moment, later = moments(connection, now(), after(seconds))
            wrong.append(abs((later - moment).total_seconds() - seconds))
    assert min(wrong) < 0.05


@each
def test_after_of_a_column(sessions):
    """Times are kept, compared and sorted with the same clock."""
    with sessions.begin() as session:
        for number, due in enumerate([after(-0.01), after(3600), None]):
            session.execute(
                sa.insert(Intent).values(
                    id=str(number),
                    kind="k",
                    event="e",
                    resource_type="share",
                    resource_id=str(number),
                    destination="here",
                    fence=60,
                    due=due,
                )
            )
    with sessions.begin() as session:

        def found(where):
            return list(session.scalars(sa.select(Intent.id).where(where).order_by(Intent.id)))

        assert found(Intent.due <= now()) == ["0"]
        assert found(Intent.due <= after(Intent.fence)) == ["0"]
        assert found(Intent.due <= after(Intent.fence * 61)) == ["0", "1"]
        assert found(Intent.created_at <= now()) == ["0", "1", "2"]
        assert found(Intent.created_at < after(-60)) == []
