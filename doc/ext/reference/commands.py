"""The programs, and the commands of ``fileshare-manage``, from their own parsers."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
from typing import Any

from fileshare.cmd import manage
from fileshare.cmd.manage.program import Program
from reference.markdown import about, code, plain, prose, table


def programs() -> str:
    """Every installed program with the first line of its module."""
    found = importlib.metadata.distribution("fileshare").entry_points
    rows = []
    for point in found:
        if point.group == "console_scripts":
            module = importlib.import_module(point.module)
            rows.append((code(point.name), about(module)))
    return table(("Program", "What it is"), sorted(rows))


def all_commands() -> str:
    """Every command with its arguments; those that all have are left out."""
    app = Program(manage.COMMANDS)
    return "\n".join(_command(app, name, cls) for name, cls in manage.COMMANDS.items())


def _command(app: Any, name: str, cls: Any) -> str:
    # What the kind of command (a list, a record, …) brings along is the same for all.
    kind = next(one for one in cls.__mro__ if one.__module__.startswith("cliff."))
    bare = type("Bare", (kind,), {"take_action": cls.take_action})
    common = set(_arguments(bare(app, None, cmd_name=name)))
    found = _arguments(cls(app, None, cmd_name=name))
    rows = [row for row in found if row not in common]
    return "\n".join((f"### {code(name)}", "", prose(cls), "", table(("Argument", "What"), rows)))


def _arguments(command: Any) -> list[tuple[str, str]]:
    parser = command.get_parser("fileshare-manage")
    return [
        (code(", ".join(action.option_strings) or action.dest.upper()), plain(action.help or ""))
        for action in parser._actions  # noqa: SLF001  (argparse has no other way to ask)
        if action.help is not argparse.SUPPRESS
    ]
