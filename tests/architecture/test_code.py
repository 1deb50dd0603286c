"""The rules of CONTRIBUTING.md that a linter does not know."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import shutil
import statistics
import subprocess
from pathlib import Path

import pytest

from fileshare import conf as options
from fileshare.domain import statuses
from fileshare.domain.lifecycle import LIFECYCLES
from fileshare.drivers import base, loader
from fileshare.drivers.conformance import SUITES
from fileshare.intents.kinds import KINDS
from fileshare.scheduler import handlers as scheduler
from fileshare.share.handlers import HANDLERS

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "fileshare").rglob("*.py"))
FILE_LINES, FUNCTION_LINES = 500, 60
# Words that are statuses and other things too, such as the name of a field.
COMMON = {"active", "error", "open", "done", "failed", "up", "down", "new", "enabled", "disabled"}
COMMON |= {"ensuring"}


@functools.cache
def tree(path):
    return ast.parse(path.read_text())


def functions():
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node, node.end_lineno - node.lineno + 1


def named(path, node):
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def test_files_and_functions_are_short():
    long = [str(path) for path in FILES if len(path.read_text().splitlines()) > FILE_LINES]
    long += [named(path, node) for path, node, lines in functions() if lines > FUNCTION_LINES]
    assert long == []


def test_most_of_them_are_much_shorter():
    lengths = [lines for _, _, lines in functions()]
    assert statistics.median(lengths) <= 10
    assert statistics.quantiles(lengths, n=20)[-1] <= 30
    assert statistics.median(len(path.read_text().splitlines()) for path in FILES) <= 110


def test_no_status_is_spelled_outside_the_domain():
    words = {
        value
        for table in vars(statuses).values()
        if isinstance(table, type)
        for name, value in vars(table).items()
        if name.isupper() and isinstance(value, str)
    } - COMMON
    assert len(words) > 40
    found = [
        f"{named(path, node)} {node.value}"
        for path in FILES
        if "domain" not in path.parts and "migrations" not in path.parts
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and node.value in words
    ]
    assert found == []


def test_no_module_has_a_global_configuration():
    found = [
        named(path, node)
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "cfg.CONF"
    ]
    assert found == []


def test_http_errors_are_raised_nowhere():
    found = [
        named(path, node)
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Raise) and node.exc and "webob" in ast.unparse(node.exc)
    ]
    assert found == []


def test_every_function_is_annotated():
    found = [
        named(path, node)
        for path, node, _ in functions()
        if "migrations" not in path.parts and node.returns is None
    ]
    assert found == []


@pytest.mark.skipif(shutil.which("lint-imports") is None, reason="import-linter is not installed")
def test_the_floors_hold():
    done = subprocess.run(
        ["lint-imports", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_kind_of_work_has_one_handler_and_a_verb():
    daemons = [scheduler.handlers(options.load(files=[])), HANDLERS]
    for work in KINDS.values():
        assert sum(work in handlers for handlers in daemons) == 1, work.kind
        resource, _, verb = work.event.partition(".")
        assert LIFECYCLES[resource][verb] is work.verb()
    assert {work for handlers in daemons for work in handlers} == set(KINDS.values())


def test_every_capability_has_a_suite_and_every_driver_inherits_its_own():
    assert {cls.__name__ for cls in base.CAPABILITIES} <= set(SUITES)
    tests = [
        path.read_text() for path in (ROOT / "tests" / "conformance" / "drivers").glob("*.py")
    ]
    for point in importlib.metadata.entry_points(group=loader.NAMESPACE):
        cls = point.load()
        assert issubclass(cls, base.Driver)
        wanted = ["SharesSuite", "AccessSuite"]
        wanted += [
            SUITES[one.__name__].__name__ for one in base.CAPABILITIES if issubclass(cls, one)
        ]
        assert any(all(suite in text for suite in wanted) for text in tests), point.name
