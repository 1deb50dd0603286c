"""``/shares/{share_id}/export_locations/{resource_id}/metadata``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.resources.share_metadata import ALL, ITEM, PAIRS, Pairs, single
from fileshare.api.rules import ADMIN, MEMBER, READER, Rule
from fileshare.operations import exports as operations

Result = TypeVar("Result")

_SINCE = "2024.2/Dalmatian"

GET = Rule(
    "share_export_location:get_metadata",
    READER,
    "See the metadata of an export location.",
    old_since=_SINCE,
)
UPDATE = Rule(
    "share_export_location:update_metadata",
    MEMBER,
    "Set metadata of an export location.",
    old_since=_SINCE,
)
DELETE = Rule(
    "share_export_location:delete_metadata",
    MEMBER,
    "Delete metadata of an export location.",
    old_since=_SINCE,
)
ADMIN_ONLY = Rule(
    "share_export_location:update_admin_only_metadata",
    ADMIN,
    "Set and delete metadata of an export location under the keys that are the operators'.",
    old_since=_SINCE,
)

metadata = Resource(
    "share_export_locations.metadata",
    "/shares/{share_id}/export_locations/{resource_id}/metadata",
    since="2.87",
    listed=False,
)


@metadata.get(policy=GET, answer=One("metadata", ALL))
def index(request: Request, share_id: str, resource_id: str) -> Pairs:
    """Show all metadata of an export location."""
    return operations.metadata(request.runtime, request.ctx, share_id, resource_id)


@metadata.post(policy=(UPDATE, ADMIN_ONLY, "share:get"), body=PAIRS, answer=One("metadata", ALL))
def create(request: Request, share_id: str, resource_id: str, pairs: Pairs) -> Pairs:
    """Set metadata of an export location; keys that are not named stay as they are."""
    return _change(operations.merge_metadata, request, share_id, resource_id, pairs)


@metadata.put(policy=(UPDATE, ADMIN_ONLY, "share:get"), body=PAIRS, answer=One("metadata", ALL))
def update_all(request: Request, share_id: str, resource_id: str, pairs: Pairs) -> Pairs:
    """Replace the metadata of an export location."""
    return _change(operations.replace_metadata, request, share_id, resource_id, pairs)


@metadata.post(
    "/{key}",
    policy=(UPDATE, ADMIN_ONLY, "share:get"),
    body=PAIRS,
    answer=One("metadata", ALL),
)
def update_item(
    request: Request, share_id: str, resource_id: str, key: str, pairs: Pairs
) -> Pairs:
    """Set one key of the metadata of an export location."""
    one = single(pairs, key)
    changed = _change(operations.merge_metadata, request, share_id, resource_id, one)
    return {key: changed[key]}


@metadata.get("/{key}", policy=GET, answer=One("meta", ITEM))
def show(request: Request, share_id: str, resource_id: str, key: str) -> Pairs:
    """Show one key of the metadata of an export location."""
    return operations.metadata_item(request.runtime, request.ctx, share_id, resource_id, key)


@metadata.delete("/{key}", status=200, policy=(DELETE, ADMIN_ONLY, "share:get"))
def delete(request: Request, share_id: str, resource_id: str, key: str) -> None:
    """Delete one key of the metadata of an export location."""
    _change(operations.remove_metadata, request, share_id, resource_id, key)


def _change(
    operation: Callable[..., Result], request: Request, share_id: str, resource_id: str, what: Any
) -> Result:
    """Change metadata; keys that are an administrator's are for those only whom policy lets."""
    all_keys = request.allowed(ADMIN_ONLY)
    return operation(request.runtime, request.ctx, share_id, resource_id, what, all_keys=all_keys)
