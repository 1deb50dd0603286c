"""What a Galera cluster says: errors of its own kind, by a real MariaDB told to raise them."""

from __future__ import annotations

import pymysql
import pytest
import sqlalchemy as sa

from fileshare.db.models import AvailabilityZone

pytestmark = [pytest.mark.integration, pytest.mark.parametrize("kind", ["mariadb"])]

CONFLICT = (
    "WSREP detected deadlock/conflict and aborted the transaction. Try restarting the transaction"
)
ERRORS = {
    "a deadlock": (
        "40001",
        1213,
        "Deadlock found when trying to get lock; try restarting transaction",
    ),
    "a certification failure": (
        "40001",
        1213,
        CONFLICT,
    ),
    "a lock that was not got": (
        "HY000",
        1205,
        "Lock wait timeout exceeded; try restarting transaction",
    ),
    "a node that is not part of the cluster": (
        "08S01",
        1047,
        "WSREP has not yet prepared node for application use",
    ),
}
each_error = pytest.mark.parametrize("error", ERRORS)


def zone(name):
    return sa.insert(AvailabilityZone).values(id=name, name=name)


def names(sessions):
    query = sa.select(AvailabilityZone.name).order_by(AvailabilityZone.name)
    return sessions.run(lambda session: list(session.scalars(query)))


def connection_id(session):
    return session.scalar(sa.text("SELECT CONNECTION_ID()"))


@each_error
def test_a_statement_is_refused(sessions, error):
    """The transaction is run again, on another connection where the node is not usable."""
    state, number, text = ERRORS[error]
    seen = []

    def work(session):
        seen.append(connection_id(session))
        session.execute(zone("a"))
        if len(seen) < 3:
            words = f"SIGNAL SQLSTATE '{state}' SET MYSQL_ERRNO = {number}, MESSAGE_TEXT = :text"
            session.execute(sa.text(words), {"text": text})
        session.execute(zone("b"))
        return "done"

    assert sessions.run(work) == "done"
    assert len(seen) == 3
    assert names(sessions) == ["a", "b"]
    if number == 1047:
        assert len(set(seen)) == 3, "a balancer was given no chance to choose another node"


@each_error
def test_the_commit_is_refused(sessions, error, monkeypatch):
    """Certification fails at the commit: nothing was done, so all is done again."""
    _, number, text = ERRORS[error]
    dialect = sessions.engine.dialect
    real, refused = dialect.do_commit, []

    def commit(connection):
        if len(refused) < 2:
            refused.append(number)
            dialect.do_rollback(connection)
            raise pymysql.err.OperationalError(number, text)
        real(connection)

    monkeypatch.setattr(dialect, "do_commit", commit)
    attempts = []

    def work(session):
        attempts.append(1)
        session.execute(zone("a"))
        return "done"

    assert sessions.run(work) == "done"
    assert (len(attempts), len(refused)) == (3, 2)
    assert names(sessions) == ["a"]


def test_what_is_no_matter_of_chance_is_not_tried_again(sessions):
    attempts = []

    def work(session):
        attempts.append(1)
        words = "SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1644, MESSAGE_TEXT = 'no'"
        session.execute(sa.text(words))

    with pytest.raises(sa.exc.DBAPIError):
        sessions.run(work)
    assert len(attempts) == 1
