"""``/availability-zones``: where back ends stand."""

from __future__ import annotations

from typing import Any

from fileshare.api.fields import Field, View
from fileshare.api.request import Request
from fileshare.api.resource import Many, Resource
from fileshare.api.rules import READER, Rule
from fileshare.api.shapes import MOMENT, MOMENT_OR_NULL, TEXT, UUID
from fileshare.operations import zones as operations

INDEX = Rule("availability_zone:index", READER, "List the availability zones.")

ZONE = View(
    (
        Field("id", UUID),
        Field("name", TEXT),
        Field("created_at", MOMENT),
        Field("updated_at", MOMENT_OR_NULL),
    )
)

availability_zones = Resource(
    "availability_zones", "/availability-zones", legacy="/os-availability-zone"
)


@availability_zones.get(policy=INDEX, answer=Many("availability_zones", ZONE))
def index(request: Request) -> Any:
    """List the availability zones in which a service lives."""
    return operations.find(request.runtime, request.ctx)
