"""Benchmarks run when they are named: they take minutes, and want the machine for themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
SECONDS = 900


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave this directory out of a run that does not name it, or something in it."""
    places = (Path(config.invocation_params.dir, text.split("::")[0]) for text in config.args)
    named = any(place.resolve().is_relative_to(HERE) for place in places)
    return None if named or not collection_path.is_relative_to(HERE) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this directory; give them time, unless they say how much they need."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.benchmarks)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(SECONDS))
