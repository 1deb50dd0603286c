"""What drivers see and say: frozen values; a driver never meets a row, a context or a session.

Sizes are GiB.  Ids are those of the share *instance*, which is what a back end holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class ShareRef:
    """A share instance as a back end knows it; ``id`` never changes: the idempotence key."""

    id: str
    share_id: str
    size: int
    protocol: str
    project_id: str
    pool: str | None = None
    name: str | None = None
    mount_point_name: str | None = None
    extra_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    exports: tuple[Export, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class SnapshotRef:
    """A snapshot instance; ``size`` is that of the share when it was taken."""

    id: str
    share: ShareRef
    size: int
    provider_location: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Export:
    """A path under which clients mount a share."""

    path: str
    admin_only: bool = False
    preferred: bool = False
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class AccessRule:
    """Who may mount: *type* is ip, user, cert or cephx; *level* is rw or ro."""

    id: str
    type: str
    to: str
    level: str
    key: str | None = dataclasses.field(default=None, repr=False)


@dataclasses.dataclass(frozen=True, slots=True)
class AccessChange:
    """The complete wanted set of rules, and what is new, gone or of another level in it.

    ``rules`` alone says what must hold afterwards; the other three are a hint for back ends
    that take single steps.  All three empty: make the back end equal to ``rules``.
    """

    rules: tuple[AccessRule, ...]
    added: tuple[AccessRule, ...] = ()
    removed: tuple[AccessRule, ...] = ()
    changed: tuple[AccessRule, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RuleResult:
    """What became of one rule: *error* is for the user, *key* a secret of the back end.

    *forbidden*: the client is not the project's to admit, whatever the rule says of it.
    """

    error: str | None = None
    key: str | None = dataclasses.field(default=None, repr=False)
    forbidden: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class AccessResult:
    """Results by rule id; a rule that is not named was applied.

    *changed* says whether the back end enforced something else before; None: it cannot tell.
    """

    rules: Mapping[str, RuleResult] = dataclasses.field(default_factory=dict)
    changed: bool | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Pool:
    """A part of a back end with its own capacity (GiB; None: unknown).

    ``allocated`` is what shares on it take, ``provisioned`` the sum of the sizes promised to
    them, for thin pools.  Reserved percentages and the ratio are the back end section's where
    they are None.  ``capabilities`` are free keys that types and expressions may use, of plain
    JSON.  A pool with a number that is none gets no shares.
    """

    name: str
    total: float | None
    free: float | None
    allocated: float = 0.0
    provisioned: float | None = None
    reserved_percentage: int | None = None
    reserved_snapshot_percentage: int | None = None
    reserved_share_extend_percentage: int | None = None
    thin_provisioning: bool | tuple[bool, ...] = False
    max_over_subscription_ratio: float | None = None
    capabilities: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class BackendInfo:
    """What a back end says of itself, the same for all its pools.

    ``capabilities`` are keys of the report (see ``drivers/loader.py``) beyond those that follow
    from the driver's capability classes; they win over the derived ones.
    """

    vendor_name: str
    driver_version: str
    storage_protocol: str | tuple[str, ...]
    capabilities: Mapping[str, Any] = dataclasses.field(default_factory=dict)
