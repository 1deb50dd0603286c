"""What every test has: threads as the way of concurrency, chosen before anything is imported."""

from __future__ import annotations

import pathlib
import sys

import hypothesis

sys.path.insert(0, str(pathlib.Path(__file__).parent / "fixtures"))

from fileshare.cmd import concurrency

concurrency.initialise()

# How quick the machine is says nothing about the program.
hypothesis.settings.register_profile(
    "any-machine",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("any-machine")
