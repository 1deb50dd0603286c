"""``/share_instances``: shares as their back ends hold them, for operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fileshare.api import feature
from fileshare.api.fields import ACTION, Body, Field, Query, View, mask
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.resources import export_locations
from fileshare.api.rules import ADMIN, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    MOMENT,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    UUID,
    UUID_OR_NULL,
    choice,
    listing,
)
from fileshare.domain.statuses import RESETTABLE, Status
from fileshare.operations import instances as operations
from fileshare.operations.instances import Shown

INDEX = Rule("share_instance:index", ADMIN, "List share instances.")
SHOW = Rule("share_instance:show", ADMIN, "See a share instance.")
RESET_STATUS = Rule("share_instance:reset_status", ADMIN, "Set the status of a share instance.")
FORCE_DELETE = Rule("share_instance:force_delete", ADMIN, "Delete a share instance by force.")
INDEX_EXPORTS = Rule(
    "share_instance_export_location:index", ADMIN, "List the export locations of an instance."
)
SHOW_EXPORT = Rule(
    "share_instance_export_location:show", ADMIN, "See an export location of an instance."
)


def _paths(row: Shown, _request: Request) -> list[str]:
    return [export.path for export in row.exports]


def _first_path(row: Shown, request: Request) -> str | None:
    return next(iter(_paths(row, request)), None)


_SHOWN_AS = {Status.CREATING_FROM_SNAPSHOT: Status.CREATING}

VIEW = View(
    (
        Field("id", UUID, source="instance.id"),
        Field("share_id", UUID, source="instance.share_id"),
        Field("availability_zone", TEXT_OR_NULL, source="instance.availability_zone"),
        Field("created_at", MOMENT, source="instance.created_at"),
        Field("host", TEXT_OR_NULL, source="instance.host"),
        Field("status", TEXT, source=mask("instance.status", _SHOWN_AS), span=span(until="2.53")),
        Field("status", TEXT, source="instance.status", span=span("2.54")),
        Field("share_network_id", UUID_OR_NULL, source="instance.share_network_id"),
        Field("share_server_id", UUID_OR_NULL, source="instance.share_server_id"),
        Field("export_location", TEXT_OR_NULL, source=_first_path, span=span(until="2.8")),
        Field("export_locations", listing(TEXT), source=_paths, span=span(until="2.8")),
        Field(
            "access_rules_status",
            TEXT,
            source="instance.access_rules_status",
            span=span("2.10"),
        ),
        Field("replica_state", TEXT_OR_NULL, source="instance.replica_state", span=span("2.11")),
        Field("share_type_id", UUID_OR_NULL, source="instance.share_type_id", span=span("2.22")),
        Field(
            "cast_rules_to_readonly",
            BOOLEAN,
            source="instance.cast_rules_to_readonly",
            span=span("2.30"),
        ),
        Field("progress", TEXT_OR_NULL, source="instance.progress", span=span("2.54")),
        Field("updated_at", MOMENT_OR_NULL, source="instance.updated_at", span=span("2.71")),
    )
)

LIST = Query(
    (
        Field("export_location_id", TEXT, span=span("2.35")),
        Field("export_location_path", TEXT, span=span("2.35")),
        Field("is_soft_deleted", BOOLEAN, span=span("2.69")),
        Field("host", TEXT, admin=True),
        Field("status", TEXT, admin=True),
        Field("share_server_id", TEXT, admin=True),
    )
)

instances = Resource("share_instances", "/share_instances", since="2.3")
of_share = Resource("share_instances", "/shares/{share_id}/instances", since="2.3", listed=False)
locations = Resource(
    "share_instance_export_locations",
    "/share_instances/{share_instance_id}/export_locations",
    since="2.9",
    listed=False,
)


def _with_exports(request: Request) -> bool:
    return not request.has(feature.EXPORTS_APART)


@instances.get(
    policy=INDEX, query=LIST, answer=Many("share_instances", VIEW, links="share_instances_links")
)
def index(request: Request) -> Sequence[Shown]:
    """List share instances."""
    return operations.find(
        request.runtime, request.ctx, request.query, with_exports=_with_exports(request)
    )


@instances.get("/{id}", policy=SHOW, answer=One("share_instance", VIEW))
def show(request: Request, id: str) -> Shown:
    """Show a share instance."""
    return operations.get(request.runtime, request.ctx, id, with_exports=_with_exports(request))


@of_share.get(policy=(INDEX, "share:get"), answer=Many("share_instances", VIEW))
def by_share(request: Request, share_id: str) -> Sequence[Shown]:
    """List the instances of a share."""
    return operations.of_share(
        request.runtime, request.ctx, share_id, with_exports=_with_exports(request)
    )


@instances.action(
    "reset_status",
    renamed="2.7",
    policy=RESET_STATUS,
    body=Body(ACTION, (Field("status", choice(*RESETTABLE), required=True),)),
)
def reset_status(request: Request, id: str, status: str) -> None:
    """Set the status of a share instance; what works on it is stopped."""
    operations.reset_status(request.runtime, request.ctx, id, status)


@instances.action(
    "force_delete",
    renamed="2.7",
    policy=(FORCE_DELETE, "share:delete"),
    body=Body(ACTION, (), anything=True),
)
def force_delete(request: Request, id: str) -> None:
    """Delete a share instance in any status, whatever its back end says."""
    operations.force_delete(request.runtime, request.ctx, id)


@locations.get(
    policy=(INDEX_EXPORTS, "share_instance:show"),
    answer=Many("export_locations", export_locations.SUMMARY),
    id="index",
)
def exports(request: Request, share_instance_id: str) -> Sequence[Any]:
    """List the paths under which an instance is mounted."""
    return operations.export_locations(request.runtime, request.ctx, share_instance_id)


@locations.get(
    "/{export_location_uuid}",
    policy=(SHOW_EXPORT, "share_instance:show"),
    answer=One("export_location", export_locations.DETAIL),
    id="show",
)
def export(request: Request, share_instance_id: str, export_location_uuid: str) -> Any:
    """Show an export location of an instance."""
    return operations.export_location(
        request.runtime, request.ctx, share_instance_id, export_location_uuid
    )
