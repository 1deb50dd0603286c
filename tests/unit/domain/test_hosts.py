from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.domain import hosts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("node1", ("node1", None, None)),
        ("node1@lvm", ("node1", "lvm", None)),
        ("node1@lvm#gold", ("node1", "lvm", "gold")),
        ("node1@lvm#a@b#c", ("node1", "lvm", "a@b#c")),
        ("node1#gold", ("node1", None, "gold")),
    ],
)
def test_parts_and_back(text, parts):
    location = hosts.parse(text)
    assert (location.node, location.backend, location.pool) == parts
    assert str(location) == text


@pytest.mark.parametrize("text", ["", "@lvm", "node1@", "node1@lvm#", "#gold", "node1@#gold"])
def test_empty_parts_are_refused(text):
    with pytest.raises(errors.InvalidInput):
        hosts.parse(text)


def test_short_cuts():
    assert hosts.backend_of("node1@lvm#gold") == "node1@lvm"
    assert hosts.backend_of("node1@lvm") == "node1@lvm"
    assert hosts.pool_of("node1@lvm#gold") == "gold"
    assert hosts.pool_of("node1@lvm") is None
    assert hosts.pool_host("node1@lvm", "gold") == "node1@lvm#gold"
    assert hosts.parse("node1@lvm#gold").backend_host == "node1@lvm"
