"""The program around the commands: options, runtime, and how a refusal is said."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cliff.app import App
from cliff.command import Command
from cliff.commandmanager import CommandManager
from cliff.lister import Lister
from cliff.show import ShowOne
from oslo_config import cfg
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.cmd import bootstrap
from fileshare.db import migration
from fileshare.intents.runtime import Runtime

Rows = tuple[Sequence[str], Iterable[Sequence[Any]]]
Parser = argparse.ArgumentParser

REFUSED = 1


class Program(App):  # type: ignore[misc]
    """Parses the command line, and makes a runtime for commands that need one.

    *runtime* is one that somebody else made, and will close.
    """

    def __init__(
        self, commands: Mapping[str, type], runtime: Runtime | None = None, **streams: Any
    ) -> None:
        manager = CommandManager("fileshare.manage")
        for name, command in commands.items():
            manager.add_command(name, command)
        super().__init__(
            description="Operate a fileshare installation.",
            version="1.0",
            command_manager=manager,
            deferred_help=True,
            **streams,
        )
        self._given = runtime
        self._made: Runtime | None = None
        self._conf = runtime.conf if runtime else None

    def build_option_parser(
        self, description: str, version: str, argparse_kwargs: Any = None
    ) -> Parser:
        parser: Parser = super().build_option_parser(description, version, argparse_kwargs)
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
        if self._conf is None:
            files = self.options.config_file or [
                path for path in (os.environ.get("FILESHARE_CONFIG"),) if path
            ]
            args = [word for path in files for word in ("--config-file", path)]
            self._conf = bootstrap.configure("fileshare-manage", args, command=True)
        return self._conf

    @property
    def runtime(self) -> Runtime:
        """The runtime; raises Conflict where there is no database, or one without tables."""
        if self._given is not None:
            return self._given
        if self._made is None:
            migration.require(self.configuration.database.connection)
            self._made = bootstrap.make_runtime(self.configuration)
        return self._made

    def run_subcommand(self, argv: list[str]) -> int:
        try:
            return int(super().run_subcommand(argv) or 0)
        finally:
            if self._made is not None:
                self._made.close()


class _Said:
    """What all commands of this program have."""

    app: Any

    @property
    def runtime(self) -> Runtime:
        runtime: Runtime = self.app.runtime
        return runtime

    @property
    def conf(self) -> cfg.ConfigOpts:
        return self.app.configuration

    def tell(self, text: str) -> None:
        """A line about what goes on, apart from the answer."""
        self.app.stderr.write(f"{text}\n")

    def say(self, run: Callable[[], Any]) -> int:
        """The exit code of *run*; a refusal is one line, and 1."""
        try:
            return int(run() or 0)
        except errors.FileshareError as error:
            self.tell(getattr(error, "operator_text", "") or str(error))
        except db_exception.DBError as error:
            self.tell(f"The database refused: {error}")
        return REFUSED


class Doing(_Said, Command):  # type: ignore[misc]
    """A command that answers with its exit code."""

    def run(self, parsed: argparse.Namespace) -> int:
        return self.say(lambda: Command.run(self, parsed))


class Listing(_Said, Lister):  # type: ignore[misc]
    """A command that answers with rows; *code* is its exit code."""

    code = 0

    def run(self, parsed: argparse.Namespace) -> int:
        return self.say(lambda: Lister.run(self, parsed) or self.code)


class Showing(_Said, ShowOne):  # type: ignore[misc]
    """A command that answers with one thing; *code* is its exit code."""

    code = 0

    def run(self, parsed: argparse.Namespace) -> int:
        return self.say(lambda: ShowOne.run(self, parsed) or self.code)


def with_dry_run(parser: Parser) -> Parser:
    parser.add_argument("--dry-run", action="store_true", help="Only say what would be done.")
    return parser


def text(value: Any) -> Any:
    """What every format can show: moments and structures as text."""
    if isinstance(value, dt.datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
