"""What a handler knows of the request it answers."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import webob

from fileshare import errors
from fileshare.api.microversions import Span, Version
from fileshare.api.policy import Enforcer
from fileshare.api.resource import Operation
from fileshare.api.rules import Rule
from fileshare.context import Context

KEY_HEADER = "Idempotency-Key"
LONGEST_KEY = 255
_VERSION_SEGMENT = re.compile(r"/v[\d.]+/?$")


class Request:
    """One request: who asks (``ctx``), at which version, for which operation, with what query.

    ``runtime`` is what operations get as their first argument.  A handler may set ``status``,
    where its answer has another one than the operation declares.
    """

    __slots__ = (
        "_allowed", "_base", "_prefixes", "ctx", "enforcer", "experimental", "http", "operation",
        "project_id", "query", "runtime", "status", "version",
    )  # fmt: skip

    def __init__(
        self,
        http: webob.Request,
        runtime: Any,
        enforcer: Enforcer,
        version: Version,
        operation: Operation,
        project_id: str | None,
    ) -> None:
        self.http, self.runtime, self.enforcer = http, runtime, enforcer
        self.version, self.operation, self.project_id = version, operation, project_id
        self.ctx: Context = http.environ["fileshare.context"]
        self.query: dict[str, Any] = {}
        self.status = operation.status
        self._allowed: dict[str, bool] = {}
        self._base: str | None = None
        self._prefixes: dict[str, tuple[str, str]] = {}

    @property
    def is_admin(self) -> bool:
        return self.ctx.is_admin

    def has(self, feature: Span) -> bool:
        """Whether the asked version has a behaviour of ``fileshare.api.feature``."""
        return self.version in feature

    def allowed(self, rule: Rule | str, target: object = None) -> bool:
        """Whether policy lets the caller do it, to *target* or to what the project owns."""
        if target is not None:
            return self.enforcer.allowed(rule, self.ctx, target)
        name = rule if isinstance(rule, str) else rule.name
        if name not in self._allowed:
            self._allowed[name] = self.enforcer.allowed(name, self.ctx)
        return self._allowed[name]

    def authorize(self, rule: Rule | str, target: object = None) -> None:
        """Raise Forbidden when policy does not let the caller do it."""
        if not self.allowed(rule, target):
            raise errors.Forbidden(rule=rule if isinstance(rule, str) else rule.name)

    def reveal(self, rule: Rule | str, row: Any, resource: str) -> Any:
        """The row, where policy lets the caller see it; raises NotFound as for an absent one."""
        if not self.allowed(rule, row):
            raise errors.NotFound(resource=resource, id=row.id)
        return row

    @property
    def key(self) -> str | None:
        """The Idempotency-Key that was sent; raises InvalidInput for one that is none."""
        key: str | None = self.http.headers.get(KEY_HEADER)
        if key is not None and not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
            reason = f"it has 1 to {LONGEST_KEY} printable characters"
            raise errors.InvalidInput(field=KEY_HEADER, reason=reason)
        return key

    @property
    def base(self) -> str:
        """The URL below which all paths of this version of the API lie, without the project id."""
        if self._base is None:
            url = self.http.application_url.rstrip("/")
            self._base = rebased(url, self.runtime.conf.osapi_share_base_URL)
        return self._base

    def links(self, collection: str, id: str) -> list[dict[str, str]]:
        """The links of an object to itself, with the version segment and without."""
        if collection not in self._prefixes:
            project = f"/{self.project_id}" if self.project_id else ""
            path = f"{project}/{collection}/"
            bare = _VERSION_SEGMENT.sub("", self.base)
            self._prefixes[collection] = (self.base + path, bare + path)
        own, bookmark = self._prefixes[collection]
        return [{"rel": "self", "href": own + id}, {"rel": "bookmark", "href": bookmark + id}]


def rebased(url: str, base: str | None) -> str:
    """The URL with scheme and host (and a path before) of *base*, where one is configured."""
    if not base:
        return url
    parts, public = urlsplit(url), urlsplit(base)
    path = public.path.rstrip("/") + parts.path
    return urlunsplit((public.scheme, public.netloc, path, parts.query, ""))
