"""``db …``: the schema, and what is kept in it."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Mapping

from fileshare.cmd.manage.program import Doing, Listing, Parser, Rows, with_dry_run
from fileshare.context import service_context
from fileshare.db import migration, online
from fileshare.db.sweeps import BATCH, PERCENT, Pace
from fileshare.operations import maintenance

_BAD_COUNT = 127
_FAILED = 2


class Sync(Doing):
    """Bring the schema up to date."""

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--expand", action="store_true", help="Only what adds.")
        group.add_argument("--contract", action="store_true", help="Only what removes.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> None:
        target = "expand" if parsed.expand else "contract" if parsed.contract else "heads"
        migration.require(self.conf.database.connection, tables=False)
        migration.upgrade(self.conf.database.connection, target)


class Version(Listing):
    """Show the revision of each branch of the schema."""

    def take_action(self, parsed: argparse.Namespace) -> Rows:  # noqa: ARG002
        migration.require(self.conf.database.connection)
        found = migration.version(self.conf.database.connection)
        return tuple(found), (tuple(found.values()),)


class Purge(Listing):
    """Remove for good what was deleted so many days ago.

    Shares and instances go with all that hung on them, closed work goes at the same age; user
    messages and keys of requests when they have expired.  Small steps with rests in between: the
    services keep running, and a purge that was interrupted is begun again.  Exit codes: 0 done,
    1 refused or failed.
    """

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = with_dry_run(super().get_parser(prog_name))
        parser.add_argument("days", type=_days, help="Age in days; 0 is everything.")
        parser.add_argument(
            "--batch",
            type=_positive,
            default=BATCH,
            help="Most rows to remove at once, fewer where that takes long. Default: %(default)s.",
        )
        parser.add_argument(
            "--pace",
            type=_percent,
            default=PERCENT,
            help="Percent of the time to work; the rest is left to the services. 100 rests never. "
            "Default: %(default)s.",
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        runtime = self.runtime
        if parsed.dry_run:
            found = maintenance.purgeable(runtime, service_context(), parsed.days)
        else:
            pace, progress = Pace(parsed.batch, parsed.pace), Progress(self.tell)
            found = maintenance.purge_deleted(runtime, parsed.days, progress.add, pace)
        what = "to remove" if parsed.dry_run else "removed"
        return ("table", what), sorted(found.items())


class Progress:
    """Says how many rows were removed: after the first step, and then every few seconds."""

    SECONDS = 5.0

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._rows = 0
        self._told_at = -self.SECONDS

    def add(self, removed: Mapping[str, int]) -> None:
        self._rows += sum(removed.values())
        if time.monotonic() - self._told_at >= self.SECONDS:
            self._tell(f"{self._rows} rows removed")
            self._told_at = time.monotonic()


def _days(value: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (days := float(value)) <= 36500:  # noqa: PLR2004  (a hundred years)
            return days
    raise argparse.ArgumentTypeError(f"{value} is no age in days")


def _percent(value: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (percent := float(value)) <= 100:  # noqa: PLR2004
            return percent
    raise argparse.ArgumentTypeError(f"{value} is not above 0 and at most 100")


def _positive(value: str) -> int:
    if value.isascii() and value.isdecimal() and int(value):
        return int(value)
    raise argparse.ArgumentTypeError(f"{value} is no whole number above 0")


class OnlineDataMigrations(Listing):
    """Run the changes of data of this release, while the services run.

    Exit codes: 0 nothing is left, 1 something is left (run it again), 2 a change failed,
    127 a wrong number of rows.
    """

    migrations = online.MIGRATIONS

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        parser.add_argument("--max-count", type=int, help="Most rows to change in this run.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        names = ("migration", "found", "done")
        if parsed.max_count is not None and parsed.max_count < 1:
            self.tell("--max-count must be above 0.")
            self.code = _BAD_COUNT
            return names, ()
        runtime = self.runtime
        if not self.migrations:
            self.tell("This release changes no data.")
        try:
            report = online.run(runtime.sessions, parsed.max_count, self.migrations)
        except Exception as error:  # noqa: BLE001  (whatever a change of data raises)
            self.tell(f"A change of data failed: {error}")
            self.code = _FAILED
            return names, ()
        self.code = int(any(item.left for item in report))
        return names, [(item.name, item.found, item.done) for item in report]


COMMANDS: dict[str, type] = {
    "db sync": Sync,
    "db version": Version,
    "db purge": Purge,
    "db online-data-migrations": OnlineDataMigrations,
}
