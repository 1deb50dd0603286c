"""What a comparison of a back end with the database found, and how often it found such."""

from __future__ import annotations

import collections
import dataclasses
import threading
from typing import Any, Final

MISSING: Final = "missing"
LEFT_OVER: Final = "left_over"
ELSEWHERE: Final = "elsewhere"
SIZE: Final = "size"
EXPORTS: Final = "exports"
RULES: Final = "rules"
MORE: Final = "more"  # than were noted


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One difference; *what* is one of the words of this module."""

    what: str
    instance_id: str
    share_id: str | None
    detail: str
    repaired: bool = False

    def dump(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


class Repairs:
    """How often each kind of difference was found and repaired since the process started."""

    def __init__(self) -> None:
        self._counts: collections.Counter[tuple[str, str]] = collections.Counter()
        self._lock = threading.Lock()

    def add(self, finding: Finding) -> None:
        with self._lock:
            self._counts["found", finding.what] += 1
            if finding.repaired:
                self._counts["repaired", finding.what] += 1

    def found(self, what: str) -> int:
        """Differences of a kind."""
        with self._lock:
            return self._counts["found", what]

    def get(self, what: str) -> int:
        """Those of them that were repaired."""
        with self._lock:
            return self._counts["repaired", what]
