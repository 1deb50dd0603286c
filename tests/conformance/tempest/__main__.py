"""Run manila-tempest-plugin against a stack, and compare with the tests that are to pass.

    python -m tests.conformance.tempest [PLAN…] [--list FILE] [--update]

The plug-in is installed once, in a virtual environment of its own (``~/.cache/fileshare``). The
stack is started on free ports and is gone afterwards, with all that it wrote. Exit status 1 where
a test that is to pass did not, or one passes that is not in the list: ``--update`` adds those.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.conformance.tempest import lists, runs
from tests.conformance.tempest.plans import PLANS, Plan


def parser() -> argparse.ArgumentParser:
    """The command line."""
    about = "\n".join(f"  {plan.name:12} {plan.about}" for plan in PLANS.values())
    made = argparse.ArgumentParser(
        prog="python -m tests.conformance.tempest",
        description=f"{__doc__}\nPlans (without names: all):\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("plans", nargs="*", metavar="PLAN", help="one of the names above")
    made.add_argument("--list", type=Path, metavar="FILE", help="run only the tests listed there")
    made.add_argument("--expected", action="store_true", help="run only what is to pass")
    made.add_argument("--update", action="store_true", help="add what newly passes to the lists")
    made.add_argument("--workers", type=int, default=2, metavar="N", help="processes of tests")
    made.add_argument("--output", type=Path, metavar="DIR", help="keep logs and results there")
    return made


@contextlib.contextmanager
def directory(kept: Path | None) -> Iterator[Path]:
    """Where a run writes: *kept*, which must be new, or a place that is removed."""
    if kept is not None:
        kept.mkdir(parents=True)
        yield kept.resolve()
        return
    where = Path(tempfile.mkdtemp(prefix="fileshare-tempest-"))
    try:
        # Servers that give up root must come through.
        where.chmod(0o755)
        yield where
    finally:
        shutil.rmtree(where, ignore_errors=True)


def chosen(plan: Plan, arguments: argparse.Namespace) -> set[str]:
    """The tests that are to be run; none: all of the plan."""
    if arguments.list is not None:
        return lists.read(arguments.list)
    return lists.read(plan.expected) if arguments.expected else set()


def compare(plan: Plan, tests: set[str], found: lists.Results, *, update: bool) -> bool:
    """Say how a run differs from what is expected; whether it does, after the update."""
    expected = lists.read(plan.expected)
    wanted = expected & tests if tests else expected
    difference = lists.difference(wanted, found)
    new = difference.new - expected
    for line in lists.Difference(difference.missing, new).lines():
        print(line)
    if update and new:
        lists.write(plan.expected, expected | new)
    print(
        f"{plan.name}: {len(wanted)} expected, {len(wanted) - len(difference.missing)} of them"
        f" passed, {len(difference.missing)} missing, {len(new)} new"
        f"{' (added to the list)' if update and new else ''}",
        flush=True,
    )
    return bool(difference.missing) or (bool(new) and not update)


def main() -> int:
    """Run the plans one after the other; the exit status."""
    arguments = parser().parse_args()
    if unknown := set(arguments.plans) - set(PLANS):
        sys.exit(f"There is no {', '.join(sorted(unknown))}; see --help.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that everything is cleared away
    plans = [PLANS[name] for name in arguments.plans or PLANS]
    runs.plug_in()
    differs = False
    with directory(arguments.output) as where, runs.stack(where / "stack") as configuration:
        for plan in plans:
            began = time.monotonic()
            tests = chosen(plan, arguments)
            found = runs.run(
                plan, sorted(tests), configuration, where / plan.name, workers=arguments.workers
            )
            differs |= compare(plan, tests, found, update=arguments.update)
            print(
                f"{plan.name}: {len(found.tests)} tests run in"
                f" {time.monotonic() - began:.0f} s by {arguments.workers} processes,"
                f" load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
