"""Where an intent goes: ``scheduler``, ``data``, or ``share.HOST@BACKEND``."""

from __future__ import annotations

from typing import Final

SCHEDULER: Final = "scheduler"
DATA: Final = "data"


def share(host: str) -> str:
    """The daemons of the back end in *host* (``host@backend``, with or without a pool)."""
    return f"share.{host.partition('#')[0]}"
