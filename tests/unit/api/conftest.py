from __future__ import annotations

import pytest
import toy


@pytest.fixture
def runtime():
    return toy.make_runtime()


@pytest.fixture
def ask(runtime):
    return toy.Client(runtime)
