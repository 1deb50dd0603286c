"""Requests that are to be refused: what the cases of test_errors.py are made of."""

from __future__ import annotations

from inprocess import ADMIN

LATER = "not yet: "
LONG = "x" * 256


class Ask:
    """What is asked differently from a good request, by whom and at which version."""

    def __init__(self, body=None, *, query="", as_=ADMIN, version=None, **at):
        self.body, self.query, self.as_, self.version, self.at = body, query, as_, version, at
