"""Each report from the field is a test of the project, or says what it waits for."""

from __future__ import annotations

import ast
import fnmatch
import functools
import re
import tomllib
from collections import defaultdict

import pytest
import yaml
from sources import ROOT, modules

from fileshare.api.policy import all_operations

TESTS = ROOT / "tests"
REPORTS = yaml.safe_load((TESTS / "contract" / "field_reports.yaml").read_text())
CASES = {case["id"]: case for case in REPORTS["cases"]}
WORDS = {"id", "title", "steps", "must", "do", "expect", "waits_for", "must_waits_for"}
NUMBERS = re.compile(r"C\d+(?:, C\d+)*")


def waiting(case):
    """What a report, its steps and its conclusion wait for, with the words of each."""
    for part in (case, *case["steps"]):
        for thing in part.get("waits_for", ()):
            yield thing, part.get("do", case["title"])
    for thing in case.get("must_waits_for", ()):
        yield thing, case["must"]


WAITING = [(id, *each) for id, case in CASES.items() for each in waiting(case)]


@functools.cache
def named():
    """The tests whose docstring begins with the number of a report, by the number."""
    found = defaultdict(set)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                numbers = NUMBERS.match(ast.get_docstring(node) or "")
                for number in numbers[0].split(", ") if numbers else ():
                    found[number].add(f"{path.relative_to(TESTS)}::{node.name}")
    return dict(found)


@functools.cache
def drivers():
    """The names of the drivers that are part of the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return sorted(project["entry-points"]["fileshare.drivers"])


@functools.cache
def texts():
    """Every text that the program holds, but for what it says of itself."""
    return frozenset(
        node.value
        for module in modules()
        for node in module.walk(ast.Constant)
        if isinstance(node.value, str) and "\n" not in node.value
    )


def served(thing):
    """Whether something that a report waits for has come."""
    kind, name = thing.split(" ", 1)
    match kind:
        case "route":
            return name in {operation.id for operation in all_operations()}
        case "driver":
            return bool(fnmatch.filter(drivers(), name))
        case "text":
            return any(name in text for text in texts())
    raise AssertionError(f"{kind} is no kind of thing to wait for")


def test_reports_are_told_apart():
    assert len(CASES) == len(REPORTS["cases"])
    for case in CASES.values():
        assert case["title"], case
        assert case["must"], case
        assert all(step["do"] for step in case["steps"]), case
        for part in (case, *case["steps"]):
            assert set(part) <= WORDS, part


def test_each_is_a_test_or_waits():
    free = {id for id, case in CASES.items() if not case.get("waits_for")}
    assert free - set(named()) == set(), "no docstring of a test begins with these"


def test_what_waits_as_a_whole_is_no_test():
    """A report that can be shown in part says it of the steps that cannot."""
    whole = {id for id, case in CASES.items() if case.get("waits_for")}
    assert whole & set(named()) == set()


def test_no_other_number_is_named():
    assert set(named()) - set(CASES) == set()


@pytest.mark.parametrize(("id", "thing", "words"), WAITING)
def test_what_is_waited_for_is_not_there(id, thing, words):
    assert not served(thing), f"{thing} has come: make a test of {id}, «{words}»"


def test_routes_that_are_waited_for_exist_in_the_contract():
    contract = yaml.safe_load((TESTS / "contract" / "routes.yaml").read_text())
    known = {f"route {route['id']}" for route in contract["routes"]}
    assert {thing for _, thing, _ in WAITING if thing.startswith("route ")} <= known


def test_no_driver_has_come_since_the_reports_were_gone_through():
    assert drivers() == sorted(REPORTS["drivers"])


@pytest.mark.parametrize(
    "thing", ["route shares.create", "driver local*", "text /healthcheck"], ids=str
)
def test_what_is_there_is_seen(thing):
    assert served(thing)
