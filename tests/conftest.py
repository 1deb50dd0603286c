"""What every test has: threads as the way of concurrency, chosen before anything is imported."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "fixtures"))

from fileshare.cmd import concurrency

concurrency.initialise()
