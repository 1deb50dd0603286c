"""What the clients know of their shares, from the answers that they were given."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from typing import TypeVar

Thing = TypeVar("Thing")


@dataclasses.dataclass
class Rule:
    id: str
    level: str


@dataclasses.dataclass
class Known:
    """A share as its tenant knows it; *is_good* once it was seen available."""

    id: str
    size: int
    is_good: bool = False
    reset: bool = False
    rules: list[Rule] = dataclasses.field(default_factory=list)
    locks: list[str] = dataclasses.field(default_factory=list)
    keys: list[str] = dataclasses.field(default_factory=list)


def one_of(things: Sequence[Thing], pick: float) -> Thing | None:
    """The one that *pick* (0 to 1) falls on; None where there is none."""
    return things[int(pick * len(things))] if things else None


class Tenant:
    """One project and its shares; its clients share them."""

    def __init__(self, name: str, project_id: str) -> None:
        self.name, self.project_id = name, project_id
        self._shares: dict[str, Known] = {}
        self._lock = threading.Lock()

    @property
    def token(self) -> str:
        return f"{self.name}:{self.project_id}:member"

    def learn(self, share_id: str, size: int) -> Known:
        with self._lock:
            return self._shares.setdefault(share_id, Known(share_id, size))

    def forget(self, share_id: str) -> None:
        with self._lock:
            self._shares.pop(share_id, None)

    def pick(self, pick: float) -> Known | None:
        with self._lock:
            return one_of(list(self._shares.values()), pick)


@dataclasses.dataclass
class World:
    """All tenants, and the share types that were made in the storm (their ids)."""

    tenants: list[Tenant]
    types: list[str] = dataclasses.field(default_factory=list)

    def stranger(self, to: Tenant, pick: float) -> Known | None:
        """A share of another tenant."""
        others = [tenant for tenant in self.tenants if tenant is not to]
        return others[int(pick * len(others))].pick(pick)
