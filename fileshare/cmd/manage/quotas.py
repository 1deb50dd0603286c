"""``quota …``: whether the books are right, and making them so."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from fileshare.cmd.manage.program import Listing, Parser, Rows, with_dry_run
from fileshare.db.recounts import Difference
from fileshare.operations import maintenance

_NAMES = ("project", "scope", "quota", "booked", "counted")


def _rows(found: Iterable[Difference]) -> Rows:
    return _NAMES, [
        (item.project_id, item.scope, item.resource, item.booked, item.counted) for item in found
    ]


def _with_project(parser: Parser) -> Parser:
    parser.add_argument("--project", help="Only this project; default: all.")
    return parser


class Check(Listing):
    """Compare what is booked of the quotas with what there is.

    Exit codes: 0 all is right, 1 something is not (or the command failed).
    """

    def get_parser(self, prog_name: str) -> Parser:
        return _with_project(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        found = maintenance.correct_quotas(self.runtime, parsed.project, dry_run=True)
        self.code = 1 if found else 0
        return _rows(found)


class Sync(Listing):
    """Book what there is; lists what was wrong.  Work in flight is counted too.

    Exit codes: 0 done, 1 failed.
    """

    def get_parser(self, prog_name: str) -> Parser:
        return with_dry_run(_with_project(super().get_parser(prog_name)))

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        return _rows(
            maintenance.correct_quotas(self.runtime, parsed.project, dry_run=parsed.dry_run)
        )


COMMANDS: dict[str, type] = {"quota check": Check, "quota sync": Sync}
