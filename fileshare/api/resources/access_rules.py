"""Access rules: actions of shares, and ``/share-access-rules``."""

from __future__ import annotations

from typing import Any

from fileshare import errors
from fileshare.api import feature
from fileshare.api.fields import ACTION, FREE, Body, Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.resources.shares import shares
from fileshare.api.rules import MEMBER, OWNER_USER_OR_SERVICE, READER, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    METADATA,
    MOMENT,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    UUID,
    choice,
    nullable,
    text,
)
from fileshare.domain.access import LEVELS, TYPES
from fileshare.domain.statuses import RulesStatus, RuleState
from fileshare.operations import access as operations
from fileshare.operations.access import Locks
from fileshare.operations.access import Rule as Access

ALLOW = Rule("share:allow_access", MEMBER, "Let a client mount a share.")
DENY = Rule("share:deny_access", MEMBER, "Take a client's access to a share away.")
SHARE_GET = Rule("share:access_get", READER, "See an access rule of a share.")
SHARE_GET_ALL = Rule("share:access_get_all", READER, "List the access rules of a share.")
INDEX = Rule("share_access_rule:index", READER, "List the access rules of a share.")
GET = Rule("share_access_rule:get", READER, "See an access rule.")
UPDATE = Rule(
    "share_access_rule:update",
    MEMBER,
    "Change the level of an access rule.",
    old_since="2025.1/Epoxy",
)
METADATA_UPDATE = Rule("share_access_metadata:update", MEMBER, "Set metadata of an access rule.")
METADATA_DELETE = Rule(
    "share_access_metadata:delete", MEMBER, "Remove metadata of an access rule."
)
BYPASS = Rule(
    "resource_lock:bypass_locked_show_action",
    OWNER_USER_OR_SERVICE,
    "See the client and the key of an access rule whose visibility is locked.",
    old_since="2023.2/Bobcat",
)

ACCESS_TYPE = choice(*TYPES)
LEVEL = choice(*LEVELS)
LEVEL_OR_NULL = nullable(LEVEL)


def _hidden(rule: Access, request: Request) -> bool:
    return rule.keeper is not None and not request.allowed(BYPASS, rule.keeper)


def _shown(rule: Access, request: Request) -> Access:
    """The rule as the caller may see it, at any microversion."""
    return rule.redacted() if _hidden(rule, request) else rule


def _masked_state(rule: Access, request: Request) -> str:
    """Before 2.28 all rules show the state of the set; one that is denied is in sync again."""
    status = rule.share_rules_status
    return RuleState.NEW if status == RulesStatus.SYNCING else status


def _fields(*more: Field) -> View:
    return View(
        (
            Field("id", UUID),
            *more,
            Field("access_level", LEVEL_OR_NULL),
            Field("access_to", TEXT),
            Field("access_type", ACCESS_TYPE),
            Field("state", TEXT, source=_masked_state, span=span(until="2.27")),
            Field("state", TEXT, span=span("2.28")),
            Field("access_key", TEXT_OR_NULL, span=span("2.21")),
            Field("created_at", MOMENT, span=span("2.33")),
            Field("updated_at", MOMENT_OR_NULL, span=span("2.33")),
            Field("metadata", TEXTS, span=span("2.45")),
        )
    )


VIEW = _fields()
WITH_SHARE = _fields(Field("share_id", UUID))

NEW = Body(
    ACTION,
    (
        Field("access_type", choice("ip", "user", "cert"), required=True, span=span(until="2.12")),
        Field("access_type", ACCESS_TYPE, required=True, span=span("2.13")),
        Field("access_to", TEXT, required=True),
        Field("access_level", LEVEL_OR_NULL),
        Field("metadata", METADATA, span=span("2.45")),
        Field("lock_visibility", BOOLEAN, span=span("2.82"), default=False),
        Field("lock_deletion", BOOLEAN, span=span("2.82"), default=False),
        Field("lock_reason", text(1023), span=span("2.82")),
    ),
    unknown="ignore",
)


@shares.action(
    "allow_access",
    renamed="2.7",
    policy=(ALLOW, "share:get"),
    body=NEW,
    answer=One("access", WITH_SHARE),
    status=200,
)
def allow_access(
    request: Request, id: str, access_type: str, access_to: str, **values: Any
) -> Access:
    """Let a client mount a share."""
    wanted = Locks(
        visibility=values.get("lock_visibility", False),
        deletion=values.get("lock_deletion", False),
        reason=values.get("lock_reason"),
    )
    return operations.allow(
        request.runtime,
        request.ctx,
        id,
        access_type,
        access_to,
        access_level=values.get("access_level"),
        metadata=values.get("metadata"),
        with_locks=wanted,
        ipv6=request.has(feature.IPV6_ACCESS),
        cephx=request.has(feature.CEPHX_ACCESS),
        allow_error=request.has(feature.RULES_WITH_REPLICA_IN_ERROR),
        in_error=request.has(feature.RULES_WHILE_IN_ERROR),
    )


@shares.action(
    "deny_access",
    renamed="2.7",
    policy=(DENY, SHARE_GET, "share:get"),
    body=Body(
        ACTION,
        (
            # What is no id names no rule: 404, as in a path.
            Field("access_id", text(255), required=True),
            Field("unrestrict", BOOLEAN, default=False),
        ),
        unknown="ignore",
    ),
)
def deny_access(request: Request, id: str, access_id: str, unrestrict: bool = False) -> None:
    """Take a client's access away."""
    operations.deny(
        request.runtime,
        request.ctx,
        id,
        access_id,
        unrestrict=unrestrict,
        may_lift=lambda lock: request.allowed("resource_lock:delete", lock),
        allow_error=request.has(feature.RULES_WITH_REPLICA_IN_ERROR),
    )


@shares.action(
    "access_list",
    renamed="2.7",
    until="2.44",
    policy=(SHARE_GET_ALL, "share:get"),
    body=Body(ACTION, (), anything=True),
    answer=Many("access_list", VIEW),
    status=200,
)
def access_list(request: Request, id: str) -> list[Access]:
    """List the access rules of a share."""
    found = operations.find(request.runtime, request.ctx, id)
    return [_shown(rule, request) for rule in found]


rules = Resource("share_access_rules", "/share-access-rules", since="2.45")

LIST = Query(
    (
        Field("share_id", UUID, required=True),
        Field("metadata", TEXTS),
        Field("access_type", TEXT, span=span("2.45", "2.81")),
        Field("access_type", ACCESS_TYPE, span=span("2.82")),
        Field("access_to", TEXT),
        Field("access_level", TEXT, span=span("2.45", "2.81")),
        Field("access_level", LEVEL, span=span("2.82")),
        Field("access_key", TEXT),
        Field("id", UUID),
    )
)


@rules.get(
    policy=(INDEX, SHARE_GET_ALL, "share:get", BYPASS),
    query=LIST,
    answer=Many("access_list", VIEW),
)
def index(request: Request) -> list[Access]:
    """List the access rules of a share."""
    filters = dict(request.query)
    share_id = filters.pop("share_id")
    if request.has(feature.LOCKED_RULES) and "access_to" in filters:
        _need_type(filters)
    try:
        found = operations.find(request.runtime, request.ctx, share_id, filters)
    except errors.NotFound as error:
        raise errors.InvalidInput(field="share_id", reason=str(error)) from error
    if not filters.keys().isdisjoint(_SECRETS):
        # Whoever guesses right must not learn it by what is found.
        found = [rule for rule in found if not _hidden(rule, request)]
    return [_shown(rule, request) for rule in found]


_SECRETS = {"access_to", "access_key"}


def _need_type(filters: dict[str, Any]) -> None:
    if "access_type" not in filters:
        reason = "It is needed to filter by access_to."
        raise errors.InvalidInput(field="access_type", reason=reason)


@rules.get("/{id}", policy=(GET, SHARE_GET, "share:get", BYPASS), answer=One("access", WITH_SHARE))
def show(request: Request, id: str) -> Access:
    """Show an access rule."""
    return _shown(operations.get(request.runtime, request.ctx, id), request)


@rules.put(
    "/{id}",
    since="2.88",
    policy=(UPDATE, SHARE_GET, "share:get"),
    body=Body("update_access", (Field("access_level", LEVEL, required=True),)),
    answer=One("access", WITH_SHARE),
)
def update(request: Request, id: str, access_level: str) -> Access:
    """Change the level of an access rule; clients are not cut off."""
    return _shown(operations.set_level(request.runtime, request.ctx, id, access_level), request)


metadata = Resource(
    "share_access_metadata", "/share-access-rules/{access_id}/metadata", since="2.45", listed=False
)
PAIRS = View((Field(FREE, TEXT),), mapping=True)


@metadata.put(
    policy=(METADATA_UPDATE, SHARE_GET),
    id="update",
    body=Body("metadata", (Field(FREE, text(1023, least=1), to="metadata"),)),
    answer=One("metadata", PAIRS),
)
def update_metadata(request: Request, access_id: str, metadata: dict[str, str]) -> Any:
    """Set metadata of an access rule; other keys stay."""
    return operations.update_metadata(request.runtime, request.ctx, access_id, metadata)


@metadata.delete("/{key}", policy=(METADATA_DELETE, SHARE_GET), id="delete", status=200)
def delete_metadata(request: Request, access_id: str, key: str) -> None:
    """Remove one key of the metadata of an access rule."""
    operations.delete_metadata(request.runtime, request.ctx, access_id, key)
