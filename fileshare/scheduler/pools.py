"""The pools of the cloud as they are now, for one decision.

Between two reports of a pool nothing changes but what is claimed of it, and whether its service
takes new shares.  These are read anew each time, in one narrow statement; a report is read
when it was not seen before.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from fileshare.db import pools
from fileshare.db.session import Session
from fileshare.scheduler.model import PoolState


class Pools:
    """Reads pools; one object serves all threads of a scheduler.

    It keeps one report of each pool, and may be lost at any time.
    """

    def __init__(self) -> None:
        self._known: dict[int, PoolState] = {}

    def read(
        self,
        session: Session,
        *,
        down_after: float,
        host: str | None = None,
        with_disabled: bool = False,
    ) -> list[PoolState]:
        """All pools of services that are up, or the one of *host*; at most two statements."""
        known = self._known
        pulses = pools.pulses(
            session, down_after=down_after, host=host, with_disabled=with_disabled
        )
        new = [id for id, seq, _, _ in pulses if id not in known or known[id].report_seq != seq]
        fresh = {row.id: _state(row) for row in pools.reports(session, new)} if new else {}
        states = []
        for id, seq, claimed, is_enabled in pulses:
            state = fresh.get(id)
            if state is None:
                state = known.get(id)
                if state is None or state.report_seq != seq:
                    continue  # its back end has just withdrawn it
                state = _now(state, claimed, is_enabled=bool(is_enabled))
            known[id] = state
            states.append(state)
        if host is None and len(known) > len(states):
            self._known = {state.id: state for state in states}
        return states


def _now(state: PoolState, claimed: float, *, is_enabled: bool) -> PoolState:
    if state.claimed == claimed and state.is_enabled is is_enabled:
        return state
    return dataclasses.replace(state, claimed=claimed, is_enabled=is_enabled)


def _state(row: Any) -> PoolState:
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
        capabilities=row.capabilities,
    )
