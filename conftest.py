"""What every test may ask for."""

from __future__ import annotations

pytest_plugins = ("tests.fixtures.servers", "tests.fixtures.clouds")
