"""``share …``: what became of a share, and why."""

from __future__ import annotations

import argparse
from typing import Any

from fileshare.cmd.manage.program import Listing, Parser, Rows, text
from fileshare.context import service_context
from fileshare.domain.messages import user_message
from fileshare.operations import intents as operations


class Explain(Listing):
    """Tell the history of a share: what was done, which pools were refused and why."""

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        parser.add_argument("share", help="Id of the share.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        share, history, told = operations.explain(self.runtime, service_context(), parsed.share)
        rows: list[tuple[Any, ...]] = []
        for intent in history:
            rows.append((intent.created_at, "promised", intent.event, intent.request_id))
            rows += [
                (intent.created_at, "decided", intent.event, text(step)) for step in intent.trace
            ]
            if intent.closed_at is not None:
                rows.append((intent.closed_at, intent.state, intent.event, intent.error or ""))
        for message in told:
            told_text = user_message(message.action_id, message.detail_id)
            reason = f" ({message.reason})" if message.reason else ""
            rows.append((message.created_at, "told", message.resource_type, told_text + reason))
        rows.sort(key=lambda row: row[0])
        rows = [(text(row[0]), *row[1:]) for row in rows]
        now = share.status if share is not None else "gone"
        host = share.host if share is not None else ""
        rows.append(("now", "is", now, host))
        return ("when", "what", "of", "detail"), rows


COMMANDS: dict[str, type] = {"share explain": Explain}
