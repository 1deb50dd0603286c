"""What no default run executes is looked at all the same: its imports, its fixtures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("directory", ["chaos", "benchmarks"])
def test_what_runs_by_name_only_can_be_set_up(directory):
    command = [sys.executable, "-m", "pytest", "-q", "--setup-plan", f"tests/{directory}"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
