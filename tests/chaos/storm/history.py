"""What the clients asked, when, and what they were told: the history that is judged."""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
import threading
from collections.abc import Iterable
from typing import Any

ACCEPTED, REFUSED, UNKNOWN = "accepted", "refused", "unknown"
NEVER = float("inf")


@dataclasses.dataclass(frozen=True)
class Call:
    """One request that was sent, with the moments before it and after its answer.

    *share* is the share that it was about, *key* which part of it (a rule, a key of its metadata,
    a lock), and *value* what that was to become.  *status* is None where no answer came.
    """

    id: str
    kind: str
    tenant: str
    start: float
    end: float
    status: int | None
    request_id: str | None = None
    share: str | None = None
    key: str | None = None
    value: Any = None
    text: str = ""

    @property
    def outcome(self) -> str:
        """An error of the server tells as little as no answer at all."""
        if self.status is None or self.status >= 500:
            return UNKNOWN
        return ACCEPTED if self.status < 300 else REFUSED

    @property
    def over(self) -> float:
        """When its effect is there, if it has one: nobody knows that of an unanswered request."""
        return NEVER if self.outcome == UNKNOWN else self.end

    def line(self) -> str:
        about = " ".join(str(part) for part in (self.share, self.key, self.value) if part)
        answer = self.status or "no answer"
        return (
            f"{self.start:.3f}-{self.end:.3f} {self.id} {self.kind} {about}: {answer} "
            f"{self.request_id or ''} {self.text}".rstrip()
        )


class History:
    """All calls, in memory and in a file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._file = path.open("a")

    def add(self, call: Call) -> None:
        with self._lock:
            self.calls.append(call)
            self._file.write(json.dumps(dataclasses.asdict(call)) + "\n")
            self._file.flush()

    def close(self) -> None:
        self._file.close()


def outcomes(calls: Iterable[Call]) -> dict[str, collections.Counter[str]]:
    """By kind: how many were accepted, refused, unknown."""
    found: dict[str, collections.Counter[str]] = {}
    for call in calls:
        found.setdefault(call.kind, collections.Counter())[call.outcome] += 1
    return found


@dataclasses.dataclass(frozen=True)
class Write:
    """A call that may have set one register."""

    start: float
    over: float
    certain: bool
    value: Any
    by: str


def write_of(call: Call, value: Any) -> Write:
    return Write(call.start, call.over, call.outcome == ACCEPTED, value, call.id)


def last_values(writes: Iterable[Write], at_first: Any) -> list[Any]:
    """What a register may hold at the end: the values that no certain write came after.

    A write comes after another where it started when that one was over.  *at_first* is what the
    register holds where nobody has written to it.
    """
    writes = list(writes)
    certain = [write for write in writes if write.certain]
    found = [
        write.value
        for write in writes
        if not any(later.start > write.over for later in certain if later is not write)
    ]
    return found if certain else [at_first, *found]
