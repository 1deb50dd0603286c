"""Resource locks: what may be locked against what, and whose locks a caller may touch."""

from __future__ import annotations

from typing import Final

from fileshare.context import Context
from fileshare.domain.statuses import Status

SHARE: Final = "share"
ACCESS_RULE: Final = "access_rule"
TYPES: Final = (SHARE, ACCESS_RULE)

DELETE: Final = "delete"
SHOW: Final = "show"
ACTIONS: Final = (DELETE, SHOW)
ACTIONS_OF: Final = {SHARE: (DELETE,), ACCESS_RULE: (DELETE, SHOW)}

SERVICE_ROLE: Final = "service"

UNLOCKABLE: Final = frozenset(
    {
        Status.DELETING,
        Status.DEFERRED_DELETING,
        Status.ERROR_DELETING,
        Status.ERROR_DEFERRED_DELETING,
        Status.UNMANAGE_STARTING,
        Status.MANAGE_ERROR_UNMANAGE_STARTING,
        Status.UNMANAGE_ERROR,
        Status.UNMANAGED,
        Status.DELETED,
    }
)
"""Statuses of a share that is on its way out: it is too late for a lock."""


class LockContext:
    """As what a caller placed a lock; each may touch what those before it placed."""

    USER: Final = "user"
    SERVICE: Final = "service"
    ADMIN: Final = "admin"


_RANKS = (LockContext.USER, LockContext.SERVICE, LockContext.ADMIN)


def is_service(ctx: Context) -> bool:
    return SERVICE_ROLE in ctx.roles


def context_of(ctx: Context) -> str:
    """As what the caller places a lock; a service keeps to its own, administrator or not."""
    if is_service(ctx):
        return LockContext.SERVICE
    return LockContext.ADMIN if ctx.is_admin else LockContext.USER


def may_touch(ctx: Context, lock_context: str) -> bool:
    """Whether the caller may change or lift a lock that was placed as *lock_context*."""
    rank = LockContext.ADMIN if ctx.is_admin else context_of(ctx)
    return _RANKS.index(lock_context) <= _RANKS.index(rank)
