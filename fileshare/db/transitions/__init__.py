"""Status changes: the only place that writes the statuses of shares, instances and rules.

Swap first, read after, decide last: what a caller decides on is read after the swap, in the
same transaction, and a refusal rolls the swap back.
"""

from __future__ import annotations

from fileshare.db.transitions.births import birth, mark_charged, vanish
from fileshare.db.transitions.held import Held, hold, in_the_bin, own, read, wrong_status
from fileshare.db.transitions.shares import (
    Settlement,
    begin,
    forgive_deletion,
    note,
    reset,
    reset_instance,
    reset_task_state,
    settle,
)

__all__ = [
    "Held",
    "Settlement",
    "begin",
    "birth",
    "forgive_deletion",
    "hold",
    "in_the_bin",
    "mark_charged",
    "note",
    "own",
    "read",
    "reset",
    "reset_instance",
    "reset_task_state",
    "settle",
    "vanish",
    "wrong_status",
]
