"""Sizes of files and functions; the figures are shown by ``pytest -s``."""

from __future__ import annotations

import statistics
import sys

import pytest
from sources import ROOT, code, modules

LONGEST_FILE = 500
LONGEST_FUNCTION = 60
MEDIAN_FILE = 110
P95_FILE = 350
MEDIAN_FUNCTION = 8
P95_FUNCTION = 30
OVER_50 = 0.01  # the part of functions that may be longer than 50 lines


def percentile(sizes, part):
    return sorted(sizes)[min(len(sizes) - 1, int(len(sizes) * part))]


def functions(found):
    return {
        f"{module.at(node)} {node.name}": node.end_lineno - node.lineno + 1
        for module in found
        for node in module.functions()
    }


def show(what, sizes):
    line = (
        f"{what}: {len(sizes)}, median {statistics.median(sizes):.0f}, "
        f"p95 {percentile(sizes, 0.95)}, longest {max(sizes)}"
    )
    sys.stdout.write(line + "\n")


def over(sizes, most):
    return {name: size for name, size in sizes.items() if size > most}


def test_files():
    assert over({module.name: module.lines for module in modules()}, LONGEST_FILE) == {}
    # A package that only marks a directory is no file that anybody reads.
    values = [module.lines for module in code() if module.lines > 1]
    show("files", values)
    assert statistics.median(values) <= MEDIAN_FILE
    assert percentile(values, 0.95) <= P95_FILE


def test_functions():
    assert over(functions(modules()), LONGEST_FUNCTION) == {}
    values = list(functions(code()).values())
    show("functions", values)
    assert statistics.median(values) <= MEDIAN_FUNCTION
    assert percentile(values, 0.95) <= P95_FUNCTION
    assert sum(size > 50 for size in values) <= OVER_50 * len(values)


@pytest.mark.parametrize("directory", ["tests", "devstack", "doc", "api-ref"])
def test_files_beside_the_program(directory):
    paths = sorted((ROOT / directory).rglob("*.py"))
    assert paths
    sizes = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in paths}
    assert over(sizes, LONGEST_FILE) == {}
