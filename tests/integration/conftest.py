"""Real servers take their time to start, the more so when several tests start some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.databases import KINDS

HERE = Path(__file__).parent
SECONDS = 300


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the tests of this directory more time, unless they say how much they need."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(SECONDS))


@pytest.fixture(params=KINDS)
def any_url(request, tmp_path):
    """A database without tables, of one kind after the other."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/db"
    return request.getfixturevalue(f"{request.param}_url")
