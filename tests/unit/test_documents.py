"""JSON documents as the database keeps them."""

from __future__ import annotations

import math

import pytest

from fileshare.db.session import from_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, 2.5, null, "ä"]}', {"a": [1, 2.5, None, "ä"]}),
        (b'{"a": 1}', {"a": 1}),
        # What drivers say of endless pools, as SQLite keeps it.
        ('{"free": Infinity}', {"free": math.inf}),
        ('"\\ud800"', "\ud800"),
    ],
)
def test_what_was_written_is_read(text, value):
    assert from_json(text) == value


def test_what_is_no_document_is_refused():
    with pytest.raises(ValueError, match="Expecting"):
        from_json("nothing")
