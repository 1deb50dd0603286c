"""Changes of a table while others use it: they ask for its lock, and let it be for a moment.

On MySQL and MariaDB a change waits until all transactions that have read the table end, and
whoever comes later waits behind it.  One of those may hold a row that such a transaction is
waiting for.  The server sees no deadlock in that, and everything stands until something gives up.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

WAIT = 1
"""Seconds that a change stands in the way of others; the least that MySQL takes."""
ATTEMPTS = 600

_CHANGES = ("ALTER ", "CREATE ", "DROP ", "RENAME ", "TRUNCATE ")
_BUSY = frozenset({1205, 1213})  # lock wait timeout, deadlock


@contextlib.contextmanager
def patient(connection: sa.Connection) -> Iterator[None]:
    """Let changes of tables on this connection of MySQL or MariaDB give way, and try again.

    Such a statement is a transaction of its own: one that gave way has done nothing.
    """

    def execute(cursor: Any, statement: str, parameters: Any, context: Any) -> bool:
        if context.root_connection is not connection:
            return False  # the engine may be in use elsewhere
        return _execute(cursor, statement, parameters, context.dialect.loaded_dbapi.Error)

    connection.exec_driver_sql(f"SET SESSION lock_wait_timeout = {WAIT}")
    sa.event.listen(connection.engine, "do_execute", execute)
    try:
        yield
    finally:
        sa.event.remove(connection.engine, "do_execute", execute)
        if not connection.invalidated:  # one that was lost has lost its settings
            connection.exec_driver_sql("SET SESSION lock_wait_timeout = DEFAULT")


def _execute(
    cursor: Any, statement: str, parameters: Any, error_of_driver: type[Exception]
) -> bool:
    """Whether *statement* is a change, and was made."""
    if not statement.lstrip().upper().startswith(_CHANGES):
        return False
    for attempt in range(1, ATTEMPTS + 1):
        try:
            cursor.execute(statement, parameters)
        except error_of_driver as error:
            if error.args[0] not in _BUSY or attempt == ATTEMPTS:
                raise
            LOG.info(
                "The table is in use; try %d of: %s", attempt + 1, " ".join(statement.split())
            )
            time.sleep(random.uniform(0.5, 1.5) * WAIT)  # noqa: S311 - not for secrets
        else:
            return True
    raise AssertionError
