"""From what a caller has proved to a request context; common to all ways of proving it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from fileshare.context import Context, new_request_id, tell_the_log

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
WSGI = Callable[[Environ, StartResponse], Iterable[bytes]]
IsAdmin = Callable[[Context], bool]

CONTEXT = "fileshare.context"
OPERATION = "fileshare.operation"  # what is served, for the log
_IMPLIED = {"admin": ("member", "reader"), "member": ("reader",)}


def with_implied(roles: Iterable[str]) -> tuple[str, ...]:
    """The roles, with those that they imply: an administrator is a member, a member a reader."""
    found: dict[str, None] = {}
    for role in roles:
        found[role] = None
        found |= dict.fromkeys(_IMPLIED.get(role, ()))
    return tuple(found)


def install(environ: Environ, is_admin: IsAdmin, **facts: Any) -> Context:
    """Put the context of a caller into the environment; asks once whether it is an admin."""
    ctx = Context(
        request_id=environ.get("openstack.request_id") or new_request_id(),
        global_request_id=environ.get("openstack.global_request_id"),
        **facts,
    )
    ctx = dataclasses.replace(ctx, is_admin=is_admin(ctx))
    environ[CONTEXT] = ctx
    tell_the_log(ctx)
    return ctx
