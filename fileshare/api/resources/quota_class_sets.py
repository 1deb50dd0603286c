"""Quota class sets: named limits; those of the class ``default`` hold where nothing else does."""

from __future__ import annotations

from typing import Any

from fileshare.api.fields import Body, Field
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.resources.quota_sets import LIMIT, LIMITS, SINCE
from fileshare.api.rules import ADMIN, READER, Rule
from fileshare.operations import quotas as operations

SHOW = Rule("quota_class_set:show", READER, "See the limits of a quota class.")
UPDATE = Rule("quota_class_set:update", ADMIN, "Change the limits of a quota class.")

# Set at every version, shown since theirs.
_ALWAYS_SET = {"share_groups", "share_group_snapshots"}

CHANGES = Body(
    "quota_class_set",
    tuple(
        Field(name, LIMIT, span=span(None if name in _ALWAYS_SET else since))
        for name, since in SINCE.items()
    ),
)

quota_class_sets = Resource("quota_class_sets", "/quota-class-sets", legacy="/os-quota-class-sets")


@quota_class_sets.get("/{id}", policy=SHOW, answer=One("quota_class_set", LIMITS))
def show(request: Request, id: str) -> dict[str, Any]:
    """Show the limits of a class; the configured ones where it sets none."""
    return {"id": id, **operations.find_class(request.runtime, request.ctx, id)}


@quota_class_sets.put("/{id}", policy=UPDATE, body=CHANGES, answer=One("quota_class_set", LIMITS))
def update(request: Request, id: str, **limits: int) -> dict[str, Any]:
    """Set limits of a class, which is made where there is none of this name."""
    return operations.update_class(request.runtime, request.ctx, id, limits)
