"""A MariaDB database with many rows, made by the server itself."""

from __future__ import annotations

import contextlib
import json

import sqlalchemy as sa

from fileshare.db import migration
from fileshare.db.models import (
    AccessMapping,
    AccessRule,
    AvailabilityZone,
    ExportLocation,
    Intent,
    Message,
    PoolReport,
    QuotaUsage,
    Service,
    Share,
    ShareInstance,
    ShareMetadata,
    ShareType,
)
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import IntentState, RuleState, ServiceState, Status
from tests.fixtures.servers import mariadb_database

SHARES = 20000
LARGE = "large"  # the project of half of them; the others' have a hundred each
POOLS = 100


def text(value):
    return f"'{value}'"


def numbered(prefix, divisor=None):
    return f"CONCAT('{prefix}-', {'n' if divisor is None else f'MOD(n, {divisor})'})"


def fill(connection, model, number, **expressions):
    """*number* rows of *model*, with expressions of SQL in which *n* counts from 1."""
    values = {}
    for column in model.__table__.columns:
        default = column.default
        if column.name in expressions:
            values[column.name] = expressions[column.name]
        elif default is not None and default.is_scalar:
            values[column.name] = literal(default.arg)
        elif column.name == "created_at":
            values[column.name] = "UTC_TIMESTAMP(6) - INTERVAL n SECOND"
        elif column.type.__class__ is sa.JSON:
            values[column.name] = text("{}")
    names = ", ".join(f"`{name}`" for name in values)
    connection.exec_driver_sql(
        f"INSERT INTO {model.__tablename__} ({names}) SELECT {', '.join(values.values())}"
        f" FROM (SELECT seq AS n FROM seq_1_to_{number}) AS numbers"
    )


def literal(value):
    if isinstance(value, bool):
        return str(int(value))
    return text(value) if isinstance(value, str) else json.dumps(value)


@contextlib.contextmanager
def filled(server):
    """The sessions of a new database on *server*, filled and analysed."""
    with mariadb_database(server) as url:
        sessions = Sessions(create_engine(url))
        try:
            migration.upgrade(sessions.engine)
            with sessions.engine.begin() as writer:
                for part in (_services, _shares, _children, _history):
                    part(writer)
            with sessions.engine.begin() as writer:
                tables = ", ".join(sa.inspect(writer).get_table_names())
                writer.exec_driver_sql(f"ANALYZE TABLE {tables}").all()
            yield sessions
        finally:
            sessions.dispose()


def _services(connection):
    fill(connection, AvailabilityZone, 3, id=numbered("z"), name=numbered("zone"))
    common = {"availability_zone_id": "CONCAT('z-', 1 + MOD(n, 3))"}
    fill(
        connection,
        Service,
        POOLS,
        id="n",
        binary=text("share"),
        topic=text("share"),
        host=numbered("node@backend"),
        state=text(ServiceState.UP),
        heartbeat_at="UTC_TIMESTAMP(6) + INTERVAL 1 DAY",
        **common,
    )
    fill(
        connection,
        PoolReport,
        POOLS,
        id="n",
        host="CONCAT('node@backend-', n, '#pool')",
        backend=numbered("node@backend"),
        pool=text("pool"),
        total_gb="1000",
        free_gb="1000",
        reported_at="UTC_TIMESTAMP(6)",
        **common,
    )


def _shares(connection):
    fill(connection, ShareType, 10, id=numbered("t"), name=numbered("type"))
    common = {
        "status": f"IF(MOD(n, 49) = 0, '{Status.ERROR}', '{Status.AVAILABLE}')",
        "host": f"CONCAT('node@backend-', 1 + MOD(n, {POOLS}), '#pool')",
        "share_type_id": "CONCAT('t-', 1 + MOD(n, 10))",
        "availability_zone_id": "CONCAT('z-', 1 + MOD(n, 3))",
        "deleted_at": "IF(MOD(n, 10) = 9, UTC_TIMESTAMP(6), NULL)",
    }
    fill(
        connection,
        Share,
        SHARES,
        id=numbered("s"),
        project_id=f"IF(MOD(n, 2), '{LARGE}', CONCAT('p-', MOD(n, 200)))",
        display_name=numbered("name"),
        size="1 + MOD(n, 7)",
        share_proto=text("NFS"),
        is_public="MOD(n, 400) = 0",
        **common,
    )
    fill(connection, ShareInstance, SHARES, id=numbered("i"), share_id=numbered("s"), **common)


def _children(connection):
    fill(
        connection,
        ShareMetadata,
        2 * SHARES,
        share_id=f"CONCAT('s-', 1 + MOD(n, {SHARES}))",
        key=f"CONCAT('key-', n > {SHARES})",
        value=numbered("value", 1000),
    )
    fill(
        connection,
        ExportLocation,
        SHARES,
        id=numbered("e"),
        share_instance_id=numbered("i"),
        path=numbered("/path"),
    )
    for first, number, share in ((0, SHARES, "n"), (SHARES, 300, "1")):
        fill(
            connection,
            AccessRule,
            number,
            id=f"CONCAT('a-', n + {first})",
            share_id=f"CONCAT('s-', {share})",
            access_type=text("ip"),
            access_to=numbered(f"{first}-client"),
            canonical=numbered(f"{first}-client"),
            access_level=text("rw"),
        )
        fill(
            connection,
            AccessMapping,
            number,
            id=f"CONCAT('m-', n + {first})",
            access_id=f"CONCAT('a-', n + {first})",
            share_instance_id=f"CONCAT('i-', {share})",
            state=text(RuleState.ACTIVE),
        )


def _history(connection):
    work = {"kind": text("share.create"), "event": text("share.create"), "version": "1"}
    open_ = "MOD(n, 100) = 0"
    # One of ten falls due each hour, the next ones in fifty minutes: the same ones are due
    # however long the tests take.
    due = "INTERVAL 36 * (CAST(MOD(n, 1000) AS SIGNED) - 500) - 600 SECOND"
    fill(
        connection,
        Intent,
        SHARES,
        id=numbered("w"),
        state=f"IF({open_}, '{IntentState.OPEN}', '{IntentState.DONE}')",
        resource_type=text("share"),
        resource_id=numbered("s"),
        share_id=numbered("s"),
        open_key=f"IF({open_}, CONCAT('share/s-', n), NULL)",
        project_id=text(LARGE),
        destination=f"CONCAT('fileshare-share.node@backend-', 1 + MOD(n DIV 100, {POOLS}))",
        due=f"IF({open_}, UTC_TIMESTAMP(6) + {due}, NULL)",
        closed_at=f"IF({open_}, NULL, UTC_TIMESTAMP(6))",
        **work,
    )
    fill(
        connection,
        Message,
        SHARES,
        id=numbered("m"),
        project_id=f"IF(MOD(n, 2), '{LARGE}', CONCAT('p-', MOD(n, 200)))",
        request_id=numbered("req", 5000),
        resource_type=text("SHARE"),
        resource_id=numbered("s"),
        action_id=text("001"),
        message_level=text("ERROR"),
        expires_at="UTC_TIMESTAMP(6) + INTERVAL CAST(n AS SIGNED) - 10 SECOND",
    )
    fill(
        connection,
        QuotaUsage,
        2000,
        project_id=numbered("p"),
        scope=text("project"),
        resource=text("shares"),
        used="n",
    )
