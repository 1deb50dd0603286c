"""What the chaos tests need: programs of the machine, and a program to be spoilt."""

from __future__ import annotations

import os

import pytest

from devstack.servers import MissingServer, program
from tests.chaos.cases import Worlds


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


@pytest.fixture(scope="module")
def program_of_the_module(tmp_path_factory):
    made = Worlds(tmp_path_factory.mktemp("worlds"))
    yield made
    made.close()


@pytest.fixture
def worlds(program_of_the_module, monkeypatch):
    monkeypatch.delenv("FILESHARE_FAILPOINTS", raising=False)
    return program_of_the_module
