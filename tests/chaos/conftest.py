"""What tests with real processes need of the machine."""

from __future__ import annotations

import os

import pytest

from devstack.servers import MissingServer, program


@pytest.fixture(scope="session")
def required():
    """The programs of the servers; a machine without them skips, except in CI."""
    try:
        program("mariadbd")
        program("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server")
    except MissingServer as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
