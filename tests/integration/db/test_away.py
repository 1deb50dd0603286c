"""A database that does not serve is no error of the work, whatever its server says."""

from __future__ import annotations

import contextlib

import pytest
import sqlalchemy as sa
from oslo_db import exception as db_exception

from devstack.servers import HOST, free_port
from fileshare.db import session as module
from fileshare.db.models import AvailabilityZone
from fileshare.db.session import TRANSIENT, Sessions, create_engine
from tests.fixtures.databases import REAL

real = pytest.mark.parametrize("kind", REAL)
pytestmark = pytest.mark.integration

SAID = {
    "mariadb": [
        (1290, "The MariaDB server is running with the --read-only option so it cannot execute"),
        (1836, "Running in read-only mode"),
        (1053, "Server shutdown in progress"),
        (1021, "Disk full (/tmp/#sql); waiting for someone to free some space..."),
        (1317, "Query execution was interrupted"),
    ],
    "postgresql": [
        ("25006", "cannot execute INSERT in a read-only transaction"),
        ("53100", "could not extend file: No space left on device"),
        ("57P01", "terminating connection due to administrator command"),
        ("57014", "canceling statement due to user request"),
    ],
}
"""What servers say, which a real one is told to say."""


def zone(name):
    return sa.insert(AvailabilityZone).values(id=name, name=name)


def raising(kind, code, text):
    if kind == "mariadb":
        return f"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = '{text}'"
    return f"DO $$ BEGIN RAISE '{text}' USING ERRCODE = '{code}'; END $$"


@pytest.mark.parametrize(
    ("kind", "code", "text"), [(kind, *error) for kind in SAID for error in SAID[kind]]
)
def test_a_statement_that_the_server_cannot_run_now(sessions, kind, code, text):
    """The transaction is run again, on a new connection: it may lead to another server."""
    seen = []

    def work(session):
        connection = session.connection().connection.dbapi_connection
        session.execute(zone("a"))
        seen.append(connection)
        if len(seen) < 3:
            session.execute(sa.text(raising(kind, code, text)))
        return "done"

    assert sessions.run(work) == "done"
    assert len({id(connection) for connection in seen}) == 3


@pytest.mark.parametrize(
    ("kind", "code", "text"),
    [
        ("mariadb", 1290, "The MariaDB server is running with the --secure-file-priv option"),
        ("mariadb", 1969, "Query execution was interrupted (max_statement_time exceeded)"),
        ("postgresql", "57014", "canceling statement due to statement timeout"),
        ("postgresql", "22012", "division by zero"),
    ],
)
def test_what_would_be_so_again(sessions, kind, code, text):
    attempts = []

    def work(session):
        attempts.append(1)
        session.execute(sa.text(raising(kind, code, text)))

    with pytest.raises((sa.exc.DBAPIError, db_exception.DBError)) as raised:
        sessions.run(work)
    assert not isinstance(raised.value, TRANSIENT)
    assert len(attempts) == 1


@pytest.fixture
def few_attempts(monkeypatch):
    monkeypatch.setattr(module, "ATTEMPTS", 2)


@contextlib.contextmanager
def at(engine, **changes):
    """The same database by other means."""
    made = Sessions(create_engine(engine.url.set(**changes)))
    yield made
    made.dispose()


@real
@pytest.mark.usefixtures("few_attempts")
def test_a_server_that_does_not_listen(engine):
    with (
        at(engine, host=HOST, port=free_port()) as nobody,
        pytest.raises(db_exception.DBConnectionError),
    ):
        nobody.run(lambda session: session.execute(zone("a")))


LIMITED = {
    "mariadb": "CREATE USER limited IDENTIFIED BY 'x' WITH MAX_USER_CONNECTIONS 1",
    "postgresql": "CREATE ROLE limited LOGIN PASSWORD 'x' CONNECTION LIMIT 1",
}
DROP = {"mariadb": "DROP USER limited", "postgresql": "DROP ROLE limited"}


@real
def test_a_server_with_too_many_connections(engine, kind):
    """Who comes when there is no room waits until there is: here, for the first refusal."""
    with engine.begin() as connection:
        connection.execute(sa.text(LIMITED[kind]))
    one = sa.text("SELECT 1")
    # A user without rights sees a server's own databases.
    database = {"mariadb": "information_schema", "postgresql": engine.url.database}[kind]
    account = {"username": "limited", "password": "x", "database": database}
    try:
        with at(engine, **account) as first, at(engine, **account) as second:
            held = first.engine.connect()
            held.execute(one)
            tries = []

            def leave(*_):
                tries.append(1)
                if len(tries) == 2:
                    held.invalidate()

            sa.event.listen(second.engine, "do_connect", leave)
            assert second.run(lambda session: session.scalar(one)) == 1
            assert len(tries) >= 2
    finally:
        with engine.begin() as connection:
            connection.execute(sa.text(DROP[kind]))


@real
def test_a_pool_that_stays_empty(engine):
    """It was waited for already: once, and as a database that is away."""
    options = {"pool_size": 1, "max_overflow": 0, "pool_timeout": 0.1}
    small = Sessions(create_engine(engine.url, **options))
    attempts = []

    def work(session):
        attempts.append(1)
        session.execute(sa.text("SELECT 1"))

    with small.engine.connect(), pytest.raises(db_exception.DBConnectionError):
        small.run(work)
    small.dispose()
    assert len(attempts) == 1
