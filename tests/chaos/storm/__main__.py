"""``python -m tests.chaos.storm --minutes N --seed S``: exit code 1 where promises were broken."""

from __future__ import annotations

import argparse
import pathlib
import shutil
import sys
import tempfile
from collections.abc import Sequence

from tests.chaos.storm.checker import Violation
from tests.chaos.storm.runner import Options, brew, judge_again, say


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="storm", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", default="1", help="the plan of operations and faults")
    parser.add_argument("--pace", type=float, default=Options.pace, help="s between operations")
    parser.add_argument("--gap", type=float, default=Options.gap, help="s between faults")
    parser.add_argument("--settle", type=float, default=Options.settle, help="s for the calm")
    parser.add_argument(
        "--judge", type=pathlib.Path, metavar="DIRECTORY", help="judge what a storm has kept again"
    )
    parser.add_argument("--directory", type=pathlib.Path, help="kept; default: a temporary one")
    return parser.parse_args()


def main() -> int:
    """Brew one storm and judge it."""
    given = _arguments()
    if given.judge is not None:
        return _told(judge_again(given.judge.resolve()))
    directory = given.directory or pathlib.Path(tempfile.mkdtemp(prefix="fileshare-storm-"))
    directory.mkdir(parents=True, exist_ok=True)
    options = Options(given.seed, given.minutes * 60, given.pace, given.gap, given.settle)
    verdict = brew(directory, options)
    say(f"{verdict.calls} requests, {verdict.kills} kills, seed {options.seed}")
    if verdict.violations:
        say(f"logs and history: {directory}")
    elif given.directory is None:
        shutil.rmtree(directory)
    return _told(verdict.violations)


def _told(violations: Sequence[Violation]) -> int:
    for violation in violations:
        say(f"VIOLATION {violation}")
    say(f"{len(violations)} violations")
    return int(bool(violations))


sys.exit(main())
