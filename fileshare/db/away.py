"""Which errors say that a database does not serve just now, so that work waits for it.

A connection that broke is known to SQLAlchemy and oslo.db.  They do not know what a server says
that is not reached, starts or ends, was demoted to a standby, or has no room: each in words and
numbers of its own.
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa

_MYSQL: Final = {
    1021: "the disk is full",
    1040: "too many connections",
    1041: "out of memory",
    1053: "the server shuts down",
    1114: "the table is full",
    1135: "no thread",
    1203: "too many connections of the user",
    1226: "too much of the user",
    1317: "the statement was killed",
    1836: "the server is read-only",
}
_MYSQL_OPTION: Final = 1290  # an option of the server forbids the statement
_READ_ONLY: Final = "read-only"

_POSTGRESQL: Final = (
    "08",  # the connection
    "25006",  # a standby
    "53",  # no room, memory or connections
    "57P",  # the server starts or ends
    "58030",  # its disk
)
_CANCELLED: Final = "57014"
_TIMEOUT: Final = "timeout"

_SQLITE: Final = {10, 13, 14}  # its disk fails, is full, is not there


def notice(context: sa.engine.ExceptionContext) -> None:
    """Let such an error be one of a lost connection; the next one may lead to another server."""
    if context.connection is None:
        away = isinstance(context.sqlalchemy_exception, sa.exc.OperationalError)
    else:
        away = _SAYS[context.dialect.name](context.original_exception)
    if away:
        context.is_disconnect = True


def _mysql(error: Any) -> bool:
    number = error.args[0] if error.args else None
    return number in _MYSQL or (number == _MYSQL_OPTION and _READ_ONLY in str(error))


def _postgresql(error: Any) -> bool:
    state = getattr(error, "sqlstate", None) or ""
    cancelled = state == _CANCELLED and _TIMEOUT not in str(error)
    return cancelled or state.startswith(_POSTGRESQL)


def _sqlite(error: Any) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _SQLITE


_SAYS: Final = {
    "mysql": _mysql,
    "mariadb": _mysql,
    "postgresql": _postgresql,
    "sqlite": _sqlite,
}
