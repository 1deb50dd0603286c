"""The schema: brought up to date, named, and compared with the models.

Two branches of steps: *expand* adds and is run before the new code starts, *contract* removes
and is run after the last old process has stopped.  Code of two neighbouring releases works with
everything between.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import autogenerate, command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import differences, patience
from fileshare.db.models import Base, Service
from fileshare.db.models.base import LongText, Moment
from fileshare.db.session import create_engine

BRANCHES = ("expand", "contract")
HEADS = "heads"
MYSQL = frozenset({"mysql", "mariadb"})

_INI = Path(__file__).parent / "migrations" / "alembic.ini"
_LOCK = "fileshare-schema"
_LOCK_NUMBER = 0x66736831
_LOCK_WAIT = 3600  # seconds; the largest tables take long


def upgrade(target: sa.Engine | str, to: str = HEADS) -> None:
    """Bring a database (an engine, or its URL) up to *to*: all, a branch, or one revision.

    Of several processes that are started at once one does the work, the others wait for it.
    """
    wanted = f"{to}@head" if to in BRANCHES else to
    with _exclusive(target) as connection:
        command.upgrade(_config(connection), wanted)


def downgrade(target: sa.Engine | str, to: str) -> None:
    """Take the schema back to a revision (``base``: nothing); what newer steps made is lost."""
    with _exclusive(target) as connection:
        command.downgrade(_config(connection), to)


def stamp(target: sa.Engine | str, to: str = HEADS) -> None:
    """Note that the database is at *to*, without running a step."""
    with _exclusive(target) as connection:
        command.stamp(_config(connection), to)


def version(target: sa.Engine | str) -> dict[str, str | None]:
    """The revision that each branch of the database is at; None before its first step."""
    with _connected(target) as connection:
        current = MigrationContext.configure(connection).get_current_heads()
    script = ScriptDirectory.from_config(_config())
    taken = {step for revision in current for step in script.iterate_revisions(revision, "base")}
    found: dict[str, str | None] = dict.fromkeys(BRANCHES)
    # From the newest on: a step of one branch brings older ones of the other along.
    for step in script.walk_revisions():
        if step in taken:
            for label in step.branch_labels:
                found[label] = found[label] or step.revision
    return found


def heads() -> dict[str, str | None]:
    """The newest revision of each branch that this release knows."""
    script = ScriptDirectory.from_config(_config())
    found: dict[str, str | None] = dict.fromkeys(BRANCHES)
    for branch in BRANCHES:
        revision = script.get_revision(f"{branch}@head")
        found[branch] = revision.revision if revision else None
    return found


def check(target: sa.Engine | str) -> list[str]:
    """What is different between the database and the models, in words; empty: nothing."""
    with _connected(target) as connection:
        context = MigrationContext.configure(
            connection, opts={"target_metadata": Base.metadata, **options(connection.dialect.name)}
        )
        script = autogenerate.produce_migrations(context, Base.metadata)
    assert script.upgrade_ops is not None
    return differences.sentences(script.upgrade_ops.as_diffs())


def revise(target: sa.Engine | str, message: str, branch: str = BRANCHES[0]) -> None:
    """Write a new step that brings *branch* from the database to the models; for developers."""
    number = len(list(_steps(branch))) + 1
    with _exclusive(target) as connection:
        command.revision(
            _config(connection),
            message,
            autogenerate=branch == BRANCHES[0],
            head=f"{branch}@head",
            rev_id=f"{branch[0]}{number:04}",
        )


def require(url: str, *, tables: bool = True) -> None:
    """Raise Conflict where *url* leads to no database, or (*tables*) to one without tables.

    A file of SQLite would be made by the first look at it, and everything found to be in order.
    """
    shown = sa.make_url(url).render_as_string(hide_password=True)
    path = sa.make_url(url).database
    if url.startswith("sqlite") and path and path != ":memory:":
        place = Path(path) if tables else Path(path).parent
        if not place.exists():
            raise errors.Conflict(reason=f"There is no {place}: look at [database] connection.")
    try:
        with _connected(url) as connection:
            there = sa.inspect(connection).has_table(Service.__tablename__)
    except db_exception.DBError as error:
        raise errors.Conflict(reason=f"{shown} cannot be used: {error}") from error
    if tables and not there:
        raise errors.Conflict(
            reason=f"{shown} has no tables: run 'fileshare-manage db sync' first."
        )


def _steps(branch: str) -> Iterator[str]:
    script = ScriptDirectory.from_config(_config())
    for step in script.walk_revisions(head=f"{branch}@head"):
        if branch in step.branch_labels:
            yield step.revision


def options(dialect: str) -> dict[str, Any]:
    """How alembic runs steps, compares and writes."""
    return {
        "compare_type": _differs,
        "include_object": _ours,
        "render_item": _render,
        "render_as_batch": dialect == "sqlite",
        # MySQL commits at each statement anyway; a step that fails leaves those before it.
        "transaction_per_migration": True,
        "transactional_ddl": dialect not in MYSQL,
    }


def _ours(_object: object, name: str | None, kind: str, reflected: bool, other: object) -> bool:
    """MySQL makes an index for a foreign key that has none; it is named as the key."""
    implied = kind == "index" and reflected and other is None and (name or "").startswith("fk_")
    return not implied


def _differs(
    context: MigrationContext, _column: object, _model: object, found: Any, wanted: Any
) -> bool | None:
    """Whether a type changed; None asks alembic.  MariaDB keeps JSON as a text."""
    if isinstance(wanted, sa.JSON) and context.dialect.name in MYSQL:
        return not isinstance(found, (sa.JSON, sa.String))
    return None


def _render(kind: str, item: object, _context: Any) -> Any:
    names: Mapping[int, str] = {id(Moment): "MOMENT", id(LongText): "LONG_TEXT"}
    return names.get(id(item), False) if kind == "type" else False


def _config(connection: sa.Connection | None = None) -> Config:
    config = Config(_INI)
    config.attributes["connection"] = connection
    return config


@contextlib.contextmanager
def _connected(target: sa.Engine | str) -> Iterator[sa.Connection]:
    engine = create_engine(target) if isinstance(target, str) else target
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        if engine is not target:
            engine.dispose()


@contextlib.contextmanager
def _exclusive(target: sa.Engine | str) -> Iterator[sa.Connection]:
    """A connection while no other process changes the schema."""
    with _connected(target) as connection, _locked(connection), _giving_way(connection):
        yield connection
        connection.commit()


def _giving_way(connection: sa.Connection) -> contextlib.AbstractContextManager[None]:
    mysql = connection.dialect.name in MYSQL
    return patience.patient(connection) if mysql else contextlib.nullcontext()


@contextlib.contextmanager
def _locked(connection: sa.Connection) -> Iterator[None]:
    if connection.dialect.name == "sqlite":
        # A table that is made anew in a batch must not take its children along; the one
        # transaction around everything keeps others out.
        _pragma(connection, "OFF")
        connection.begin()
    # The lock belongs to the connection: it goes with a process that is killed.
    elif _call(connection, *_TAKE[_family(connection)]) != 1:
        reason = f"Another process has been changing the schema for {_LOCK_WAIT} s: try again."
        raise errors.Conflict(reason=reason)
    try:
        yield
    finally:
        connection.rollback()
        if connection.dialect.name == "sqlite":
            _pragma(connection, "ON")
        else:
            _call(connection, *_GIVE[_family(connection)])


# Both say 1 where they got it; MySQL gives up after a while.
_TAKE: Mapping[str, tuple[str, dict[str, Any]]] = {
    "postgresql": ("SELECT 1 FROM pg_advisory_lock(:lock)", {"lock": _LOCK_NUMBER}),
    "mysql": ("SELECT GET_LOCK(:lock, :wait)", {"lock": _LOCK, "wait": _LOCK_WAIT}),
}
_GIVE: Mapping[str, tuple[str, dict[str, Any]]] = {
    "postgresql": ("SELECT pg_advisory_unlock(:lock)", {"lock": _LOCK_NUMBER}),
    "mysql": ("SELECT RELEASE_LOCK(:lock)", {"lock": _LOCK}),
}


def _family(connection: sa.Connection) -> str:
    return "mysql" if connection.dialect.name in MYSQL else connection.dialect.name


def _call(connection: sa.Connection, text: str, values: dict[str, Any]) -> Any:
    found = connection.execute(sa.text(text), values).scalar()
    connection.commit()
    return found


def _pragma(connection: sa.Connection, state: str) -> None:
    # Past SQLAlchemy, which would begin a transaction, in which the switch does nothing.
    driver: Any = connection.connection.driver_connection
    driver.execute(f"PRAGMA foreign_keys = {state}").close()
