"""Fixtures of the driver tests that need real servers."""

from __future__ import annotations

from tests.fixtures.local_backends import local_backend
from tests.fixtures.networks import lab

__all__ = ["lab", "local_backend"]
