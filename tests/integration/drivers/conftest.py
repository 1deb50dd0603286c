"""Fixtures of the driver tests that need real servers."""

from __future__ import annotations

import pytest

from tests.fixtures.backends import started
from tests.fixtures.local_backends import local_backend
from tests.fixtures.networks import lab

__all__ = ["lab", "local_backend"]


@pytest.fixture
def driver(conf):
    """The driver of the back end that the module configures, started."""
    driver = started(conf)
    yield driver
    driver.close()
