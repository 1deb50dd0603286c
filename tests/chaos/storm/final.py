"""All that is left when the storm is over: the database, the books and the back end's journals."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from fileshare.db import models
from fileshare.db.session import Session
from tests.chaos import truth
from tests.chaos.storm.cluster import Cluster
from tests.chaos.truth import Truth


@dataclasses.dataclass
class Final:
    """*truth* is what lives; the rest is what is kept of the past, and of the back end.

    *shares* are all, deleted ones too; *instances* are the shares of all instances; *intents* all, oldest first; *metadata* by share;
    *specs* by type.  *held*, *records* and *overlaps* are the driver's, see ``dummy/state.py``.
    """

    truth: Truth
    shares: dict[str, Any]
    instances: dict[str, str]
    intents: list[Any]
    metadata: dict[str, dict[str, str]]
    locks: dict[str, Any]
    types: dict[str, Any]
    specs: dict[str, dict[str, str]]
    held: dict[str, dict]
    records: list[dict]
    overlaps: list[dict]
    pools: dict[str, int]


def read(cluster: Cluster, pools: dict[str, int]) -> Final:
    """Read it all; nothing may be in flight."""
    rows = cluster.sessions.run(_rows)
    state = cluster.state
    return Final(
        truth=truth.read(cluster.sessions),
        held={record["id"]: record for record in state.all("shares")},
        records=state.notes("records"),
        overlaps=state.notes("overlaps"),
        pools=pools,
        **rows,
    )


def _rows(session: Session) -> dict[str, Any]:
    def all_of(model: type, *order: Any) -> Sequence[Any]:
        return session.scalars(sa.select(model).order_by(*order)).all()

    metadata: dict[str, dict[str, str]] = {}
    for pair in all_of(models.ShareMetadata):
        metadata.setdefault(pair.share_id, {})[pair.key] = pair.value
    specs: dict[str, dict[str, str]] = {}
    for spec in all_of(models.ShareTypeExtraSpec):
        specs.setdefault(spec.share_type_id, {})[spec.key] = spec.value
    return {
        "shares": {share.id: share for share in all_of(models.Share)},
        "instances": {row.id: row.share_id for row in all_of(models.ShareInstance)},
        "intents": list(all_of(models.Intent, models.Intent.created_at)),
        "metadata": metadata,
        "locks": {lock.id: lock for lock in all_of(models.ResourceLock)},
        "types": {kind.id: kind for kind in all_of(models.ShareType)},
        "specs": specs,
    }
