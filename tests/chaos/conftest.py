"""What the chaos tests need: a program to be spoilt."""

from __future__ import annotations

import pytest

from tests.chaos.cases import Worlds


@pytest.fixture(scope="module")
def program_of_the_module(tmp_path_factory):
    made = Worlds(tmp_path_factory.mktemp("worlds"))
    yield made
    made.close()


@pytest.fixture
def worlds(program_of_the_module, monkeypatch):
    monkeypatch.delenv("FILESHARE_FAILPOINTS", raising=False)
    return program_of_the_module
