"""``/shares/{resource_id}/metadata``."""

from __future__ import annotations

from fileshare import errors
from fileshare.api import feature
from fileshare.api.fields import FREE, Body, Field, View
from fileshare.api.request import Request
from fileshare.api.resource import One, Resource
from fileshare.api.rules import ADMIN, MEMBER, READER, Rule
from fileshare.api.shapes import TEXT, text
from fileshare.operations import metadata as operations

GET = Rule("share:get_share_metadata", READER, "See the metadata of a share.")
UPDATE = Rule("share:update_share_metadata", MEMBER, "Set metadata of a share.")
DELETE = Rule("share:delete_share_metadata", MEMBER, "Delete metadata of a share.")
ADMIN_ONLY = Rule(
    "share:update_admin_only_metadata",
    ADMIN,
    "Set and delete metadata of a share under the keys that are the operators'.",
    old_since="YOGA",
)

Pairs = dict[str, str]

PAIRS = Body("metadata", (Field(FREE, text(1023, least=1), to="pairs"),))
ALL = View((Field(FREE, TEXT),))
ITEM = View((Field("{key}", TEXT),))

metadata = Resource("shares.metadata", "/shares/{resource_id}/metadata", listed=False)


def single(pairs: Pairs, key: str) -> Pairs:
    """*pairs*, which must be *key* alone; raises InvalidInput."""
    if list(pairs) != [key]:
        raise errors.InvalidInput(field="metadata", reason=f"It must hold the key {key} alone.")
    return pairs


def _all_keys(request: Request) -> bool:
    return request.allowed(ADMIN_ONLY) or not request.has(feature.ADMIN_ONLY_METADATA)


@metadata.get(policy=GET, answer=One("metadata", ALL))
def index(request: Request, resource_id: str) -> Pairs:
    """Show all metadata of a share."""
    return operations.find(request.runtime, request.ctx, resource_id)


@metadata.post(policy=(UPDATE, ADMIN_ONLY, "share:get"), body=PAIRS, answer=One("metadata", ALL))
def create(request: Request, resource_id: str, pairs: Pairs) -> Pairs:
    """Set metadata of a share; keys that are not named stay as they are."""
    return operations.merge(
        request.runtime, request.ctx, resource_id, pairs, all_keys=_all_keys(request)
    )


@metadata.put(policy=(UPDATE, ADMIN_ONLY, "share:get"), body=PAIRS, answer=One("metadata", ALL))
def update_all(request: Request, resource_id: str, pairs: Pairs) -> Pairs:
    """Replace the metadata of a share."""
    return operations.replace(
        request.runtime, request.ctx, resource_id, pairs, all_keys=_all_keys(request)
    )


@metadata.post(
    "/{key}",
    policy=(UPDATE, ADMIN_ONLY, "share:get"),
    body=PAIRS,
    answer=One("metadata", ALL),
)
def update_item(request: Request, resource_id: str, key: str, pairs: Pairs) -> Pairs:
    """Set one key of the metadata of a share."""
    item = single(pairs, key)
    operations.merge(request.runtime, request.ctx, resource_id, item, all_keys=_all_keys(request))
    return item


@metadata.get("/{key}", policy=GET, answer=One("meta", ITEM))
def show(request: Request, resource_id: str, key: str) -> Pairs:
    """Show one key of the metadata of a share."""
    return operations.get(request.runtime, request.ctx, resource_id, key)


@metadata.delete("/{key}", status=200, policy=(DELETE, ADMIN_ONLY, "share:get"))
def delete(request: Request, resource_id: str, key: str) -> None:
    """Delete one key of the metadata of a share."""
    operations.remove(request.runtime, request.ctx, resource_id, key, all_keys=_all_keys(request))
