"""``/services``: the daemons, their state, and taking them out of work."""

from __future__ import annotations

import logging
from typing import Any

from fileshare import errors
from fileshare.api.fields import Body, Field, Query, View
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.rules import ADMIN, Rule
from fileshare.api.shapes import (
    BOOLEAN,
    INTEGER,
    MOMENT_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    Shape,
    boolean,
    choice,
    nullable,
)
from fileshare.domain.statuses import ServiceState, ServiceStatus
from fileshare.operations import services as operations

LOG = logging.getLogger(__name__)

INDEX = Rule("service:index", ADMIN, "List the services.")
UPDATE = Rule("service:update", ADMIN, "Enable or disable a service.")
ENSURE = Rule(
    "service:ensure_shares",
    ADMIN,
    "Let a back end bring back the exports and access rules of its shares.",
    old_since="2024.2/Dalmatian",
)

STATUS = choice(ServiceStatus.ENABLED, ServiceStatus.DISABLED)
_LONGEST_REASON = 255


def _trimmed(text: str) -> str:
    text = text.strip()
    if not 1 <= len(text) <= _LONGEST_REASON:
        raise ValueError(text)
    return text


REASON = Shape({"type": "string", "minLength": 1}, _trimmed)


def _binary(row: Any, request: Request) -> str:
    """The name on the wire, which clients and exporters look for: ``manila-share``."""
    return f"{request.runtime.conf.api.service_binary_prefix}-{row.binary}"


def _own_name(request: Request, name: str) -> str | None:
    """The name without the prefix of the wire; None where it has none."""
    prefix = f"{request.runtime.conf.api.service_binary_prefix}-"
    return name.removeprefix(prefix) if name.startswith(prefix) else None


def _state(row: Any, _request: Request) -> str:
    return ServiceState.UP if row.is_up else ServiceState.DOWN


SERVICE = View(
    (
        Field("id", INTEGER),
        Field("binary", TEXT, source=_binary),
        Field("host", TEXT),
        Field("zone", TEXT_OR_NULL),
        Field("status", STATUS),
        Field("state", TEXT, source=_state, about="up, or down where no heartbeat came in time."),
        Field("updated_at", MOMENT_OR_NULL),
        Field("disabled_reason", TEXT_OR_NULL, span=span("2.83")),
        Field("ensuring", BOOLEAN, span=span("2.86")),
    )
)
CHANGED = View(
    (
        Field("host", TEXT),
        Field("binary", TEXT, source=_binary),
        Field("status", STATUS),
        Field("disabled_reason", TEXT_OR_NULL, span=span("2.83")),
        Field("ensuring", nullable(BOOLEAN), span=span("2.86")),
    )
)

LIST = Query(
    (
        Field("host", TEXT),
        Field("binary", TEXT),
        Field("zone", TEXT, about="Name or id of an availability zone."),
        Field("state", TEXT),
        Field("status", TEXT),
        Field("topic", TEXT),
        Field("ensuring", TEXT, span=span("2.93")),
    )
)
CHANGE = Body(
    None,
    (
        Field("host", TEXT, required=True),
        Field("binary", TEXT, required=True),
        Field("disabled_reason", REASON, span=span("2.83"), before="reject"),
    ),
)

WHERE = Body("ensure_shares", (Field("host", TEXT, required=True),), unknown="reject", bare=True)

services = Resource("services", "/services", legacy="/os-services")


def _filters(request: Request) -> dict[str, Any] | None:
    """What the list is filtered by; None where nothing can be equal to it."""
    filters = dict(request.query)
    for name in ("binary", "topic"):
        if name in filters:
            filters[name] = _own_name(request, filters[name])
    if "ensuring" in filters:
        try:
            filters["ensuring"] = boolean(filters["ensuring"])
        except ValueError:
            LOG.warning("No service can be ensuring=%s; the list is empty", filters["ensuring"])
            return None
    return None if None in filters.values() else filters


@services.get(policy=INDEX, query=LIST, answer=Many("services", SERVICE))
def index(request: Request) -> Any:
    """List the services with their state, by the database's clock.

    A value that no service can have empties the list.
    """
    filters = _filters(request)
    return [] if filters is None else operations.find(request.runtime, request.ctx, filters)


@services.put("/{id}", policy=UPDATE, body=CHANGE, answer=One(None, CHANGED))
def update(
    request: Request, id: str, host: str, binary: str, disabled_reason: str | None = None
) -> Any:
    """Enable or disable a service; the path says which (``enable``, ``disable``).

    Nothing new is placed on a disabled back end; what it holds stays served.
    """
    if id not in ("enable", "disable"):
        raise errors.NotFound(resource="Service action", id=id)
    try:
        return operations.set_enabled(
            request.runtime,
            request.ctx,
            _own_name(request, binary),
            host,
            enabled=id == "enable",
            reason=disabled_reason if id == "disable" else None,
        )
    except errors.NotFound as error:
        # Told by the name that the caller knows it by.
        raise errors.NotFound(resource="Service", id=f"{binary} on {host}") from error


@services.post("/ensure-shares", since="2.86", policy=ENSURE, body=WHERE, status=202)
def ensure_shares(request: Request, host: str) -> None:
    """Bring back what a back end may have lost of its shares: exports, access rules.

    The back end serves meanwhile.  Its service shows ``ensuring`` until all shares are done.
    """
    operations.ensure_shares(request.runtime, request.ctx, host)
