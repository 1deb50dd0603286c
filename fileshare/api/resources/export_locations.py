"""``/shares/{share_id}/export_locations``."""

from __future__ import annotations

from typing import Any

from fileshare.api import feature
from fileshare.api.fields import Field, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.rules import READER, Rule
from fileshare.api.shapes import BOOLEAN, MOMENT, MOMENT_OR_NULL, TEXT, TEXTS, UUID
from fileshare.operations import exports as operations

INDEX = Rule("share_export_location:index", READER, "List the export locations of a share.")
SHOW = Rule("share_export_location:show", READER, "See an export location of a share.")

SUMMARY = View(
    (
        Field("id", UUID),
        Field("path", TEXT),
        Field("preferred", BOOLEAN, span=span("2.14")),
        Field("metadata", TEXTS, source="extra", span=span("2.87")),
        Field("share_instance_id", UUID, admin=True),
        Field("is_admin_only", BOOLEAN, admin=True),
    )
)
DETAIL = View(
    (
        *SUMMARY.fields,
        Field("created_at", MOMENT),
        Field("updated_at", MOMENT_OR_NULL),
    )
)

locations = Resource(
    "share_export_locations", "/shares/{share_id}/export_locations", since="2.9", listed=False
)


@locations.get(policy=(INDEX, "share:get"), answer=Many("export_locations", SUMMARY), id="index")
def index(request: Request, share_id: str) -> list[Any]:
    """List the paths under which a share is mounted."""
    return operations.find(
        request.runtime, request.ctx, share_id, serving=request.has(feature.ACTIVE_EXPORTS_ONLY)
    )


@locations.get(
    "/{export_location_uuid}", policy=(SHOW, "share:get"), answer=One("export_location", DETAIL)
)
def show(request: Request, share_id: str, export_location_uuid: str) -> Any:
    """Show an export location."""
    return operations.get(request.runtime, request.ctx, share_id, export_location_uuid)
