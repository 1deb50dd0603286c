"""``POST /shares/{id}/action``: what is done to a share."""

from __future__ import annotations

from typing import Any

from fileshare import errors
from fileshare.api.fields import ACTION, Body, Field
from fileshare.api.microversions import span
from fileshare.api.request import Request
from fileshare.api.resources.shares import shares
from fileshare.api.rules import ADMIN, MEMBER, Rule
from fileshare.api.shapes import BOOLEAN, TEXT_OR_NULL, choice, integer
from fileshare.domain.statuses import SHARE_STATUSES, TaskState
from fileshare.operations import shares as operations

FORCE_DELETE = Rule("share:force_delete", ADMIN, "Delete a share whatever its status is.")
RESET_STATUS = Rule("share:reset_status", ADMIN, "Set the status of a share.")
RESET_TASK_STATE = Rule("share:reset_task_state", ADMIN, "Set what a share says of its migration.")
EXTEND = Rule("share:extend", MEMBER, "Make a share larger.")
FORCE_EXTEND = Rule(
    "share:force_extend", ADMIN, "Make a share larger without asking the scheduler.", old=None
)
BEYOND_TYPE = Rule(
    "share:extend_beyond_max_share_size_spec",
    ADMIN,
    "Make a share larger than its type allows.",
    old=None,
)
SHRINK = Rule("share:shrink", MEMBER, "Make a share smaller.")
SOFT_DELETE = Rule("share:soft_delete", MEMBER, "Put a share into the recycle bin.", old=None)
RESTORE = Rule("share:restore", MEMBER, "Take a share out of the recycle bin.", old=None)

# What keeps a share from the bin, or in it, is 403 on the wire.
_OF_THE_BIN = {errors.WrongStatus: 403, errors.Busy: 403}


@shares.action(
    "reset_status",
    renamed="2.7",
    policy=(RESET_STATUS, "share:get"),
    body=Body(
        ACTION,
        (
            Field("status", choice(*sorted(SHARE_STATUSES)), required=True),
            Field("os-status", TEXT_OR_NULL),
        ),
        unknown="ignore",
    ),
)
def reset_status(request: Request, id: str, status: str, **_: Any) -> None:
    """Set the status of a share; what works on it is stopped."""
    operations.reset_status(request.runtime, request.ctx, id, status)


@shares.action(
    "reset_task_state",
    since="2.22",
    experimental=(span("2.22", "2.95"),),
    policy=(RESET_TASK_STATE, RESET_STATUS, "share:get"),
    body=Body(
        ACTION,
        (
            Field("task_state", choice(*TaskState.RESETTABLE, None), required=True),
            Field("os-task_state", TEXT_OR_NULL),
        ),
    ),
)
def reset_task_state(request: Request, id: str, task_state: str | None, **_: Any) -> None:
    """Set what a share says of its migration."""
    request.authorize(RESET_STATUS)
    operations.reset_task_state(request.runtime, request.ctx, id, task_state)


@shares.action(
    "force_delete",
    renamed="2.7",
    policy=(FORCE_DELETE, "share:delete", "share:get"),
    body=Body(ACTION, (), anything=True),
    faults={errors.Locked: 400},
)
def force_delete(request: Request, id: str) -> None:
    """Delete a share in any status, whatever its back end says."""
    operations.force_delete(request.runtime, request.ctx, id)


@shares.action(
    "soft_delete",
    since="2.69",
    policy=(SOFT_DELETE, "share:get"),
    body=Body(ACTION, (), anything=True),
    faults=_OF_THE_BIN,
)
def soft_delete(request: Request, id: str) -> None:
    """Put a share into the recycle bin."""
    operations.soft_delete(request.runtime, request.ctx, id)


@shares.action(
    "restore",
    since="2.69",
    policy=(RESTORE, "share:get"),
    body=Body(ACTION, (), anything=True),
    idle=200,
    faults=_OF_THE_BIN,
)
def restore(request: Request, id: str) -> None:
    """Take a share out of the recycle bin."""
    if not operations.restore(request.runtime, request.ctx, id):
        request.status = request.operation.idle or request.status


@shares.action(
    "extend",
    renamed="2.7",
    policy=(EXTEND, FORCE_EXTEND, BEYOND_TYPE, "share:update", "share:get"),
    body=Body(
        ACTION,
        (
            Field("new_size", integer(0), required=True, about="GiB."),
            Field("force", BOOLEAN, span=span("2.64"), policy=FORCE_EXTEND, default=False),
        ),
        unknown="ignore",
    ),
    faults={errors.WrongStatus: 400},
)
def extend(request: Request, id: str, new_size: int, force: bool = False) -> None:
    """Make a share larger."""
    beyond = request.allowed(BEYOND_TYPE)
    operations.extend(request.runtime, request.ctx, id, new_size, force=force, beyond_type=beyond)


@shares.action(
    "shrink",
    renamed="2.7",
    policy=(SHRINK, "share:update", "share:get"),
    body=Body(
        ACTION,
        (Field("new_size", integer(0), required=True, about="GiB."),),
        unknown="ignore",
    ),
    faults={errors.WrongStatus: 400},
)
def shrink(request: Request, id: str, new_size: int) -> None:
    """Make a share smaller."""
    operations.shrink(request.runtime, request.ctx, id, new_size)
