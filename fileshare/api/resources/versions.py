"""The versions that are served: one major version, with microversions."""

from __future__ import annotations

import re
from typing import Any

import webob

from fileshare.api import encoding
from fileshare.api.fields import Field, View
from fileshare.api.microversions import MAX, MIN
from fileshare.api.request import Request, rebased
from fileshare.api.resource import Many, Resource
from fileshare.api.shapes import LINKS, TEXT, choice, listing, structure

versions = Resource("versions", "/", listed=False)

VERSION = View(
    (
        Field("id", TEXT),
        Field("status", choice("CURRENT")),
        Field("version", TEXT, about="The newest microversion."),
        Field("min_version", TEXT, about="The oldest microversion."),
        Field("updated", TEXT),
        Field("links", LINKS),
        Field("media-types", listing(structure(base=TEXT, type=TEXT))),
    ),
    mapping=True,
)
LIST = Many("versions", VERSION)


def _entries(url: str, base: str | None) -> list[dict[str, Any]]:
    root = re.sub(r"/v[\d.]+/?$", "", rebased(url.rstrip("/"), base))
    manual = {"rel": "describedby", "type": "text/html", "href": "http://docs.openstack.org/"}
    kind = "application/vnd.openstack.share+json;version=1"
    return [
        {
            "id": "v2.0",
            "status": "CURRENT",
            "version": str(MAX),
            "min_version": str(MIN),
            "updated": "2015-08-27T11:33:21Z",
            "links": [manual, {"rel": "self", "href": f"{root}/v2/"}],
            "media-types": [{"base": "application/json", "type": kind}],
        }
    ]


@versions.get("", id="all", status=300, answer=LIST)
def all_versions(request: Request) -> list[dict[str, Any]]:
    """The versions, for anybody who asks at the root of the service."""
    return _entries(request.http.application_url, request.runtime.conf.osapi_share_base_URL)


@versions.get("v2/", id="index", answer=LIST)
def index(request: Request) -> list[dict[str, Any]]:
    """The versions, asked for below one of them."""
    return _entries(request.http.application_url, request.runtime.conf.osapi_share_base_URL)


def choices(url: str, base: str | None) -> webob.Response:
    """The answer at the root of the service, which has no microversion and asks for no token."""
    answer = webob.Response(status=300, body=encoding.dump({"versions": _entries(url, base)}))
    answer.headers["Content-Type"] = "application/json"
    return answer
