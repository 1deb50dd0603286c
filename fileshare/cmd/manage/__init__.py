"""``fileshare-manage``: the operator's commands.

Each takes ``-f table|json|…``.  Exit codes: 0 done, 1 refused or failed, 2 a wrong command line.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import argparse
import datetime as dt
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from cliff.app import App
from cliff.command import Command
from cliff.commandmanager import CommandManager
from cliff.lister import Lister
from cliff.show import ShowOne
from oslo_config import cfg

from fileshare import errors
from fileshare.cmd import bootstrap
from fileshare.context import service_context
from fileshare.db import migration, services
from fileshare.domain.messages import user_message
from fileshare.domain.statuses import IntentState, ServiceState
from fileshare.intents.runtime import Runtime
from fileshare.operations import intents as operations

Rows = tuple[Sequence[str], Iterable[Sequence[Any]]]

_INTENT = (
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


class Program(App):  # type: ignore[misc]
    """Parses the command line, and makes a runtime for commands that need one."""

    def __init__(self) -> None:
        commands = CommandManager("fileshare.manage")
        for name, command in COMMANDS.items():
            commands.add_command(name, command)
        super().__init__(
            description="Operate a fileshare installation.",
            version="1.0",
            command_manager=commands,
            deferred_help=True,
        )
        self.conf: cfg.ConfigOpts | None = None
        self._runtime: Runtime | None = None

    def build_option_parser(
        self, description: str, version: str, argparse_kwargs: Any = None
    ) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().build_option_parser(
            description, version, argparse_kwargs
        )
        parser.add_argument(
            "--config-file",
            action="append",
            default=[],
            help="Configuration file; default: where oslo.config looks.",
        )
        return parser

    def configure_logging(self) -> None:
        """The log is set up from the configuration, not by the command line."""

    @property
    def configuration(self) -> cfg.ConfigOpts:
        if self.conf is None:
            files = self.options.config_file or [
                path for path in (os.environ.get("FILESHARE_CONFIG"),) if path
            ]
            args = [word for path in files for word in ("--config-file", path)]
            self.conf = bootstrap.configure("fileshare-manage", args)
        return self.conf

    @property
    def runtime(self) -> Runtime:
        if self._runtime is None:
            self._runtime = bootstrap.make_runtime(self.configuration)
        return self._runtime

    def run_subcommand(self, argv: list[str]) -> int:
        try:
            return int(super().run_subcommand(argv) or 0)
        except errors.FileshareError as error:
            self.stderr.write(f"{error}\n")
            return 1
        finally:
            if self._runtime is not None:
                self._runtime.close()


class DbSync(Command):  # type: ignore[misc]
    """Bring the schema up to date."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--expand", action="store_true", help="Only what adds.")
        group.add_argument("--contract", action="store_true", help="Only what removes.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> None:
        target = "expand" if parsed.expand else "contract" if parsed.contract else "heads"
        migration.upgrade(self.app.configuration.database.connection, target)


class DbVersion(Lister):  # type: ignore[misc]
    """Show the revision of each branch of the schema."""

    def take_action(self, parsed: argparse.Namespace) -> Rows:  # noqa: ARG002
        found = migration.version(self.app.configuration.database.connection)
        return tuple(found), (tuple(found.values()),)


class ServiceList(Lister):  # type: ignore[misc]
    """List the services with their state."""

    def take_action(self, parsed: argparse.Namespace) -> Rows:  # noqa: ARG002
        down_time = self.app.configuration.service_down_time
        rows = self.app.runtime.sessions.run(lambda session: services.find(session, down_time))
        names = ("id", "binary", "host", "zone", "status", "state", "heartbeat_at")
        return names, [
            (
                row.id,
                row.binary,
                row.host,
                row.zone,
                row.status,
                ServiceState.UP if row.is_up else ServiceState.DOWN,
                _text(row.heartbeat_at),
            )
            for row in rows
        ]


class IntentList(Lister):  # type: ignore[misc]
    """List promised work, newest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("--share", help="Only the work on this share.")
        parser.add_argument("--all", action="store_true", help="Closed work too.")
        parser.add_argument("--limit", type=int, default=1000)
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        states = () if parsed.all or parsed.share else (IntentState.OPEN, IntentState.PARKED)
        found = operations.find(
            self.app.runtime,
            service_context(),
            share_id=parsed.share,
            states=states,
            limit=parsed.limit,
        )
        return _INTENT, [[_text(getattr(row, name)) for name in _INTENT] for row in found]


def _with_intent(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("intent", help="Id of the intent.")
    return parser


class IntentShow(ShowOne):  # type: ignore[misc]
    """Show one piece of promised work with its payload and its trace."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _with_intent(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        row = operations.get(self.app.runtime, service_context(), parsed.intent)
        names = [column.name for column in row.__table__.columns if column.name != "open_key"]
        return names, [_text(getattr(row, name)) for name in names]


class IntentRetry(Command):  # type: ignore[misc]
    """Let a piece of work be done at once."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _with_intent(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> None:
        operations.retry(self.app.runtime, service_context(), parsed.intent)


class IntentFail(Command):  # type: ignore[misc]
    """Give a piece of work up: its resource is settled as failed, its user is told."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return _with_intent(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> None:
        operations.fail(self.app.runtime, parsed.intent)


class ShareExplain(Lister):  # type: ignore[misc]
    """Tell the history of a share: what was done, which pools were refused and why."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("share", help="Id of the share.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        share, history, told = operations.explain(
            self.app.runtime, service_context(), parsed.share
        )
        rows: list[tuple[Any, ...]] = []
        for intent in history:
            rows.append((intent.created_at, "promised", intent.event, intent.request_id))
            rows += [
                (intent.created_at, "decided", intent.event, _text(step)) for step in intent.trace
            ]
            if intent.closed_at is not None:
                rows.append((intent.closed_at, intent.state, intent.event, intent.error or ""))
        for message in told:
            text = user_message(message.action_id, message.detail_id)
            reason = f" ({message.reason})" if message.reason else ""
            rows.append((message.created_at, "told", message.resource_type, text + reason))
        rows.sort(key=lambda row: row[0])
        rows = [(_text(row[0]), *row[1:]) for row in rows]
        now = share.status if share is not None else "gone"
        host = share.host if share is not None else ""
        rows.append(("now", "is", now, host))
        return ("when", "what", "of", "detail"), rows


def _text(value: Any) -> Any:
    """What every format can show: moments and structures as text."""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value


COMMANDS: dict[str, type] = {
    "db sync": DbSync,
    "db version": DbVersion,
    "service list": ServiceList,
    "intent list": IntentList,
    "intent show": IntentShow,
    "intent retry": IntentRetry,
    "intent fail": IntentFail,
    "share explain": ShareExplain,
}


def main() -> None:
    """Run one command."""
    sys.exit(Program().run(sys.argv[1:]))
