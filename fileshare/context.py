"""The request context: who asks, for which project, under which request id."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any, Final

from oslo_context import context as oslo

CREDENTIALS: Final = (
    "user_id",
    "project_id",
    "roles",
    "is_admin",
    "domain_id",
    "user_domain_id",
    "project_domain_id",
    "system_scope",
)
"""All of a context that a policy check can look at."""


def new_request_id() -> str:
    return f"req-{uuid.uuid4()}"


@dataclasses.dataclass(frozen=True, slots=True)
class Context:
    """What a request, promised work or a message carries about its caller.

    All fields travel, and nothing else does: a token is no part of it.  ``is_admin`` is what the
    policy ``context_is_admin`` said; it is worked out once, at the edge.
    """

    request_id: str
    user_id: str | None = None
    project_id: str | None = None
    roles: tuple[str, ...] = ()
    is_admin: bool = False
    domain_id: str | None = None
    user_domain_id: str | None = None
    project_domain_id: str | None = None
    system_scope: str | None = None
    global_request_id: str | None = None
    quota_class: str | None = None

    def credentials(self) -> dict[str, Any]:
        """What oslo.policy checks see."""
        found = {name: getattr(self, name) for name in CREDENTIALS}
        return {**found, "roles": list(self.roles)}

    def redacted_copy(self) -> Context:
        """What oslo.messaging sends with a notification: all of it, as it holds no secret."""
        return self

    def dump(self) -> dict[str, Any]:
        """For a row or a message: the fields that say something."""
        values = ((field, getattr(self, field.name)) for field in dataclasses.fields(self))
        return {field.name: value for field, value in values if value != field.default}

    @classmethod
    def load(cls, data: dict[str, Any]) -> Context:
        """From what was dumped; fields that this release does not know are passed over."""
        known = {field.name for field in dataclasses.fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["roles"] = tuple(values.get("roles", ()))
        return cls(**values)


def service_context() -> Context:
    """The context of work that a daemon starts by itself."""
    return Context(request_id=new_request_id(), is_admin=True)


class _LogContext(oslo.RequestContext):  # type: ignore[misc]
    """The form in which oslo.log takes a context, with the promised work that is in hand."""

    def __init__(self, intent_id: str | None, **values: Any) -> None:
        self.intent_id = intent_id
        super().__init__(overwrite=True, **values)

    def to_dict(self) -> dict[str, Any]:
        work = f"[intent {self.intent_id} of {self.resource_uuid}] " if self.intent_id else ""
        return {**super().to_dict(), "intent_id": self.intent_id, "resource": work}


def tell_the_log(
    ctx: Context, *, intent_id: str | None = None, resource_id: str | None = None
) -> None:
    """Let each record that this thread logs carry who asked, and which work it is about."""
    credentials = ctx.credentials()
    _LogContext(
        intent_id,
        resource_uuid=resource_id,
        request_id=ctx.request_id,
        global_request_id=ctx.global_request_id,
        **credentials,
    )


def leave_the_log() -> None:
    """Let what this thread logs from now on be nobody's."""
    oslo._request_store.context = None  # noqa: SLF001 - there is no public way
