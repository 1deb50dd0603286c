"""A run of the plug-in against a stack that is started for it and is gone afterwards."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from devstack import environments, settings
from devstack.servers import free_port
from devstack.supervisor import OWNER
from tests.conformance.tempest import lists
from tests.conformance.tempest.plans import REQUIREMENTS, Plan

GROUP = r"([^\.]*\.)*"  # the tests of one class run in one process


def plug_in() -> Path:
    """The bin directory of the plug-in's own virtual environment, made when missing."""
    return environments.installed(settings.CACHE / "tempest-venv", REQUIREMENTS)


@contextlib.contextmanager
def stack(where: Path) -> Iterator[Path]:
    """A stack with dummy back ends on free ports, in *where*; yields its tempest.conf."""
    environment = {**os.environ, "FILESHARE_RUN": str(where), OWNER: str(os.getpid())}
    ports = [f"--port={free_port()}", f"--keystone-port={free_port()}"]
    try:
        _devstack(environment, "up", "--backends=dummy", *ports)
        yield where / "tempest.conf"
    finally:
        _devstack(environment, "down")


def _devstack(environment: dict[str, str], *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "devstack.stack", *arguments],
        cwd=settings.ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=True,
    )


def run(
    plan: Plan, tests: Sequence[str], configuration: Path, where: Path, *, workers: int
) -> lists.Results:
    """Run a plan's tests, or only *tests*, in *where*, and say how each ended.

    What the plug-in says of each is in ``log`` there.  RuntimeError where nothing ran.
    """
    programs = plug_in()
    (where / "etc").mkdir(parents=True)
    (where / "etc" / "tempest.conf").write_text(plan.configure(configuration.read_text()))
    found = subprocess.run(
        [programs / "python", "-c", "import tempest; print(tempest.__path__[0])"],
        capture_output=True,
        text=True,
        check=True,
    )
    package = Path(found.stdout.strip())
    if tests:
        (where / "tests").write_text("\n".join(tests) + "\n")
    with (where / "log").open("w") as log:
        subprocess.run(
            [
                programs / "stestr",
                f"--test-path={package / 'test_discover'}",
                f"--top-dir={package.parent}",
                f"--group_regex={GROUP}",
                "run",
                f"--concurrency={workers}",
                *([f"--load-list={where / 'tests'}"] if tests else [plan.tests]),
            ],
            cwd=where,
            env={**os.environ, "TEMPEST_CONFIG_DIR": str(where / "etc")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,  # tests that fail are what is asked
        )
    return _results(programs, where)


def _results(programs: Path, where: Path) -> lists.Results:
    last = subprocess.run(
        [programs / "stestr", "--test-path=.", "last", "--subunit"],
        cwd=where,
        capture_output=True,
        check=False,
    )
    table = subprocess.run(
        [programs / "subunit2csv", "--no-passthrough"],
        input=last.stdout,
        capture_output=True,
        check=False,
    )
    results = lists.results(table.stdout.decode())
    if not results.tests:
        log = (where / "log").read_text(errors="replace")
        raise RuntimeError(f"no test was run:\n{log[-4000:]}")
    return results
