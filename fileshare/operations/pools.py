"""The pools as their back ends reported them last, for operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from fileshare import errors
from fileshare.db import pools, types
from fileshare.domain import hosts, patterns, specs
from fileshare.intents.unit import Unit, operation


class Pool(NamedTuple):
    """A pool by the parts of its name, with what it can do and hold under the field's keys."""

    name: str
    host: str
    backend: str | None
    pool: str | None
    zone: str | None
    capabilities: dict[str, Any]


_NUMBERS = {
    "total_capacity_gb": "total_gb",
    "free_capacity_gb": "free_gb",
    "allocated_capacity_gb": "allocated_gb",
    "provisioned_capacity_gb": "provisioned_gb",
    "max_over_subscription_ratio": "max_over_subscription_ratio",
    "reserved_percentage": "reserved_percentage",
    "reserved_snapshot_percentage": "reserved_snapshot_percentage",
    "reserved_share_extend_percentage": "reserved_share_extend_percentage",
}
_UNKNOWN = "unknown"


@operation
def find(unit: Unit, parts: Mapping[str, str], share_type: str | None = None) -> list[Pool]:
    """The pools of the services that are up and enabled, by name.

    *parts* are regular expressions that begin where ``name``, ``host``, ``backend`` or ``pool``
    begins; *share_type* (a name or an id) leaves those that can serve it.  Raises InvalidInput
    for an expression that cannot be used, and for an unknown type.
    """
    wanted = {name: patterns.compiled(text, name) for name, text in parts.items()}
    asked = _specs(unit, share_type) if share_type else {}
    found = [
        pool
        for pool in _all(unit)
        if all(pattern.match(getattr(pool, name) or "") for name, pattern in wanted.items())
    ]
    if share_type:
        found = [pool for pool in found if _serves(pool, asked)]
    return sorted(found)


def _all(unit: Unit) -> list[Pool]:
    down_time = unit.runtime.conf.service_down_time
    return [_shown(row) for row in pools.offered(unit.session, down_after=down_time)]


def _shown(row: Any) -> Pool:
    where = hosts.parse(row.host)
    numbers = {key: _number(getattr(row, column)) for key, column in _NUMBERS.items()}
    facts = {
        **row.capabilities,
        **numbers,
        "pool_name": row.pool,
        "timestamp": row.reported_at,
    }
    return Pool(row.host, where.node, where.backend, where.pool, row.zone, facts)


def _number(value: float | None) -> float | str:
    if value is None:
        return _UNKNOWN
    return int(value) if float(value).is_integer() else value


def _specs(unit: Unit, share_type: str) -> dict[str, str]:
    try:
        found = types.get(unit.session, unit.scope, share_type)
    except errors.NotFound as error:
        raise errors.InvalidInput(field="share_type", reason=str(error)) from error
    return specs.with_defaults(found.specs)


def _serves(pool: Pool, asked: Mapping[str, str]) -> bool:
    zones = specs.zones(asked)
    if zones and pool.zone not in zones:
        return False
    return specs.capabilities_match(asked, pool.capabilities) is None
