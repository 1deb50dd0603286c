from __future__ import annotations

import inprocess
import pytest


@pytest.fixture
def program(tmp_path):
    """The whole program with a share type called default."""
    made = inprocess.Program(f"sqlite:///{tmp_path}/db.sqlite", tmp_path)
    made.share_type()
    yield made
    made.sessions.dispose()


@pytest.fixture
def api(program):
    return program
