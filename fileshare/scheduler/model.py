"""What a placement is decided on: pools as they were reported, and what a request asks.

Everything here is frozen and free of I/O: what a filter or weigher needs from the database was
read once, before, into the request.  Sizes are GiB; None is a number that a back end does not
know.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from fileshare.domain import specs as domain_specs


@dataclasses.dataclass(frozen=True, slots=True)
class PoolState:
    """A pool as its back end last reported it, and what was placed on it since.

    ``claimed`` is what was placed and is not yet part of a report; ``report_seq`` grows by one
    with each report.  ``capabilities`` is shared by all states of one report.
    """

    id: int
    host: str
    backend: str
    pool: str
    report_seq: int = 0
    zone_id: str | None = None
    zone: str | None = None
    total: float | None = None
    free: float | None = None
    allocated: float = 0.0
    provisioned: float | None = None
    reserved_percentage: float = 0.0
    reserved_snapshot_percentage: float = 0.0
    reserved_extend_percentage: float = 0.0
    thin: bool = False
    max_over_subscription_ratio: float = 20.0
    claimed: float = 0.0
    is_enabled: bool = True
    capabilities: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)

    def promised(self) -> float:
        """What has been promised to shares; a back end that does not say counts its own."""
        known = self.allocated if self.provisioned is None else self.provisioned
        return known + self.claimed


UNKNOWN: Final = "unknown"
STATS: Final[Mapping[str, Callable[[PoolState], Any]]] = {
    "host": lambda pool: pool.host,
    "pool_name": lambda pool: pool.pool,
    "total_capacity_gb": lambda pool: UNKNOWN if pool.total is None else pool.total,
    "free_capacity_gb": lambda pool: UNKNOWN if pool.free is None else pool.free - pool.claimed,
    "allocated_capacity_gb": lambda pool: pool.allocated + pool.claimed,
    "provisioned_capacity_gb": lambda pool: pool.promised(),
    "reserved_percentage": lambda pool: pool.reserved_percentage,
    "reserved_snapshot_percentage": lambda pool: pool.reserved_snapshot_percentage,
    "reserved_share_extend_percentage": lambda pool: pool.reserved_extend_percentage,
    "max_over_subscription_ratio": lambda pool: pool.max_over_subscription_ratio,
}
"""The numbers of a pool under the names of the field; what was placed since is counted."""


@dataclasses.dataclass(frozen=True, slots=True)
class Demand:
    """The extra specs of a share type, read once.

    ``known`` remembers, for each pool, the verdict on the capabilities of its last report: they
    change with a report only, which is far more seldom than shares are placed.
    """

    specs: Mapping[str, str]
    wants: tuple[domain_specs.Want, ...]
    zones: tuple[str, ...]
    allows_thin: bool
    known: dict[int, tuple[Mapping[str, Any], Verdict]] = dataclasses.field(
        default_factory=dict, compare=False, repr=False
    )

    def spec(self, key: str) -> str | None:
        """The value of a spec, with or without the scope of capabilities."""
        return self.specs.get(key, self.specs.get(f"capabilities:{key}"))


def demand(extra_specs: Mapping[str, str], protocol: str | None = None) -> Demand:
    """What a share of this type and protocol asks of a pool."""
    return _demand(tuple(sorted(extra_specs.items())), protocol)


@functools.lru_cache(maxsize=64)
def _demand(extra_specs: tuple[tuple[str, str], ...], protocol: str | None) -> Demand:
    prepared = domain_specs.with_defaults(dict(extra_specs), protocol)
    thin = prepared.get(domain_specs.THIN, prepared.get(f"capabilities:{domain_specs.THIN}"))
    return Demand(
        specs=MappingProxyType(prepared),
        wants=domain_specs.wants(prepared),
        zones=domain_specs.zones(prepared),
        allows_thin=thin is None or domain_specs.matches(thin, True),
    )


NO_DEMAND: Final = demand({})


@dataclasses.dataclass(frozen=True, slots=True)
class Replication:
    """Where the other replicas of a share are; all of them replicate within one domain."""

    domain: str | None = None
    hosts: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, slots=True)
class PlacementRequest:
    """What is to be placed, or made larger where it is.

    ``neighbours`` and ``strangers`` hold, for each share of the hints same_host and
    different_host, the hosts of its instances; None for a share that is not there.
    ``share`` holds what formulas may know of the share, and is empty where there is none yet.
    """

    size: int
    size_increase: int = 0
    is_extend: bool = False
    demand: Demand = NO_DEMAND
    protocol: str | None = None
    project_id: str | None = None
    is_admin: bool = False
    zone_id: str | None = None
    zones_with_several_subnets: frozenset[str] = frozenset()
    from_snapshot: bool = False
    snapshot_host: str | None = None
    snapshot_zone_id: str | None = None
    snapshot_domain: str | None = None
    only_host: str | None = None
    neighbours: Mapping[str, frozenset[str] | None] = dataclasses.field(default_factory=dict)
    strangers: Mapping[str, frozenset[str] | None] = dataclasses.field(default_factory=dict)
    query: Any = None
    attempted: tuple[str, ...] = ()
    replication: Replication | None = None
    server_pools: frozenset[str] = frozenset()
    group_specs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    share: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def needed(self) -> int:
        """GiB that the pool must still have: the whole share, or what it grows by."""
        return self.size_increase if self.is_extend else self.size


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A filter's word on a pool: *reason* says why not, *short* is the same for a summary.

    ``short`` completes «3 pools: 2 …» and holds no number, so that equal ones can be counted.
    """

    ok: bool
    short: str = ""
    reason: str = ""


PASSED: Final = Verdict(ok=True)


def refused(short: str, reason: str = "") -> Verdict:
    """A pool that does not fit."""
    return Verdict(ok=False, short=short, reason=reason or short)
