"""Regular expressions from outside: compiled only where a match cannot take for ever.

The engine tries every way to part a text among repeats.  A repeat of something that holds a repeat
or a choice itself doubles the ways with each character, so such an expression is refused, and so
is one with more open repeats than any name needs.
"""

from __future__ import annotations

import re
from typing import Final

from fileshare import errors

LONGEST: Final = 255
MOST_REPEATS: Final = 6

_PART: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
_REPEATS: Final = ("*", "+", "{")


def compiled(text: str, field: str) -> re.Pattern[str]:
    """The expression *text* of the parameter *field*; raises InvalidInput where it is unusable."""
    reason = _refusal(text)
    if reason is None:
        try:
            return re.compile(text)
        except (re.error, OverflowError, RecursionError, FutureWarning) as error:
            reason = f"it is no regular expression: {error}"
    raise errors.InvalidInput(field=field, reason=reason)


def _refusal(text: str) -> str | None:
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    parts = _PART.findall(text)
    if sum(part.startswith(_REPEATS) for part in parts) > MOST_REPEATS:
        return f"it has more than {MOST_REPEATS} repeats"
    if _repeats_a_choice(parts):
        return "a repeated group must not hold repeats or choices"
    return None


def _repeats_a_choice(parts: list[str]) -> bool:
    """Whether a group that holds a repeat or a choice is itself repeated."""
    open_groups = [False]
    closed = False  # the part before ended a group that holds one
    for part in parts:
        repeat = part.startswith(_REPEATS)
        if repeat and closed:
            return True
        closed = False
        if part == "(":
            open_groups.append(False)
        elif part == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1] |= closed
        elif repeat or part == "|":
            open_groups[-1] = True
    return False
