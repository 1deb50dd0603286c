"""Quota sets: limits and usage of a project, a user or a share type in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fileshare.api.fields import Body, Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.rules import ADMIN, READER, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    INTEGER,
    TEXT,
    TEXT_OR_NULL,
    Shape,
    integer,
    nullable,
    structure,
)
from fileshare.domain.quotas import NOT_SET_BY_TYPE, UNLIMITED
from fileshare.operations import quotas as operations

SHOW = Rule("quota_set:show", READER, "See the quotas of a project.")
UPDATE = Rule("quota_set:update", ADMIN, "Change quotas of a project, a user or a share type.")
DELETE = Rule("quota_set:delete", ADMIN, "Forget the quotas that were set in a project.")

SINCE: Final[Mapping[str, str | None]] = {
    "shares": None,
    "gigabytes": None,
    "snapshots": None,
    "snapshot_gigabytes": None,
    "share_networks": None,
    "share_groups": "2.40",
    "share_group_snapshots": "2.40",
    "share_replicas": "2.53",
    "replica_gigabytes": "2.53",
    "per_share_gigabytes": "2.62",
    "backups": "2.80",
    "backup_gigabytes": "2.80",
    "encryption_keys": "2.90",
}
"""The quotas, and the version since which each is on the wire."""

LIMIT = integer(UNLIMITED)
_STANDING = structure(limit=INTEGER, in_use=INTEGER, reserved=INTEGER)


def limits_view(shape: Shape = INTEGER) -> View:
    """The id, and one field for each quota that the row has."""
    quotas = (Field(name, shape, span=span(since)) for name, since in SINCE.items())
    return View((Field("id", TEXT), *quotas), mapping=True)


LIMITS = limits_view()
DETAIL = limits_view(_STANDING)

WHOSE = Query(
    (
        Field("user_id", TEXT),
        Field("share_type", TEXT, span=span("2.39"), before="reject"),
    )
)
CHANGES = Body(
    "quota_set",
    (
        *(
            Field(name, nullable(LIMIT), span=span(since), before="reject")
            for name, since in SINCE.items()
        ),
        Field("force", nullable(BOOLEAN), default=False),
        Field("tenant_id", TEXT_OR_NULL),
    ),
    unknown="reject",
)

quota_sets = Resource("quota_sets", "/quota-sets", legacy="/os-quota-sets")


def _for_type(request: Request, quotas: Mapping[str, Any]) -> dict[str, Any]:
    """The quotas, without those that nobody sets for a share type where one was asked for."""
    hidden = NOT_SET_BY_TYPE if request.query.get("share_type") else ()
    return {name: quota for name, quota in quotas.items() if name not in hidden}


def _limits(
    request: Request, standings: Mapping[str, operations.Standing], **more: str
) -> dict[str, Any]:
    limits = {name: standing.limit for name, standing in standings.items()}
    return {**more, **_for_type(request, limits)}


@quota_sets.get("/{id}", policy=SHOW, query=WHOSE, answer=One("quota_set", LIMITS))
def show(request: Request, id: str) -> dict[str, Any]:
    """Show the limits of a project, or those that hold for a user or a share type in it."""
    return _limits(
        request, operations.find(request.runtime, request.ctx, id, **request.query), id=id
    )


@quota_sets.get("/{id}/defaults", policy=SHOW, answer=One("quota_set", LIMITS))
def defaults(request: Request, id: str) -> dict[str, Any]:
    """Show the limits of a project for which none were set."""
    return {"id": id, **operations.defaults(request.runtime, request.ctx)}


@quota_sets.put(
    "/{id}",
    policy=UPDATE,
    late_policy=True,
    query=WHOSE,
    body=CHANGES,
    answer=One("quota_set", LIMITS),
)
def update(
    request: Request,
    id: str,
    *,
    force: bool = False,
    tenant_id: object = None,
    **limits: int | None,
) -> dict[str, Any]:
    """Set limits of a project, or of a user or a share type in it; -1 is no limit.

    Without ``force`` a limit must be at least what is used, and a user's or a type's not more
    than the project's.
    """
    given = {name: limit for name, limit in limits.items() if limit is not None}
    standings = operations.update(
        request.runtime, request.ctx, id, given, force=bool(force), **request.query
    )
    return _limits(request, standings)


@quota_sets.delete("/{id}", policy=DELETE, query=WHOSE)
def delete(request: Request, id: str) -> None:
    """Forget the limits that were set for a project and in it, or for one user or type."""
    operations.delete(request.runtime, request.ctx, id, **request.query)


@quota_sets.get(
    "/{id}/detail", since="2.25", policy=SHOW, query=WHOSE, answer=One("quota_set", DETAIL)
)
def detail(request: Request, id: str) -> dict[str, Any]:
    """Show limits with what is in use, and what unfinished work has booked."""
    standings = operations.find(request.runtime, request.ctx, id, **request.query)
    shown = {
        name: {
            "limit": standing.limit,
            "in_use": standing.in_use,
            "reserved": standing.reserved,
        }
        for name, standing in standings.items()
    }
    return {"id": id, **_for_type(request, shown)}
