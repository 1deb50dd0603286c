"""From a share and its type to what is asked of the pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fileshare.db import placements, pools
from fileshare.db.placements import Placed
from fileshare.db.session import Session
from fileshare.scheduler.model import PlacementRequest, demand

SAME_HOST, DIFFERENT_HOST = "same_host", "different_host"
ONLY_HOST, QUERY = "only_host", "query"
METADATA: Final = {
    SAME_HOST: "__affinity_same_host",
    DIFFERENT_HOST: "__affinity_different_host",
}
"""Keys under which a share keeps its hints, for placements later on (replicas, moves)."""


def of_new(placed: Placed, hints: Mapping[str, str], session: Session) -> PlacementRequest:
    """What a new share asks; hints that name other shares cost one statement."""
    share = placed.share
    near, far = (_ids(placed, hints, key) for key in (SAME_HOST, DIFFERENT_HOST))
    held = pools.hosts_of(session, {*near, *far}) if near or far else {}
    return PlacementRequest(
        size=share.size,
        demand=demand(placed.extra_specs, share.share_proto),
        protocol=share.share_proto,
        project_id=share.project_id,
        is_admin=True,  # the request was refused where its caller may not give only_host
        only_host=hints.get(ONLY_HOST),
        query=hints.get(QUERY),
        zone_id=share.availability_zone_id,
        from_snapshot=share.snapshot_id is not None,
        neighbours={id: held.get(id) for id in near},
        strangers={id: held.get(id) for id in far},
        share=facts(placed),
    )


def of_growth(placed: Placed, size: int) -> PlacementRequest:
    """What a share asks that is to grow to *size* GiB in all."""
    return PlacementRequest(
        size=size,
        size_increase=size - placed.share.size,
        is_extend=True,
        demand=demand(placed.extra_specs, placed.share.share_proto),
        protocol=placed.share.share_proto,
        project_id=placed.share.project_id,
        share={**facts(placed), "size": size},
    )


def read(session: Session, share_id: str) -> Placed:
    """The share that a request is about; raises NotFound."""
    return placements.read(session, share_id)


def facts(placed: Placed) -> dict[str, Any]:
    """What formulas may ask of a share."""
    share = placed.share
    names = (
        "id",
        "size",
        "share_proto",
        "project_id",
        "user_id",
        "display_name",
        "is_public",
        "availability_zone_id",
        "share_type_id",
        "share_network_id",
        "snapshot_id",
    )
    return {**{name: getattr(share, name) for name in names}, "metadata": placed.metadata}


def _ids(placed: Placed, hints: Mapping[str, str], key: str) -> tuple[str, ...]:
    text = hints.get(key) or placed.metadata.get(METADATA[key]) or ""
    return tuple(id.strip() for id in text.split(",") if id.strip())
