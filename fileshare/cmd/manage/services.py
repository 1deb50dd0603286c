"""``service …``: the daemons that reported themselves."""

from __future__ import annotations

import argparse

from fileshare.cmd.manage.program import Doing, Listing, Parser, Rows, text, with_dry_run
from fileshare.context import service_context
from fileshare.domain.statuses import ServiceState
from fileshare.operations import maintenance
from fileshare.operations import services as operations


class List(Listing):
    """List the services with their state."""

    def take_action(self, parsed: argparse.Namespace) -> Rows:  # noqa: ARG002
        rows = operations.find(self.runtime, service_context(), {})
        names = ("id", "binary", "host", "zone", "status", "state", "heartbeat_at", "down_reason")
        return names, [
            (
                row.id,
                row.binary,
                row.host,
                row.zone,
                row.status,
                ServiceState.UP if row.is_up else ServiceState.DOWN,
                text(row.heartbeat_at),
                None if row.is_up else row.down_reason,
            )
            for row in rows
        ]


class Remove(Doing):
    """Forget a service that is down, with the pools that it reported.

    Refused while it is up, and while shares live on it: they are named.
    Exit codes: 0 done, 1 refused.
    """

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = with_dry_run(super().get_parser(prog_name))
        parser.add_argument(
            "binary", help="share, scheduler or data; the name on the wire is taken too."
        )
        parser.add_argument("host", help="Host of the service; of a back end: host@backend.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> None:
        prefixes = (self.conf.api.service_binary_prefix, "fileshare")
        binary = parsed.binary
        for prefix in prefixes:
            binary = binary.removeprefix(f"{prefix}-")
        maintenance.remove_service(self.runtime, binary, parsed.host, dry_run=parsed.dry_run)
        verb = "would be" if parsed.dry_run else "was"
        self.tell(f"{binary} on {parsed.host} {verb} removed.")


class Cleanup(Listing):
    """Forget all services that have been down for some time.

    Those on which shares live stay, and are listed with the reason.
    Exit codes: 0 done, 1 some of them stay.
    """

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = with_dry_run(super().get_parser(prog_name))
        parser.add_argument(
            "--older",
            type=float,
            default=86400.0,
            metavar="SECONDS",
            help="Only those not heard of for so long; default: a day.",
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        found = maintenance.remove_stale(self.runtime, parsed.older, dry_run=parsed.dry_run)
        self.code = 1 if any(reason for _, _, reason in found) else 0
        removed = "would be removed" if parsed.dry_run else "removed"
        rows = [(binary, host, reason or removed) for binary, host, reason in found]
        return ("binary", "host", "result"), rows


COMMANDS: dict[str, type] = {
    "service list": List,
    "service remove": Remove,
    "service cleanup": Cleanup,
}
