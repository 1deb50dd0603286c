"""The request context: who asks, for which project, under which request id."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any


def new_request_id() -> str:
    return f"req-{uuid.uuid4()}"


@dataclasses.dataclass(frozen=True, slots=True)
class Context:
    """What a request or a message carries about its caller.

    ``is_admin`` is what the policy ``context_is_admin`` said; it is worked out once, at the edge.
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
        return {
            "user_id": self.user_id,
            "project_id": self.project_id,
            "roles": list(self.roles),
            "is_admin": self.is_admin,
            "domain_id": self.domain_id,
            "user_domain_id": self.user_domain_id,
            "project_domain_id": self.project_domain_id,
            "system_scope": self.system_scope,
        }

    def redacted_copy(self) -> Context:
        """What oslo.messaging sends with a notification: all of it, as it holds no secret."""
        return self

    def dump(self) -> dict[str, Any]:
        """For a message; holds no secret (tokens are not part of a context)."""
        return dataclasses.asdict(self)

    @classmethod
    def load(cls, data: dict[str, Any]) -> Context:
        known = {field.name for field in dataclasses.fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        values["roles"] = tuple(values.get("roles", ()))
        return cls(**values)


def service_context() -> Context:
    """The context of work that a daemon starts by itself."""
    return Context(request_id=new_request_id(), is_admin=True)
