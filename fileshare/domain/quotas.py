"""Quotas: the resources that are counted, and what a change of a share charges.

A charge is exact: it is booked where the row changes, in the same transaction, and given back
in the transaction that records the failure or the deletion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

UNLIMITED: Final = -1
PROJECT: Final = "project"
"""The scope of a project's own row; see :func:`user_scope` and :func:`type_scope`."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One quota: its name, its default limit, and since which microversion it is shown."""

    name: str
    default: int
    by_share_type: bool = True
    counted: bool = True  # False: a limit only (per_share_gigabytes)


RESOURCES: Final = (
    Resource("shares", 50),
    Resource("gigabytes", 1000),
    Resource("snapshots", 50),
    Resource("snapshot_gigabytes", 1000),
    Resource("share_networks", 10, by_share_type=False),
    Resource("share_groups", 50, by_share_type=False),
    Resource("share_group_snapshots", 50, by_share_type=False),
    Resource("share_replicas", 100),
    Resource("replica_gigabytes", 1000),
    Resource("per_share_gigabytes", UNLIMITED, counted=False),
    Resource("backups", 10, by_share_type=False),
    Resource("backup_gigabytes", 1000, by_share_type=False),
    Resource("encryption_keys", 100, by_share_type=False),
)
NOT_SET_BY_TYPE: Final = ("share_networks", "share_groups", "share_group_snapshots")
"""Limits that nobody may set for a share type."""

BY_NAME: Final = {resource.name: resource for resource in RESOURCES}


def user_scope(user_id: str) -> str:
    return f"user:{user_id}"


def type_scope(share_type_id: str) -> str:
    return f"type:{share_type_id}"


def is_user_scope(scope: str) -> bool:
    return scope.startswith("user:")


def is_type_scope(scope: str) -> bool:
    return scope.startswith("type:")


def check_limit(limit: int, least: int, most: int) -> str | None:
    """Why a limit may not be set, or None: it is below *least* or above *most*.

    Either of *limit* and *most* may be UNLIMITED.
    """
    if limit == UNLIMITED:
        return None if most == UNLIMITED else f"it must not be more than {most}"
    if limit < least:
        return f"it must be at least {least}"
    if most != UNLIMITED and limit > most:
        return f"it must not be more than {most}"
    return None


def promised(parts: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """What a project's own limits must at least be: what its users' limits add up to.

    *parts* are (scope, resource, limit).  Those of share types do not count: they overlap, and
    say how the project's shares may be made up, not how many there are.
    """
    sums: dict[str, int] = {}
    for scope, name, limit in parts:
        if is_user_scope(scope):
            sums[name] = sums.get(name, 0) + max(limit, 0)
    return sums


@dataclass(frozen=True, slots=True)
class Charge:
    """What one change books: amounts by resource, to a project, its user and its share type."""

    project_id: str
    user_id: str | None = None
    share_type_id: str | None = None
    amounts: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(self.amounts.values())

    def reversed(self) -> Charge:
        amounts = {name: -amount for name, amount in self.amounts.items()}
        return Charge(self.project_id, self.user_id, self.share_type_id, amounts)

    def scopes(self) -> list[str]:
        scopes = [PROJECT]
        if self.share_type_id:
            scopes.append(type_scope(self.share_type_id))
        if self.user_id:
            scopes.append(user_scope(self.user_id))
        return scopes

    def rows(self) -> Iterator[tuple[str, str, int]]:
        """(scope, resource, amount) of every usage row that the charge touches, in lock order."""
        for scope in sorted(self.scopes()):
            for name, amount in sorted(self.amounts.items()):
                by_type = BY_NAME[name].by_share_type
                if amount and (by_type or not is_type_scope(scope)):
                    yield scope, name, amount

    def dump(self) -> dict[str, Any]:
        return {
            "project_id": self.project_id,
            "user_id": self.user_id,
            "share_type_id": self.share_type_id,
            "amounts": dict(self.amounts),
        }

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Charge | None:
        return cls(**data) if data else None


def share_amounts(size: int, *, shares: int = 1, replicated: bool = False) -> dict[str, int]:
    """What *shares* shares of *size* GiB in all charge; a type that replicates counts replicas."""
    amounts = {"shares": shares, "gigabytes": size}
    if replicated:
        amounts |= {"share_replicas": shares, "replica_gigabytes": size}
    return amounts


def resize_amounts(delta: int, *, replicas: int = 0) -> dict[str, int]:
    """What a change of *delta* GiB charges; negative gives back."""
    amounts = {"gigabytes": delta}
    if replicas:
        amounts["replica_gigabytes"] = delta * replicas
    return amounts
