"""Engines, transactions, and the one primitive under every guarded write."""

from __future__ import annotations

import datetime as dt
import functools
import importlib
import json
import random
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import orjson
import sqlalchemy as sa
import tenacity
from oslo_config import cfg
from oslo_db import exception as db_exception
from oslo_db.sqlalchemy import exc_filters
from sqlalchemy import orm

from fileshare import errors
from fileshare.db import away
from fileshare.db.clock import NOW
from fileshare.domain import patterns

Session = orm.Session
Result = TypeVar("Result")


class StartOver(Exception):
    """A transaction that another one has crossed: run it again from its beginning."""


@exc_filters.filters(  # type: ignore[untyped-decorator]
    "mysql", sa.exc.DBAPIError, r"^\(\S+\) \(1213, "
)
def _deadlock(error: Exception, _match: Any, _engine: str, _is_disconnect: bool) -> None:
    """By its number: a certification failure of Galera has texts that oslo.db does not know."""
    raise db_exception.DBDeadlock(error)


# What a server says when it took another transaction's side, or lost the connection before
# anything was committed.
TRANSIENT = (db_exception.DBDeadlock, db_exception.DBConnectionError, StartOver)
ATTEMPTS = 8
SQLITE_PATIENCE = 30.0
"""Seconds for which a statement waits until others have written."""
SQLITE_REPEATS = 2
"""Repeats of a regular expression; with one more a row can take half a minute."""


class OutcomeInDoubt(db_exception.DBConnectionError):  # type: ignore[misc]
    """The database stayed away from a commit on: nobody can say whether that was done."""


class _UnknownOutcome(Exception):
    """The connection was lost during the commit."""

    def __init__(self, result: object, cause: Exception) -> None:
        super().__init__(str(cause))
        self.result, self.cause = result, cause


class Sessions:
    """Makes transactions on one engine."""

    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._maker = orm.sessionmaker(engine, expire_on_commit=False, autoflush=False)

    def begin(self) -> Any:
        """A transaction as a context manager: committed at its end, undone by an exception."""
        return self._maker.begin()

    def run(
        self,
        work: Callable[[Session], Result],
        is_done: Callable[[Session], bool | None] | None = None,
    ) -> Result:
        """*work* in a transaction, again from the start after a deadlock or a lost connection.

        *work* must have no effect but on its session.  A connection that is lost during the
        commit leaves the outcome unknown: then *is_done* is asked whether the writes are there,
        and without it *work* is run again, as compare-and-swaps may be.  So it is where *is_done*
        does not know (None); but if that is refused, maybe because it is done already, this
        raises OutcomeUnknown, and OutcomeInDoubt where the database stays away.
        """
        in_doubt = False
        for attempt in range(ATTEMPTS):
            try:
                return self._once(work)
            except _UnknownOutcome as unknown:
                known = self._ask(is_done) if is_done is not None else False
                if known:
                    return cast("Result", unknown.result)
                in_doubt = in_doubt or known is None
                self._pause(attempt, unknown.cause, in_doubt=in_doubt)
            except errors.FileshareError as refusal:
                if in_doubt:
                    raise errors.OutcomeUnknown from refusal
                raise
            except TRANSIENT as error:
                self._pause(attempt, error, in_doubt=in_doubt)
            except sa.exc.TimeoutError as error:
                # Of this process's pool, and waited for long enough.
                away = OutcomeInDoubt if in_doubt else db_exception.DBConnectionError
                raise away(error) from error
        raise AssertionError

    def _once(self, work: Callable[[Session], Result]) -> Result:
        results: list[Result] = []
        try:
            # A commit that fails is rolled back, too: the connection is used again.
            with self._maker.begin() as session:
                results.append(work(session))
        except db_exception.DBConnectionError as error:
            if results:
                raise _UnknownOutcome(results[0], error) from error
            raise
        return results[0]

    def _ask(self, is_done: Callable[[Session], bool | None]) -> bool | None:
        try:
            return self.run(is_done)
        except db_exception.DBConnectionError as error:
            raise OutcomeInDoubt(error) from error

    @staticmethod
    def _pause(attempt: int, error: Exception, *, in_doubt: bool) -> None:
        if attempt == ATTEMPTS - 1:
            raise OutcomeInDoubt(error) if in_doubt else error
        time.sleep(random.uniform(0, 0.02 * 2**attempt))  # noqa: S311  (jitter)

    def dispose(self) -> None:
        self.engine.dispose()


def is_there(session: Session, model: type[orm.DeclarativeBase], id: str) -> bool:
    """Whether a row was committed.

    The lock waits for whoever writes the row just now: a lost connection's transaction may be
    in the middle of its commit.
    """
    key = cast("Any", model).id
    return session.scalar(sa.select(key).where(key == id).with_for_update()) is not None


Write = sa.Update | sa.Delete | sa.Insert


def swap(session: Session, statement: Write, values: Mapping[str, Any] | None = None) -> bool:
    """Compare and swap: whether exactly the one row that *statement* expects was there."""
    return count(session, statement, values) == 1


def count(session: Session, statement: Write, values: Mapping[str, Any] | None = None) -> int:
    """The number of rows that *statement* met; *values* fill its parameters.

    Rows are written by statements, never by changing objects, so the session has nothing to
    learn from them and is passed by.
    """
    return int(session.connection().execute(statement, values or {}).rowcount)


def written(values: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
    """The shape of an UPDATE: its columns, and which of them are set to the database's now.

    Statements of one shape are built once (see :func:`assignments`): building them anew costs
    more than running them.
    """
    return tuple((name, value is NOW) for name, value in sorted(values.items()))


def assignments(shape: tuple[tuple[str, bool], ...]) -> dict[str, Any]:
    """What an UPDATE of *shape* sets; the parameter of a column is its name after ``new_``."""
    return {name: NOW if at_once else sa.bindparam(f"new_{name}") for name, at_once in shape}


def parameters(values: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """The parameters of a statement made with :func:`assignments`, and *others*."""
    given = {f"new_{name}": value for name, value in values.items() if value is not NOW}
    return given | others


def from_json(text: str | bytes) -> Any:
    """The value of a JSON document, also of one with numbers that only Python writes (Infinity).

    The library of Python took a third of the time of a long list of pools.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def create_engine(url: str, **options: Any) -> sa.Engine:
    """An engine whose driver errors are those of oslo.db, set up for this program.

    Made here and not by oslo.db, which would ping the server before each transaction; a lost
    connection is met by :meth:`Sessions.run` instead.  Errors and logs of statements do not show
    values, for some are secrets.
    """
    backend = sa.make_url(url).get_backend_name()
    options |= {"hide_parameters": True, "json_deserializer": from_json}
    if backend == "sqlite":
        engine = sa.create_engine(url, connect_args={"timeout": SQLITE_PATIENCE}, **options)
        sa.event.listen(engine, "connect", _sqlite_pragmas)
        sa.event.listen(engine, "begin", _sqlite_begin)
    else:
        # Guards on child rows rest on the level (see doc/adr): both servers see what was
        # committed before the statement, not before the transaction.
        # Every transaction of :class:`Sessions` ends with a commit or a rollback; another
        # rollback when the connection goes back to the pool would be a round trip for nothing.
        if backend in {"mysql", "mariadb"}:
            options["connect_args"] = {"conv": _conversions(url)}
        engine = sa.create_engine(
            url,
            isolation_level="READ COMMITTED",
            pool_reset_on_return=None,
            pool_use_lifo=True,
            **options,
        )
    if backend in {"mysql", "mariadb"}:
        sa.event.listen(engine, "connect", _mysql_session)
    sa.event.listen(engine, "handle_error", away.notice)
    exc_filters.register_engine(engine)
    return engine


def _conversions(url: str) -> dict[Any, Any]:
    """What a driver for MySQL makes of values, with moments read by the standard library.

    Its own reader of moments is Python code that took a tenth of a long list's time.
    """
    driver: Any = sa.make_url(url).get_dialect().import_dbapi()
    converters = importlib.import_module(f"{driver.__name__}.converters")
    kinds = importlib.import_module(f"{driver.__name__}.constants").FIELD_TYPE
    moments = dict.fromkeys((kinds.DATETIME, kinds.TIMESTAMP), dt.datetime.fromisoformat)
    return {**converters.conversions, **moments}


def _mysql_session(connection: Any, _record: Any) -> None:
    # A value that does not fit is an error, not a warning.
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = 'TRADITIONAL', time_zone = '+00:00'")


def _sqlite_pragmas(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the begin event says when a transaction starts
    _write_ahead(connection)
    for pragma in ("synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").close()
    connection.create_function("regexp", 2, _sqlite_regexp, deterministic=True)


def _sqlite_regexp(pattern: str, text: str | None) -> bool | None:
    # This process matches for SQLite, and everybody waits meanwhile.
    return None if text is None else _usable(pattern).search(text) is not None


@functools.lru_cache(maxsize=64)
def _usable(pattern: str) -> re.Pattern[str]:
    return patterns.compiled(pattern, "pattern", SQLITE_REPEATS)


def _is_locked(error: BaseException) -> bool:
    # The lower byte is the error, the rest says more; what Python's module raises has no code.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


# SQLite waits for who writes the file, but not here: of several programs that meet at a new
# file all but one would fail.  A file that has its log already is not locked for this.
@tenacity.retry(
    retry=tenacity.retry_if_exception(_is_locked),
    wait=tenacity.wait_random(0.01, 0.1),
    stop=tenacity.stop_after_delay(SQLITE_PATIENCE),
    reraise=True,
)
def _write_ahead(connection: Any) -> None:
    connection.execute("PRAGMA journal_mode = WAL").close()


def _sqlite_begin(connection: sa.Connection) -> None:
    # A transaction that reads first and writes later would be refused by another writer in
    # between; taking the write lock at the start makes the second one wait instead.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


Unreachable = db_exception.DBConnectionError
"""There is no connection to the database, or no more."""


def why(error: Exception) -> object:
    """What the server or its client said, without what SQLAlchemy adds."""
    return getattr(error, "inner_exception", None) or error


def refusal(conf: cfg.ConfigOpts) -> str | None:
    """Why the URL of the section [database] cannot be used; says nothing of a password in it."""
    try:
        dialect = sa.make_url(conf.database.connection or "").get_dialect()
        dialect.import_dbapi()
    except ImportError as error:
        return (
            f"[database] connection needs a Python module that is not installed: {error}. "
            "The extras mysql, mysqlclient and postgresql of fileshare bring them."
        )
    except sa.exc.ArgumentError:
        return "[database] connection is not the URL of a database, such as sqlite:////path/db."
    return None


def connect(conf: cfg.ConfigOpts) -> Sessions:
    """The sessions of the section [database]."""
    section = conf.database
    options = {
        "pool_size": section.max_pool_size,
        "max_overflow": section.max_overflow,
        "pool_timeout": section.pool_timeout,
        "pool_recycle": section.connection_recycle_time,
    }
    given = {key: value for key, value in options.items() if value is not None}
    return Sessions(create_engine(section.connection, **given))
