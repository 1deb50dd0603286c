"""``fileshare-usage-audit``: tell what each share was in a period, for billing.

Sends one ``share.exists`` for every share that existed in the period, deleted ones included, by
the drivers of [oslo_messaging_notifications].  Exit codes: 0 all was sent, 1 refused, or some
could not be sent, 2 a wrong command line.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import argparse
import collections
import dataclasses
import datetime as dt
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TextIO

from oslo_config import cfg
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.cmd import bootstrap
from fileshare.db import migration
from fileshare.domain import periods
from fileshare.domain.notices import Notice
from fileshare.domain.periods import Period
from fileshare.intents.runtime import Runtime
from fileshare.operations import usage
from fileshare.rpc import notifications
from fileshare.rpc.notifications import Sender

PROGRAM = "fileshare-usage-audit"
_TRIES = 3  # where the options say «for ever»: cron waits for the command
_TOLD_EACH = 1000


class Sends(Protocol):
    """Where notices go."""

    def send(self, notice: Notice) -> bool: ...

    def close(self) -> None: ...


def _moment(text: str) -> dt.datetime:
    try:
        return periods.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Tell what each share was.")
    about = "of the period in UTC, such as 2026-11-01 or '2026-11-01 06:00:00'"
    parser.add_argument("--start", type=_moment, help=f"Start {about}.")
    parser.add_argument("--end", type=_moment, help=f"End {about}; what is at the end is not in.")
    parser.add_argument(
        "--send-actions",
        action="store_true",
        help="Tell again of the creations and deletions in the period, too.",
    )
    parser.add_argument("--dry-run", action="store_true", help="Print, and send nothing.")
    parser.add_argument("-f", "--format", choices=("table", "json"), default="table")
    parser.add_argument("--config-file", action="append", default=[], help="Configuration file.")
    return parser


def period_of(start: dt.datetime | None, end: dt.datetime | None, kind: str) -> Period:
    """The period that was asked for, or the last one that is over; raises ValueError."""
    if start is None and end is None:
        now = dt.datetime.now(dt.UTC).replace(tzinfo=None)
        return periods.completed(kind, now)
    if start is None or end is None:
        raise ValueError("--start and --end are given together, or none of them")
    return Period(start, end)


def _send(found: Iterable[Notice], sender: Sends, err: TextIO) -> tuple[dict[str, int], int]:
    """Send all; returns the numbers of what was sent by event, and of what was not."""
    sent: dict[str, int] = collections.Counter()
    failed = 0
    for number, notice in enumerate(found, 1):
        if sender.send(notice):
            sent[notice.event] += 1
        else:
            failed += 1
        if number % _TOLD_EACH == 0:
            err.write(f"{number} notifications, {failed} of them failed\n")
    return sent, failed


def _print_all(found: Iterable[Notice], form: str, out: TextIO) -> None:
    """What would be sent, as it is read."""
    if form == "json":
        separator = "["
        for notice in found:
            out.write(f"{separator}\n{json.dumps(dataclasses.asdict(notice))}")
            separator = ","
        out.write("[]\n" if separator == "[" else "\n]\n")
        return
    names = ("share_id", "project_id", "size", "status")
    out.write("\t".join(("event", *names)) + "\n")
    for notice in found:
        out.write("\t".join((notice.event, *(str(notice.payload[name]) for name in names))) + "\n")


def _print_sums(period: Period, sent: dict[str, int], failed: int, form: str, out: TextIO) -> None:
    sums: dict[str, Any] = {
        "audit_period_beginning": str(period.begin),
        "audit_period_ending": str(period.end),
        "sent": dict(sorted(sent.items())),
        "failed": failed,
    }
    if form == "json":
        out.write(json.dumps(sums) + "\n")
        return
    out.write(f"period\t{period.begin} to {period.end}\n")
    rows = [*sorted(sent.items()), ("failed", failed)]
    out.writelines(f"{event}\t{number}\n" for event, number in rows)


def _files(given: Sequence[str]) -> Iterator[str]:
    """The configuration files as oslo.config is told of them."""
    for path in given or filter(None, [os.environ.get("FILESHARE_CONFIG")]):
        yield from ("--config-file", path)


def _sender(conf: cfg.ConfigOpts) -> Sends:
    if not notifications.is_wanted(conf):
        reason = "[oslo_messaging_notifications] driver names nothing that sends."
        raise errors.Conflict(reason=reason)
    return Sender(conf, retry=_TRIES)


def audit(
    runtime: Runtime, period: Period, parsed: argparse.Namespace, out: TextIO, err: TextIO
) -> int:
    """Tell of *period* as the command line says; returns the exit code."""
    if parsed.dry_run:
        found = usage.audit(runtime, period, actions=parsed.send_actions)
        _print_all(found, parsed.format, out)
        return 0
    sender = _sender(runtime.conf)
    try:
        found = usage.audit(runtime, period, actions=parsed.send_actions)
        sent, failed = _send(found, sender, err)
    finally:
        sender.close()
    _print_sums(period, sent, failed, parsed.format, out)
    return 1 if failed else 0


def run(
    args: Sequence[str],
    out: TextIO = sys.stdout,
    err: TextIO = sys.stderr,
    runtime: Runtime | None = None,
) -> int:
    """The exit code of one run; *runtime* is one that somebody else made, and will close."""
    parser = _parser()
    parsed = parser.parse_args(args)
    files = _files(parsed.config_file)
    conf = runtime.conf if runtime else bootstrap.configure(PROGRAM, [*files], command=True)
    try:
        period = period_of(parsed.start, parsed.end, conf.share_usage_audit_period)
    except ValueError as error:
        parser.error(str(error))
    try:
        if runtime is not None:
            return audit(runtime, period, parsed, out, err)
        migration.require(conf.database.connection)
        with bootstrap.make_runtime(conf).closing() as made:
            return audit(made, period, parsed, out, err)
    except errors.FileshareError as error:
        err.write(f"{error}\n")
    except db_exception.DBError as error:
        err.write(f"The database refused: {error}\n")
    return 1


def main() -> None:
    """Run once."""
    sys.exit(run(sys.argv[1:]))
