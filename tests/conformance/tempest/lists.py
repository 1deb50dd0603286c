"""Lists of tests: what was run and how it ended, what must pass, and the difference."""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Collection, Mapping
from pathlib import Path

PASSED = "success"
_FIXTURE = re.compile(r"(setUpClass|tearDownClass) \((.*)\)")


def read(path: Path) -> set[str]:
    """The ids of a list, one a line; blank lines and comments are passed over."""
    if not path.exists():
        return set()
    lines = (line.strip() for line in path.read_text().splitlines())
    return {line for line in lines if line and not line.startswith("#")}


def write(path: Path, tests: Collection[str]) -> None:
    """Write a list, sorted."""
    path.write_text("".join(f"{test}\n" for test in sorted(tests)))


def class_of(test: str) -> str:
    """The class of a test's id, which may end with tags in brackets."""
    return test.partition("[")[0].rpartition(".")[0]


@dataclasses.dataclass(frozen=True)
class Results:
    """How each test ended, and each class whose set-up failed or said no."""

    tests: Mapping[str, str]
    set_ups: Mapping[str, str]

    @property
    def passed(self) -> set[str]:
        """The ids of the tests that passed."""
        return {test for test, status in self.tests.items() if status == PASSED}

    def why_not(self, test: str) -> str:
        """What became of a test that did not pass."""
        if test in self.tests:
            return self.tests[test]
        set_up = self.set_ups.get(class_of(test))
        return f"set-up of its class: {set_up}" if set_up else "not run"


def results(text: str) -> Results:
    """What `subunit2csv` says of a run."""
    tests, set_ups = {}, {}
    for row in csv.DictReader(io.StringIO(text)):
        fixture = _FIXTURE.fullmatch(row["test"])
        if fixture is None:
            tests[row["test"]] = row["status"]
        elif fixture[1] == "setUpClass":
            set_ups[fixture[2]] = row["status"]
    return Results(tests, set_ups)


@dataclasses.dataclass(frozen=True)
class Difference:
    """Tests that should have passed, each with what became of it, and such that pass newly."""

    missing: Mapping[str, str]
    new: Collection[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.new)

    def lines(self) -> list[str]:
        """The difference as a person reads it."""
        return [
            *(f"- {test} ({why})" for test, why in sorted(self.missing.items())),
            *(f"+ {test}" for test in sorted(self.new)),
        ]


def difference(expected: Collection[str], found: Results) -> Difference:
    """Compare a run with the tests that must pass."""
    missing = {test: found.why_not(test) for test in set(expected) - found.passed}
    return Difference(missing, found.passed - set(expected))
