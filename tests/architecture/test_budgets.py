"""Sizes of files and functions; the figures are shown by ``pytest -s``."""

from __future__ import annotations

import statistics
import sys

from sources import code

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
MEDIAN_FILE = 130
P95_FILE = 370
MEDIAN_FUNCTION = 8
P95_FUNCTION = 30

# Files and functions that are over the budget.  An entry may go, none may come.
TOO_LONG_FILES: frozenset[str] = frozenset()
TOO_LONG_FUNCTIONS: frozenset[str] = frozenset()


def percentile(sizes, part):
    return sorted(sizes)[min(len(sizes) - 1, int(len(sizes) * part))]


def files():
    return {module.name: module.lines for module in code() if module.lines > 1}


def functions():
    return {
        f"{module.name}:{node.name}": node.end_lineno - node.lineno + 1
        for module in code()
        for node in module.functions()
    }


def show(what, sizes):
    values = list(sizes.values())
    line = (
        f"{what}: {len(values)}, median {statistics.median(values):.0f}, "
        f"p95 {percentile(values, 0.95)}, longest {max(values)}"
    )
    sys.stdout.write(line + "\n")
    return values


def test_files():
    sizes = files()
    values = show("files", sizes)
    assert {name for name, size in sizes.items() if size > LONGEST_FILE} == TOO_LONG_FILES
    assert statistics.median(values) <= MEDIAN_FILE
    assert percentile(values, 0.95) <= P95_FILE


def test_functions():
    sizes = functions()
    values = show("functions", sizes)
    assert {name for name, size in sizes.items() if size > LONGEST_FUNCTION} == TOO_LONG_FUNCTIONS
    assert statistics.median(values) <= MEDIAN_FUNCTION
    assert percentile(values, 0.95) <= P95_FUNCTION
