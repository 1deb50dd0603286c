"""Limits: what the caller's project may have, and what it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fileshare.api.fields import Field, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.shapes import INTEGER, OBJECT, listing, mapping
from fileshare.operations import quotas as operations


def _pair(most: str, used: str, quota: str, since: str | None = None) -> tuple[Field, Field]:
    """The limit of a quota and what is booked of it, work in flight included."""

    def limit(row: Mapping[str, operations.Standing], _request: Request) -> int:
        return row[quota].limit

    def booked(row: Mapping[str, operations.Standing], _request: Request) -> int:
        return row[quota].booked

    return (
        Field(most, INTEGER, source=limit, span=span(since)),
        Field(used, INTEGER, source=booked, span=span(since)),
    )


ABSOLUTE = View(
    (
        *_pair("maxTotalShares", "totalSharesUsed", "shares"),
        *_pair("maxTotalShareGigabytes", "totalShareGigabytesUsed", "gigabytes"),
        *_pair("maxTotalShareSnapshots", "totalShareSnapshotsUsed", "snapshots"),
        *_pair("maxTotalSnapshotGigabytes", "totalSnapshotGigabytesUsed", "snapshot_gigabytes"),
        *_pair("maxTotalShareNetworks", "totalShareNetworksUsed", "share_networks"),
        *_pair("maxTotalShareReplicas", "totalShareReplicasUsed", "share_replicas", "2.53"),
        *_pair(
            "maxTotalReplicaGigabytes", "totalReplicaGigabytesUsed", "replica_gigabytes", "2.53"
        ),
        *_pair("maxTotalShareGroups", "totalShareGroupsUsed", "share_groups", "2.58"),
        *_pair(
            "maxTotalShareGroupSnapshots",
            "totalShareGroupSnapshotsUsed",
            "share_group_snapshots",
            "2.58",
        ),
        *_pair("maxTotalShareBackups", "totalShareBackupsUsed", "backups", "2.80"),
        *_pair("maxTotalBackupGigabytes", "totalBackupGigabytesUsed", "backup_gigabytes", "2.80"),
    )
)


def _absolute(row: Mapping[str, operations.Standing], request: Request) -> dict[str, Any]:
    return ABSOLUTE.renderer(request)(row, request)


def _rates(_row: object, _request: Request) -> list[dict[str, Any]]:
    """Nothing slows callers down by the clock here; proxies before the API may."""
    return []


LIMITS = View(
    (
        Field("rate", listing(OBJECT), source=_rates),
        Field("absolute", mapping(INTEGER), source=_absolute),
    )
)

limits = Resource("limits", "/limits")


@limits.get(answer=One("limits", LIMITS))
def index(request: Request) -> Mapping[str, operations.Standing]:
    """Show the limits and the usage of the caller's project."""
    return operations.find(request.runtime, request.ctx, request.ctx.project_id or "")
