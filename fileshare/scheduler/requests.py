"""From a share and its type to what is asked of the pools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fileshare.db import placements, pools
from fileshare.db.placements import Placed
from fileshare.db.session import Session
from fileshare.domain.hints import DIFFERENT_HOST, METADATA, SAME_HOST, ids
from fileshare.scheduler.model import PlacementRequest, demand

ONLY_HOST, QUERY = "only_host", "query"


def of_new(placed: Placed, hints: Mapping[str, str], session: Session) -> PlacementRequest:
    """What a new share asks; hints that name other shares cost one statement."""
    share = placed.share
    near, far = _others(placed, hints, session)
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
        neighbours=near,
        strangers=far,
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


_Others = dict[str, frozenset[str] | None]


def _others(placed: Placed, hints: Mapping[str, str], session: Session) -> tuple[_Others, _Others]:
    """Where the shares are that this one is to be with, and those that it is to avoid.

    What the request names must be there. What the metadata names counts where it is: whoever
    names this share wrote itself there, and may not have been placed, or be gone.
    """
    asked = {key: ids(hints.get(key, "")) for key in METADATA}
    kept = {key: ids(placed.metadata.get(METADATA[key], "")) for key in METADATA if not asked[key]}
    named = {id for some in (asked, kept) for each in some.values() for id in each}
    held = pools.hosts_of(session, named) if named else {}
    found: dict[str, _Others] = {
        key: {
            **{id: held.get(id) for id in asked[key]},
            **{id: held[id] for id in kept.get(key, ()) if held.get(id)},
        }
        for key in METADATA
    }
    return found[SAME_HOST], found[DIFFERENT_HOST]
