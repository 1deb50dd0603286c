"""Regular expressions from outside: compiled only where a match cannot take for ever.

The engine tries every way to part a text among repeats; what may be left out is one of them.  A
repeat of something that holds a repeat or a choice itself doubles the ways with each character, so
such an expression is refused, and so is one with more repeats than any name needs.
"""

from __future__ import annotations

import itertools
import re
from typing import Final

from fileshare import errors

LONGEST: Final = 255
MOST_REPEATS: Final = 6

_PART: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d*,?\d*\}|.", re.DOTALL)
_REPEATS: Final = ("*", "+", "{", "?")
_MANNERS: Final = ("?", "+")  # of a repeat that they follow: lazy, possessive


def compiled(text: str, field: str, most_repeats: int = MOST_REPEATS) -> re.Pattern[str]:
    """The expression *text* of the parameter *field*; raises InvalidInput where it is unusable."""
    reason = _refusal(text, most_repeats)
    if reason is None:
        try:
            return re.compile(text)
        except (re.error, OverflowError, RecursionError, FutureWarning) as error:
            reason = f"it is no regular expression: {error}"
    raise errors.InvalidInput(field=field, reason=reason)


def _refusal(text: str, most_repeats: int) -> str | None:
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    parts = _PART.findall(text)
    repeats = _repeats(parts)
    if sum(repeats) > most_repeats:
        return f"it has more than {most_repeats} repeats"
    if _repeats_a_choice(parts, repeats):
        return "a repeated group must not hold repeats or choices"
    return None


def _repeats(parts: list[str]) -> list[bool]:
    """Of each part, whether it says how often what stands before it comes."""
    found: list[bool] = []
    for before, part in itertools.pairwise(["(", *parts]):
        is_manner = part in _MANNERS and found[-1:] == [True]
        # A question mark that begins a group says what sort of group it is.
        found.append(part.startswith(_REPEATS) and before != "(" and not is_manner)
    return found


def _repeats_a_choice(parts: list[str], repeats: list[bool]) -> bool:
    """Whether a group that holds a repeat or a choice is itself repeated."""
    open_groups = [False]
    closed = False  # the part before ended a group that holds one
    for part, is_repeat in zip(parts, repeats, strict=True):
        if is_repeat and closed and part != "?":
            return True
        closed = False
        if part == "(":
            open_groups.append(False)
        elif part == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1] |= closed
        elif is_repeat or part == "|":
            open_groups[-1] = True
    return False
