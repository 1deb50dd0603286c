"""What drivers answer, checked where it is to be stored."""

from __future__ import annotations

import json
from typing import Any

from fileshare import errors


def text(value: str) -> str:
    """*value*; raises ValueError where it holds what no database takes."""
    if errors.storable(value) != value:
        raise ValueError(f"{value!r} cannot be stored")
    return value


def document(value: dict[str, Any]) -> dict[str, Any]:
    """*value*; raises ValueError, TypeError or RecursionError where it is no plain JSON."""
    # As text: the form with escapes takes halves of characters, which nobody can read again.
    text(json.dumps(value, allow_nan=False, ensure_ascii=False))
    return value
