"""Policy rules as declarations: who may do what, one line each.

A rule stands beside the operation that it guards (``CREATE = Rule("share:create", MEMBER, "Create
a share.")``).  The paths that a generated policy file shows are derived from the operations.
"""

from __future__ import annotations

from dataclasses import dataclass

ADMIN = "rule:context_is_admin"
MEMBER = "(rule:context_is_admin) or (rule:project-member)"
READER = "(rule:context_is_admin) or (rule:project-reader)"
ADMIN_OR_SERVICE = "rule:admin_or_service_api"
MEMBER_OR_SERVICE = "(rule:admin_or_service_api) or (rule:project-member)"
READER_OR_SERVICE = "(rule:admin_or_service_api) or (rule:project-reader)"
OWNER_USER_OR_SERVICE = "(rule:owner-user or rule:admin_or_service_api)"

PROJECT = ("project",)

# What a rule said before the personas, where the rule itself does not say otherwise.
_OLD = {
    ADMIN: "rule:admin_api",
    MEMBER: "rule:default",
    READER: "rule:default",
    ADMIN_OR_SERVICE: "rule:admin_api",
    MEMBER_OR_SERVICE: "rule:default",
    READER_OR_SERVICE: "rule:default",
    OWNER_USER_OR_SERVICE: "rule:admin_or_owner_user",
}
_BY_PERSONA = "(by persona)"


@dataclass(frozen=True, slots=True)
class Rule:
    """A named check.

    *old* is the check that deployments without the new defaults still allow beside it: by default
    the usual one of the persona, None where there never was another.
    """

    name: str
    check: str
    about: str
    old: str | None = _BY_PERSONA
    old_since: str = "W"
    scope: tuple[str, ...] | None = PROJECT
    old_name: str | None = None

    @property
    def deprecated_check(self) -> str | None:
        return _OLD.get(self.check) if self.old == _BY_PERSONA else self.old


def _base(
    name: str,
    check: str,
    about: str,
    old: str | None = None,
    scope: tuple[str, ...] | None = PROJECT,
) -> Rule:
    return Rule(name, check, about, old, scope=scope)


BASE = (
    _base(
        "project-admin",
        "role:admin and project_id:%(project_id)s",
        "An administrator within the project that owns the object.",
    ),
    _base(
        "project-member",
        "role:member and project_id:%(project_id)s",
        "A member of the project that owns the object.",
    ),
    _base(
        "project-reader",
        "role:reader and project_id:%(project_id)s",
        "Anybody who may look at what the project owns.",
    ),
    _base(
        "owner-user",
        "user_id:%(user_id)s and project_id:%(project_id)s",
        "The user who made the object, in its project.",
    ),
    _base(
        "admin_or_service_api",
        "role:admin or role:service",
        "An administrator, or another service of the cloud.",
    ),
    _base(
        "context_is_admin",
        "role:admin",
        "An administrator of the whole cloud.",
        old="role:admin",
    ),
    _base(
        "context_is_host_admin",
        "role:admin and project_id:%(project_id)s",
        "Who is shown the hosts and share servers that shares live on.",
    ),
    _base(
        "admin_or_owner",
        "is_admin:True or project_id:%(project_id)s",
        "Older deployments: an administrator, or anybody in the project.",
        scope=None,
    ),
    _base(
        "admin_or_owner_user",
        "is_admin:True or project_id:%(project_id)s and user_id:%(user_id)s",
        "Older deployments: an administrator, or the user who made the object.",
        scope=None,
    ),
    _base(
        "default",
        "rule:admin_or_owner",
        "Older deployments: what holds where no rule is written.",
        scope=None,
    ),
    _base("admin_api", "is_admin:True", "Older deployments: an administrator.", scope=None),
)

HOST_ADMIN = "context_is_host_admin"
