"""A small resource with everything a real one has, over rows in memory."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from types import SimpleNamespace

import webob
from oslo_config import cfg

from fileshare import errors
from fileshare.api import wsgi
from fileshare.api.fields import ACTION, FREE, OMIT, Body, Field, Query, View, mask
from fileshare.api.microversions import span
from fileshare.api.pagination import SORTED_PAGING, clipped
from fileshare.api.resource import Many, One, Page, Resource
from fileshare.api.resources import extensions, versions
from fileshare.api.rules import ADMIN, HOST_ADMIN, MEMBER, READER, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    COUNT,
    LINKS,
    METADATA,
    MOMENT,
    NAME,
    OBJECT,
    TEXT,
    UUID,
    UUID_OR_NULL,
    choice,
    integer,
    mapping,
    nullable,
)
from fileshare.conf import api, common, osapi

UUID_1 = "7e7f7a0c-0ed8-4d46-8d31-6b8a1f9d0c11"

LIST = Rule("toy:get_all", READER, "List toys.")
GET = Rule("toy:get", READER, "See a toy.")
CREATE = Rule("toy:create", MEMBER, "Make a toy.", old="")
PUBLISH = Rule("toy:publish", ADMIN, "Make a toy public.")
BY_HOST = Rule("toy:list_by_host", ADMIN, "List toys by host.")
EXTEND = Rule("toy:extend", MEMBER, "Make a toy larger.")
RESET = Rule("toy:reset_status", ADMIN, "Set the status of a toy.", old=None)


@dataclass
class Toy:
    id: str
    project_id: str = "a1"
    user_id: str = "u1"
    display_name: str | None = None
    size: int = 1
    status: str = "available"
    host: str = "h@b#p"
    created_at: dt.datetime = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    metadata: dict[str, str] = field(default_factory=dict)
    type_id: str = UUID_1
    type_name: str = "gold"
    secret: str | None = None


TOYS = Resource("toys", "/toys")
EXTRA = Resource("toys.metadata", "/toys/{resource_id}/metadata", listed=False)
SHELVES = Resource("shelves", "/shelves", legacy="/os-shelves")
LAB = Resource("lab", "/lab", since="2.11", experimental=(span("2.11", "2.55"),))


def toy_links(row, request):
    return request.links("toys", row.id)


SUMMARY = View(
    (
        Field("id", UUID),
        Field("name", NAME, source="display_name"),
        Field("links", LINKS, source=toy_links),
    )
)
DETAIL = View(
    (
        *SUMMARY.fields,
        Field("size", COUNT),
        Field(
            "status",
            TEXT,
            source=mask("status", {"creating_from_snapshot": "creating"}),
            span=span(until="2.53"),
        ),
        Field("status", TEXT, span=span("2.54")),
        Field("created_at", MOMENT),
        Field("metadata", METADATA),
        Field("share_type", TEXT, source="type_name", span=span(until="2.5")),
        Field("share_type", UUID, source="type_id", span=span("2.6")),
        Field("secret", TEXT, source=lambda row, _: row.secret or OMIT),
        Field("host", TEXT, policy=HOST_ADMIN),
    )
)
LIST_QUERY = Query(
    (
        Field("name", TEXT, to="display_name"),
        Field("name~", TEXT, span=span("2.36")),
        Field("host", TEXT, policy=BY_HOST),
        Field("all_tenants", BOOLEAN, policy=BY_HOST, denied="ignore"),
        Field("project_id", TEXT, admin=True),
        Field("metadata", METADATA),
        Field("with_count", BOOLEAN, span=span("2.42")),
        *SORTED_PAGING,
    )
)
NEW = Body(
    "toy",
    (
        Field("size", integer(1), required=True),
        Field("proto", choice("NFS", "CIFS", any_case=True), default="NFS"),
        Field("name", NAME),
        Field("display_name", NAME, to="name"),
        Field("is_public", BOOLEAN, policy=PUBLISH, default=False),
        Field("group_id", UUID_OR_NULL, span=span("2.31")),
        Field("mount_point_name", TEXT, span=span("2.84"), before="reject"),
        Field("metadata", METADATA),
    ),
    missing_status=422,
    aliases=("old_toy",),
)


@TOYS.get(
    policy=(LIST, BY_HOST),
    query=LIST_QUERY,
    answer=Many("toys", SUMMARY, links="toys_links", count_since="2.42"),
)
def index(request):
    """List toys."""
    return listed(request)


@TOYS.get(
    "/detail",
    policy=LIST,
    query=LIST_QUERY,
    answer=Many("toys", DETAIL, links="toys_links", count_since="2.0"),
)
def detail(request):
    """List toys with all of their fields."""
    return listed(request)


def listed(request):
    request.runtime.asked = dict(request.query)
    part = clipped(request.query, request.runtime.conf.osapi_max_limit)
    rows = [
        row for row in request.runtime.toys.values() if row.project_id == request.ctx.project_id
    ]
    page = rows[part.offset : part.offset + part.limit]
    return Page(page, len(rows) if request.query.get("with_count") else None)


@TOYS.get("/{id}", policy=GET, answer=One("toy", DETAIL, also="old_toy"))
def show(request, id):
    """Show a toy."""
    return request.reveal(GET, find(request, id), "Toy")


def find(request, id):
    try:
        return request.runtime.toys[id]
    except KeyError:
        raise errors.NotFound(resource="Toy", id=id) from None


@TOYS.post(policy=CREATE, body=NEW, answer=One("toy", DETAIL))
def create(request, **values):
    """Make a toy."""
    request.runtime.asked = values
    row = Toy(
        UUID_1,
        size=values["size"],
        display_name=values.get("name"),
        metadata=values.get("metadata", {}),
    )
    return request.runtime.toys.setdefault(row.id, row)


@TOYS.delete("/{id}", policy=GET)
def delete(request, id):
    """Throw a toy away."""
    del request.runtime.toys[find(request, id).id]


@TOYS.action(
    "extend",
    renamed="2.7",
    policy=EXTEND,
    body=Body(
        ACTION,
        (
            Field("new_size", integer(1), required=True),
            Field("force", BOOLEAN, span=span("2.64"), default=False),
        ),
    ),
    faults={errors.WrongStatus: 400},
)
def extend(request, id, new_size, force=False):
    """Make a toy larger."""
    row = find(request, id)
    if row.status != "available":
        raise errors.WrongStatus(
            resource="Toy", id=id, status=row.status, sources="available", verb="extend"
        )
    row.size = new_size
    request.runtime.asked = {"new_size": new_size, "force": force}


@TOYS.action(
    "break_it",
    policy=RESET,
    body=Body(ACTION, anything=True),
    answer=One(None, View((Field("broken", BOOLEAN),), mapping=True)),
    status=200,
)
def break_it(request, id):
    """Break a toy."""
    return {"broken": True}


@TOYS.action("gone", until="2.40", body=Body(ACTION, (), nullable=True))
def gone(request, id):
    """An action that ended."""


@TOYS.action(
    "restore",
    since="2.80",
    body=Body(ACTION, nullable=True, value=Field("target", UUID_OR_NULL, span=span("2.91"))),
)
def restore(request, id, target=None):
    """Restore a toy, to another one from 2.91 on."""
    request.runtime.asked = {"target": target}


@TOYS.post("/crash", id="crash")
def crash(request):
    """Fail in a way that nobody foresaw."""
    raise RuntimeError("a secret detail")


@TOYS.post("/quota", id="quota")
def quota(request):
    """Pass a limit."""
    raise errors.OverQuota(exception="ToyLimitExceeded", quota="toys", delta=1, used=1, limit=1)


@EXTRA.post(
    policy=GET,
    body=Body("metadata", (Field(FREE, TEXT, to="metadata"),)),
    answer=One("metadata", View((Field(FREE, TEXT),))),
)
def update_metadata(request, resource_id, metadata):
    """Add to the metadata of a toy."""
    row = find(request, resource_id)
    row.metadata |= metadata
    return row.metadata


@EXTRA.put(
    "/{key}",
    policy=GET,
    body=Body(None, (Field("{key}", TEXT, to="specs"),)),
    answer=One(None, View((Field("{key}", TEXT),))),
)
def set_metadata(request, resource_id, key, specs):
    """Set one key."""
    find(request, resource_id).metadata |= specs
    return specs


@SHELVES.get(
    answer=Many("shelves", View((Field("id", UUID),))),
    query=Query((Field("id", UUID, required=True),), unknown="reject", once=True),
)
def shelves(request):
    """List shelves."""
    return []


@SHELVES.put(
    "/{id}",
    body=Body(
        None,
        (Field("id", UUID), Field("options", nullable(OBJECT)), Field("specs", mapping(TEXT))),
        unknown="reject",
    ),
)
def change(request, id, **values):
    """Change a shelf."""


@LAB.get(answer=Many("lab", View((Field("id", UUID),))))
def lab(request):
    """List experiments."""
    return []


RESOURCES = [TOYS, EXTRA, SHELVES, LAB, versions.versions, extensions.extensions]


def make_runtime(**overrides):
    conf = cfg.ConfigOpts()
    api.register(conf)
    osapi.register(conf)
    common.register(conf)
    conf([], default_config_files=[])
    conf.set_override("auth_strategy", "noauth")
    conf.set_override("osapi_share_listen", "127.0.0.1")
    conf.set_override("response_validation", "error", "api")
    for name, value in overrides.items():
        conf.set_override(name, value)
    return SimpleNamespace(conf=conf, toys={}, asked=None)


class Client:
    """Asks an application as a client of the wire would."""

    def __init__(self, runtime, application=None, token="u1:a1"):
        self.runtime, self.token = runtime, token
        self.application = application or wsgi.build(runtime, RESOURCES)

    def __call__(self, method, path, body=None, version=None, token=None, **headers):
        request = webob.Request.blank(path, method=method)
        request.headers["X-Auth-Token"] = token or self.token
        request.headers["Accept"] = "application/json"
        if version:
            request.headers["X-OpenStack-Manila-API-Version"] = version
        for name, value in headers.items():
            request.headers[name.replace("_", "-")] = value
        if body is not None:
            request.content_type = "application/json"
            if isinstance(body, bytes):
                request.body = body
            else:
                request.json_body = body
        return request.get_response(self.application)
