"""A cloud with very many shares: the real programs, on a MariaDB with room for its rows."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa

from devstack.servers import MariaDB, free_port
from fileshare.db import migration, models, quotas
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.statuses import Status
from tests.chaos import truth
from tests.chaos.deployment import ADMIN, Deployment, Guarded, until
from tests.fixtures import copies

PROJECTS = 1_000
BACKENDS = 200
POOLS = 10
YEAR = 365 * 86_400

LARGE = "f" * 32
"""The project of every tenth share; the others have some ninety of 100,000 each."""
SMALL = "a5bfc9e07964f8dddeb95fc584cd965d"  # MD5 of 37

_OTHERS = PROJECTS - 1
VARIED = {
    "project_id": f"IF(MOD(seq, 10) = 0, '{LARGE}', MD5(MOD(seq, {_OTHERS})))",
    "user_id": f"MD5(CONCAT(IF(MOD(seq, 10), MOD(seq, {_OTHERS}), ''), '/', MOD(seq DIV 7, 3)))",
    "display_name": "CONCAT('share-', seq)",
    "size": "1 + MOD(seq, 100)",
    "is_public": "MOD(seq, 1000) = 1",
    "value": "CONCAT('value-', MOD(seq, 500))",
    "host": f"CONCAT('node@b', MOD(seq, {BACKENDS}), '#p', MOD(seq DIV {BACKENDS}, {POOLS}))",
    # In no order, as the ids: the newest rows are all over the table.
    "created_at": f"UTC_TIMESTAMP(6) - INTERVAL MOD(CRC32(seq), {YEAR}) SECOND",
    "claimed_gb": "0",  # long since counted by a report
    "closed_at": "UTC_TIMESTAMP(6) - INTERVAL MOD(seq, 30) DAY",
}
"""How copies differ from the share that is copied, see :func:`tests.fixtures.copies.multiply`."""


class RoomyMariaDB(MariaDB):
    """A MariaDB that keeps the rows of a benchmark in memory, as an operator's does."""

    def command(self) -> list[str]:
        return [
            *super().command(),
            "--innodb-buffer-pool-size=2G",
            "--innodb-log-file-size=1G",
            "--max-connections=2000",
        ]


@contextlib.contextmanager
def roomy_database(directory: pathlib.Path) -> Iterator[str]:
    """The URL of a migrated database on a server of its own."""
    server = RoomyMariaDB(directory / "mariadb", free_port(), throwaway=True)
    guarded = Guarded(server)
    guarded.start()
    try:
        engine = sa.create_engine(server.url(""))
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE DATABASE fileshare CHARACTER SET utf8mb4")
        engine.dispose()
        url = server.url("fileshare")
        migration.upgrade(url)
        yield url
    finally:
        guarded.stop()


class Cloud(Deployment):
    """A deployment that can be filled."""

    def __init__(self, directory: pathlib.Path, database: str, transport: str = "") -> None:
        super().__init__(directory, database, transport)
        self.sessions = Sessions(create_engine(database))

    def close(self) -> None:
        super().close()
        self.sessions.dispose()

    def rows(self, statement: Any) -> list[Any]:
        return self.sessions.run(lambda session: list(session.execute(statement)))

    def settle(self) -> None:
        """Wait until nothing works any more."""
        until(lambda: truth.is_idle(self.sessions), "all work is done")

    def new_type(self, name: str) -> str:
        specs = {"driver_handles_share_servers": "False", "snapshot_support": "True"}
        body = {"share_type": {"name": name, "extra_specs": specs}}
        answer = self.ask("POST", "/types", body, as_=ADMIN)
        assert answer.status_code == 200, answer.text
        return answer.json()["share_type"]["id"]

    def new_share(self, name: str) -> str:
        """A share as users have them: with a description, metadata and two access rules."""
        answer = self.create(
            name,
            description="What the nightly run of the laboratory writes",
            metadata={"team": "physics", "cost-centre": "4711"},
        )
        assert answer.status_code == 200, answer.text
        share_id = answer.json()["share"]["id"]
        self.settle()
        if self.status(share_id) == Status.AVAILABLE:
            for address in ("10.0.0.1", "10.1.0.0/16"):
                assert self.allow(share_id, address).status_code == 200
        self.settle()
        return share_id

    def status(self, share_id: str) -> str:
        return self.rows(sa.select(models.Share.status).where(models.Share.id == share_id))[0][0]

    def fill(self, number: int) -> str:
        """*number* shares, two in a hundred in error, and a tenth as many that are deleted.

        The share daemon must have a back end that fails to create a share called «doomed».
        Returns the id of the share that is there most often.
        """
        self.make_type()
        types = [self.new_type(f"type-{place}") for place in range(4)]
        quoted = ", ".join(f"'{id}'" for id in types)
        varied = {**VARIED, "share_type_id": f"ELT(1 + MOD(seq, {len(types)}), {quoted})"}
        good, failed, gone = map(self.new_share, ("good", "doomed", "gone"))
        assert self.status(good) == Status.AVAILABLE
        assert self.status(failed) == Status.ERROR
        assert self.ask("DELETE", f"/shares/{gone}").status_code == 202
        self.settle()
        engine = self.sessions.engine
        failures = number // 50
        copies.multiply(engine, good, number - failures, **varied)
        copies.multiply(engine, failed, failures, **varied)
        varied["deleted_at"] = varied.pop("closed_at")
        copies.multiply(engine, gone, number // 10, **varied)
        self._book()
        copies.analyse(engine)
        return good

    def _book(self) -> None:
        """The quotas' books of what is there."""
        counted = self.sessions.run(quotas.recount)
        rows = [
            {"project_id": project, "scope": scope, "resource": name, "used": used}
            for (project, scope, name), used in counted.items()
        ]
        with self.sessions.engine.begin() as connection:
            connection.execute(sa.delete(models.QuotaUsage))
            connection.execute(sa.insert(models.QuotaUsage), rows)
