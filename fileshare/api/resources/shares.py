"""``/shares``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from fileshare import errors
from fileshare.api import feature
from fileshare.api.fields import Body, Field, Query, View, mask
from fileshare.api.microversions import span
from fileshare.api.pagination import SORTED_PAGING
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Page, Resource
from fileshare.api.rules import ADMIN, HOST_ADMIN, MEMBER, READER, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    COUNT,
    LINKS,
    METADATA,
    MOMENT,
    MOMENT_OR_NULL,
    NAME,
    REFERENCE,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    UUID,
    UUID_OR_NULL,
    choice,
    integer,
    listing,
    nullable,
    text,
)
from fileshare.domain.listing import Page as Part
from fileshare.domain.statuses import OUT_OF_SIGHT, RulesStatus, Status
from fileshare.operations import creates
from fileshare.operations import shares as operations
from fileshare.operations.creates import NewShare
from fileshare.operations.shares import Shown

GET_ALL = Rule("share:get_all", READER, "List shares.")
GET = Rule("share:get", READER, "See a share.")
CREATE = Rule("share:create", MEMBER, "Create a share.", old="")
CREATE_PUBLIC = Rule("share:create_public_share", ADMIN, "Create a share that everybody sees.")
UPDATE = Rule("share:update", MEMBER, "Change the name or the description of a share.")
SET_PUBLIC = Rule("share:set_public_share", ADMIN, "Show a share to everybody.")
DELETE = Rule("share:delete", MEMBER, "Delete a share.")
LIST_BY_HOST = Rule("share:list_by_host", ADMIN, "List the shares of a host.")
LIST_BY_SERVER = Rule("share:list_by_share_server_id", ADMIN, "List the shares of a share server.")
LIST_ALL = Rule(
    "share:list_all_projects", ADMIN, "List the shares of all projects.", old_since="2025.1/Epoxy"
)
LIST_DEFERRED = Rule(
    "share:list_shares_in_deferred_deletion_states",
    ADMIN,
    "See shares whose deletion is deferred.",
    old_since="2024.1/Caracal",
)
SPECS_INDEX = "share_types_extra_spec:index"

PROTOCOL = choice("NFS", "CIFS", "GLUSTERFS", "HDFS", "CEPHFS", "MAPRFS", "LUSTRE", any_case=True)


# A parameter that is there without a value says yes.
GIVEN = replace(BOOLEAN, read=lambda text: text or "true")


def _pattern(text: str) -> str:
    if len(text) > _LONGEST_PATTERN:
        raise ValueError(text)
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(text) from error
    return text


_LONGEST_PATTERN = 255
PATTERN = replace(TEXT, read=_pattern)


def _links(row: Shown, request: Request) -> object:
    return request.links("shares", row.id)


def _paths(row: Shown, request: Request) -> list[str]:
    return [export.path for export in row.exports if request.is_admin or not export.is_admin_only]


def _first_path(row: Shown, request: Request) -> str | None:
    return next(iter(_paths(row, request)), None)


SUMMARY = View(
    (
        Field("id", UUID, source="share.id"),
        Field("name", NAME, source="share.display_name"),
        Field("links", LINKS, source=_links),
    )
)

DETAIL = View(
    (
        *SUMMARY.fields,
        Field("size", COUNT, source="share.size"),
        Field("availability_zone", TEXT_OR_NULL, source="share.availability_zone"),
        Field("created_at", MOMENT, source="share.created_at"),
        Field(
            "status",
            TEXT,
            source=mask("share.status", {Status.CREATING_FROM_SNAPSHOT: Status.CREATING}),
            span=span(until="2.53"),
        ),
        Field("status", TEXT, source="share.status", span=span("2.54")),
        Field("description", NAME, source="share.display_description"),
        Field("project_id", TEXT, source="share.project_id"),
        Field("snapshot_id", UUID_OR_NULL, source="share.snapshot_id"),
        Field("share_network_id", UUID_OR_NULL, source="share.share_network_id"),
        Field("share_proto", TEXT, source="share.share_proto"),
        Field("export_location", TEXT_OR_NULL, source=_first_path, span=span(until="2.8")),
        Field("export_locations", listing(TEXT), source=_paths, span=span(until="2.8")),
        Field("metadata", TEXTS, source="share.metadata"),
        Field("share_type", TEXT_OR_NULL, source="share.share_type_name", span=span(until="2.5")),
        Field("share_type", TEXT_OR_NULL, source="share.share_type_id", span=span("2.6")),
        Field("volume_type", TEXT_OR_NULL, source="share.share_type_name"),
        Field("is_public", BOOLEAN, source="share.is_public"),
        Field("snapshot_support", BOOLEAN, source="share.snapshot_support", span=span("2.2")),
        Field("task_state", TEXT_OR_NULL, source="share.task_state", span=span("2.5")),
        Field("share_type_name", TEXT_OR_NULL, source="share.share_type_name", span=span("2.6")),
        Field(
            "access_rules_status",
            TEXT,
            source=mask(
                "share.access_rules_status", {RulesStatus.SYNCING: RulesStatus.OUT_OF_SYNC}
            ),
            span=span("2.10", "2.27"),
        ),
        Field("access_rules_status", TEXT, source="share.access_rules_status", span=span("2.28")),
        Field(
            "replication_type", TEXT_OR_NULL, source="share.replication_type", span=span("2.11")
        ),
        Field("has_replicas", BOOLEAN, source="share.has_replicas", span=span("2.11")),
        Field("user_id", TEXT_OR_NULL, source="share.user_id", span=span("2.16")),
        Field(
            "create_share_from_snapshot_support",
            BOOLEAN,
            source="share.create_share_from_snapshot_support",
            span=span("2.24"),
        ),
        Field(
            "revert_to_snapshot_support",
            BOOLEAN,
            source="share.revert_to_snapshot_support",
            span=span("2.27"),
        ),
        Field("share_group_id", UUID_OR_NULL, source="share.share_group_id", span=span("2.31")),
        Field(
            "source_share_group_snapshot_member_id",
            UUID_OR_NULL,
            source="share.source_share_group_snapshot_member_id",
            span=span("2.31"),
        ),
        Field(
            "mount_snapshot_support",
            BOOLEAN,
            source="share.mount_snapshot_support",
            span=span("2.32"),
        ),
        Field("progress", TEXT_OR_NULL, source="share.progress", span=span("2.54")),
        Field("is_soft_deleted", BOOLEAN, source="share.is_soft_deleted", span=span("2.69")),
        Field(
            "scheduled_to_be_deleted_at",
            MOMENT_OR_NULL,
            source="share.scheduled_to_be_deleted_at",
            span=span("2.69"),
        ),
        Field(
            "source_backup_id", UUID_OR_NULL, source="share.source_backup_id", span=span("2.80")
        ),
        Field(
            "encryption_key_ref",
            UUID_OR_NULL,
            source="share.encryption_key_ref",
            span=span("2.90"),
        ),
        Field(
            "snapshot_inherit_share_access_support",
            BOOLEAN,
            source="share.snapshot_inherit_share_access_support",
            span=span("2.99"),
        ),
        Field("share_server_id", UUID_OR_NULL, source="share.share_server_id", policy=HOST_ADMIN),
        Field("host", TEXT_OR_NULL, source="share.host", policy=HOST_ADMIN),
    )
)

LIST = Query(
    (
        Field(
            "all_tenants",
            GIVEN,
            policy=LIST_ALL,
            denied="ignore",
            about="Shares of all projects.",
        ),
        Field("project_id", TEXT, admin=True),
        Field("name", TEXT),
        Field("display_name", TEXT, to="name"),
        Field("status", TEXT),
        Field("share_server_id", TEXT, policy=LIST_BY_SERVER),
        Field("metadata", TEXTS),
        Field("extra_specs", TEXTS, policy=SPECS_INDEX),
        Field("share_type_id", TEXT),
        Field("snapshot_id", TEXT),
        Field("host", TEXT, policy=LIST_BY_HOST),
        Field("share_network_id", TEXT),
        Field("share_group_id", TEXT, span=span("2.31")),
        Field("share_group_snapshot_id", TEXT, about="Taken, and without effect."),
        Field("is_public", BOOLEAN, about="Also shares that other projects show to everybody."),
        Field("export_location_id", TEXT, span=span("2.35")),
        Field("export_location_path", TEXT, span=span("2.35")),
        Field("name~", PATTERN, span=span("2.36")),
        Field("description~", PATTERN, span=span("2.36")),
        Field("description", TEXT, span=span("2.36")),
        Field("display_description", TEXT, to="description"),
        Field("display_name~", PATTERN, to="name~"),
        Field("display_description~", PATTERN, to="description~"),
        Field("with_count", BOOLEAN, span=span("2.42")),
        Field("is_soft_deleted", BOOLEAN, span=span("2.69")),
        Field("mount_point_name", TEXT),
        Field("encryption_key_ref", TEXT, span=span("2.90"), admin=True),
        Field("availability_zone", TEXT, span=span("2.97")),
        Field("marker", TEXT, about="The id of the last share of the page before."),
        *SORTED_PAGING,
    )
)

_NOT_FILTERS = (
    "all_tenants",
    "is_public",
    "share_group_snapshot_id",
    "with_count",
    "limit",
    "offset",
    "marker",
    "sort_key",
    "sort_dir",
)

shares = Resource("shares", "/shares")


def _counts(request: Request, *, detail: bool) -> bool:
    """Whether the number of all shares was asked for; the detailed list has always told it."""
    text = request.http.GET.get("with_count")
    if detail and text is not None:
        return bool(BOOLEAN.parse("with_count", text))
    return bool(request.query.get("with_count"))


def _find(request: Request, *, detail: bool) -> Page:
    query = request.query
    filters = {key: value for key, value in query.items() if key not in _NOT_FILTERS}
    filters.setdefault("is_soft_deleted", False)
    everybodys = bool(query.get("all_tenants"))
    if "project_id" in filters:
        everybodys = True
    deferred = request.allowed(LIST_DEFERRED)
    if filters.get("status") in OUT_OF_SIGHT:
        request.authorize(LIST_DEFERRED)
    limit = query.get("limit")
    listing = operations.find(
        request.runtime,
        request.ctx,
        filters,
        Part(
            limit=limit,
            offset=(query.get("offset") or 0) if limit is not None else 0,
            marker=query.get("marker"),
            sort_key=query.get("sort_key", "created_at"),
            sort_dir=query.get("sort_dir", "desc"),
            with_count=_counts(request, detail=detail),
        ),
        everybodys=everybodys,
        public=bool(query.get("is_public")),
        deferred=deferred,
        detail=detail,
        exports=detail and not request.has(feature.EXPORTS_APART),
    )
    return Page(listing.shares, listing.total)


LISTED = (GET_ALL, LIST_ALL, LIST_BY_HOST, LIST_BY_SERVER, SPECS_INDEX, LIST_DEFERRED)


@shares.get(
    policy=LISTED,
    query=LIST,
    answer=Many("shares", SUMMARY, links="shares_links", count_since="2.42"),
)
def index(request: Request) -> Page:
    """List shares, briefly."""
    return _find(request, detail=False)


@shares.get(
    "/detail",
    policy=LISTED,
    query=LIST,
    answer=Many("shares", DETAIL, links="shares_links", count_since="2.0"),
)
def detail(request: Request) -> Page:
    """List shares with all that is known of them."""
    return _find(request, detail=True)


def _see(request: Request, id: str) -> Shown:
    share = operations.get(
        request.runtime,
        request.ctx,
        id,
        deferred=request.allowed(LIST_DEFERRED),
        exports=not request.has(feature.EXPORTS_APART),
    )
    if not share.share.is_public:
        request.reveal(GET, share, "Share")
    return share


@shares.get("/{id}", policy=(GET, LIST_DEFERRED), answer=One("share", DETAIL))
def show(request: Request, id: str) -> Shown:
    """Show a share."""
    return _see(request, id)


NEW = Body(
    "share",
    (
        Field("share_proto", PROTOCOL, required=True),
        Field("size", integer(1), required=True, about="GiB."),
        Field("name", NAME),
        Field("display_name", NAME, to="name"),
        Field("description", NAME),
        Field("display_description", NAME, to="description"),
        Field("share_type", TEXT_OR_NULL, about="Name or id."),
        Field("volume_type", TEXT_OR_NULL, about="The older word for share_type."),
        Field("snapshot_id", REFERENCE),
        Field("share_network_id", REFERENCE),
        Field("metadata", nullable(METADATA)),
        Field("is_public", BOOLEAN, policy=CREATE_PUBLIC, default=False),
        Field("availability_zone", TEXT_OR_NULL, about="Name or id."),
        Field("share_group_id", REFERENCE, span=span("2.31")),
        Field("scheduler_hints", nullable(TEXTS), span=span("2.65")),
        Field(
            "mount_point_name",
            nullable(text(255, pattern="^[a-zA-Z0-9_-]*$")),
            span=span("2.84"),
        ),
        Field("encryption_key_ref", UUID_OR_NULL, span=span("2.90")),
    ),
    missing_status=422,
)


@shares.post(
    policy=(CREATE, CREATE_PUBLIC, "share:get"),
    body=NEW,
    answer=One("share", DETAIL),
    keyed=True,
)
def create(request: Request, **values: Any) -> Shown:
    """Create a share."""
    if values.get("share_type") and values.get("volume_type"):
        reason = "It cannot be given together with volume_type."
        raise errors.InvalidInput(field="share_type", reason=reason)
    older = values.pop("volume_type", None)
    values["share_type"] = values.get("share_type") or older
    if not request.has(feature.ZONE_ON_CREATE):
        values.pop("availability_zone", None)
    hints = values.pop("scheduler_hints", None) or {}
    if not request.has(feature.ONLY_HOST_HINT):
        hints.pop("only_host", None)
    if hints.get("only_host"):
        # Placed elsewhere, the share would look as if the host had taken it.
        request.authorize(HOST_ADMIN)
    values["metadata"] = values.get("metadata") or {}
    new = NewShare(**values, scheduler_hints=hints, check_zones=request.has(feature.ZONES_OF_TYPE))
    return creates.create(request.runtime, request.ctx, new, request.key)


CHANGES = Body(
    "share",
    (
        Field("display_name", NAME),
        Field("display_description", NAME),
        Field("is_public", BOOLEAN, policy=SET_PUBLIC),
    ),
    missing_status=422,
)


@shares.put(
    "/{id}", policy=(UPDATE, SET_PUBLIC, "share:get"), body=CHANGES, answer=One("share", DETAIL)
)
def update(request: Request, id: str, **values: Any) -> Shown:
    """Change the name, the description or the visibility of a share."""
    return operations.update(request.runtime, request.ctx, id, values)


@shares.delete(
    "/{id}",
    policy=(DELETE, "share:get"),
    query=Query((Field("share_group_id", TEXT),)),
    faults={errors.WrongStatus: 403},
)
def delete(request: Request, id: str) -> None:
    """Delete a share."""
    try:
        operations.delete(request.runtime, request.ctx, id, request.query.get("share_group_id"))
    except errors.WrongStatus as error:
        if error.facts["status"] in OUT_OF_SIGHT and not request.allowed(LIST_DEFERRED):
            # Deleted already, as far as the caller knows.
            raise errors.NotFound(resource="Share", id=id) from error
        raise
