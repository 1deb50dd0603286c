"""The pools of the cloud as they are now, for one decision.

Numbers are read anew each time, in one statement.  Capabilities are large, and change with a
report only: those of a report that was seen before are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fileshare.db import pools
from fileshare.db.session import Session
from fileshare.scheduler.model import PoolState

Capabilities = Mapping[str, Any]
_NEVER: tuple[int, Capabilities] = (-1, {})


class Pools:
    """Reads pools; one object serves all threads of a scheduler.

    It holds the capabilities of at most as many reports as there are pools, and may be lost at
    any time.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, Capabilities]] = {}

    def read(
        self,
        session: Session,
        *,
        down_after: float,
        host: str | None = None,
        with_disabled: bool = False,
    ) -> list[PoolState]:
        """All pools of services that are up, or the one of *host*; at most two statements."""
        rows = pools.numbers(
            session, down_after=down_after, host=host, with_disabled=with_disabled
        )
        known = self._known
        missing = [row.id for row in rows if known.get(row.id, _NEVER)[0] != row.report_seq]
        if missing:
            known.update(pools.capabilities(session, missing))
        if host is None and len(known) > len(rows):
            there = {row.id for row in rows}
            self._known = {id: kept for id, kept in dict(known).items() if id in there}
        return [_state(row, known[row.id][1]) for row in rows if row.id in known]


def _state(row: Any, capabilities: Capabilities) -> PoolState:
    return PoolState(
        id=row.id,
        host=row.host,
        backend=row.backend,
        pool=row.pool,
        report_seq=row.report_seq,
        zone_id=row.availability_zone_id,
        zone=row.zone,
        total=row.total_gb,
        free=row.free_gb,
        allocated=row.allocated_gb,
        provisioned=row.provisioned_gb,
        reserved_percentage=row.reserved_percentage,
        reserved_snapshot_percentage=row.reserved_snapshot_percentage,
        reserved_extend_percentage=row.reserved_share_extend_percentage,
        thin=row.thin,
        max_over_subscription_ratio=row.max_over_subscription_ratio,
        claimed=row.claimed_gb,
        is_enabled=bool(row.is_enabled),
        capabilities=capabilities,
    )
