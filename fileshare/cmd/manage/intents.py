"""``intent …``: promised work."""

from __future__ import annotations

import argparse

from fileshare.cmd.manage.program import Doing, Listing, Parser, Rows, Showing, text
from fileshare.context import service_context
from fileshare.db.models import Intent
from fileshare.domain.statuses import IntentState
from fileshare.operations import intents as operations

_COLUMNS = (
    "id",
    "state",
    "event",
    "kind",
    "share_id",
    "destination",
    "attempts",
    "due",
    "error",
    "created_at",
    "closed_at",
)


class List(Listing):
    """List promised work, newest first."""

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        parser.add_argument("--share", help="Only the work on this share.")
        parser.add_argument("--all", action="store_true", help="Closed work too.")
        parser.add_argument(
            "--limit", type=int, default=1000, help="How many at most; default: 1000."
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        states = () if parsed.all or parsed.share else (IntentState.OPEN, IntentState.PARKED)
        found = operations.find(
            self.runtime,
            service_context(),
            share_id=parsed.share,
            states=states,
            limit=parsed.limit + 1,
        )
        if len(found) > parsed.limit:
            self.tell(f"There are more than these {parsed.limit}: see --limit.")
        shown = found[: parsed.limit]
        return _COLUMNS, [[text(getattr(row, name)) for name in _COLUMNS] for row in shown]


def _with_intent(parser: Parser) -> Parser:
    parser.add_argument("intent", help="Id of the intent.")
    return parser


class Show(Showing):
    """Show one piece of promised work with its payload and its trace."""

    def get_parser(self, prog_name: str) -> Parser:
        return _with_intent(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        row = operations.get(self.runtime, service_context(), parsed.intent)
        names = [column.name for column in Intent.__table__.columns if column.name != "open_key"]
        return names, [text(getattr(row, name)) for name in names]


class Retry(Doing):
    """Let a piece of work be done at once."""

    def get_parser(self, prog_name: str) -> Parser:
        return _with_intent(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> None:
        operations.retry(self.runtime, service_context(), parsed.intent)


class Fail(Doing):
    """Give a piece of work up: its resource is settled as failed, its user is told."""

    def get_parser(self, prog_name: str) -> Parser:
        return _with_intent(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> None:
        operations.fail(self.runtime, parsed.intent)


COMMANDS: dict[str, type] = {
    "intent list": List,
    "intent show": Show,
    "intent retry": Retry,
    "intent fail": Fail,
}
