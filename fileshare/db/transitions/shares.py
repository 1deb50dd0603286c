"""Statuses of shares and of their instances."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import sqlalchemy as sa

from fileshare import errors
from fileshare.db import chores, guards, locks
from fileshare.db.clock import now
from fileshare.db.intents import LostClaim
from fileshare.db.models import Intent, Share, ShareInstance
from fileshare.db.query import Scope
from fileshare.db.session import Session, assignments, count, parameters, swap, written
from fileshare.db.transitions import ensuring, rule_states
from fileshare.db.transitions.held import Held, in_the_bin, own, read, wrong_status
from fileshare.domain import aggregate
from fileshare.domain.lifecycle import ACCESS, BACKEND, METADATA, RECONCILIATION, SHARE, Verb
from fileshare.domain.statuses import Status

FROM_THE_BIN = tuple(verb for verb in SHARE if verb.removes)
"""What may be done to a share in the recycle bin."""

_SHARES = cast("sa.Table", Share.__table__)
_INSTANCES = cast("sa.Table", ShareInstance.__table__)


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is written with a settled status.

    *share* and *instance* are columns; *access_version* is the version of the rules that the
    worker applied, and is what must still be there for the rules to be settled.
    """

    share: Mapping[str, Any] = field(default_factory=dict)
    instance: Mapping[str, Any] = field(default_factory=dict)
    access_version: int | None = None


def begin(session: Session, verb: Verb, share_id: str, intent_id: str, scope: Scope) -> Held:
    """Take the share for *verb*, then read it.

    Raises NotFound, WrongStatus (also where another intent holds the share), Refused for one in
    the recycle bin, Forbidden for a public share of another project, and Locked where somebody
    keeps it from being removed.
    """
    free = sa.true() if verb.takes_over else Share.intent_id.is_(None)
    here = guards.share if verb in FROM_THE_BIN else guards.share_in_use
    swapped = swap(
        session,
        here(share_id, Share.status.in_(verb.sources), free, scope=scope).values(
            status=verb.during, intent_id=intent_id, updated_at=now()
        ),
    )
    if not swapped:
        raise _explain(session, verb, share_id, scope)
    if verb.removes:
        locks.refuse_removal(session, share_id)
    _write_instances(session, share_id, {"status": verb.during, "updated_at": now()})
    return read(session, share_id)


def _explain(session: Session, verb: Verb, share_id: str, scope: Scope) -> errors.FileshareError:
    share = own(session, share_id, scope, rule=verb.event.replace(".", ":"))
    if share.is_soft_deleted and verb not in FROM_THE_BIN:
        return in_the_bin(share_id)
    return wrong_status(share, verb.sources, verb.name)


def note(session: Session, intent: Intent, settlement: Settlement) -> None:
    """Write to the share that *intent* holds, and to no other, without settling it."""
    if settlement.share:
        _write_share(session, intent, settlement.share)
    if settlement.instance:
        _write_instances(session, intent.resource_id, settlement.instance)


def settle(session: Session, intent: Intent, status: str, settlement: Settlement) -> bool:
    """End the verb of *intent* in *status*.

    False where the resource has changed meanwhile and the work must be done again.  Raises
    LostClaim where the intent does not hold the resource any more.
    """
    if intent.resource_type == ACCESS.resource:
        return rule_states.settle(session, intent, status, settlement.access_version)
    if intent.resource_type == BACKEND.resource:
        ensuring.release(session, intent)
        chores.end_ensuring(session, intent)
        return True
    if intent.resource_type in {RECONCILIATION.resource, METADATA.resource}:
        return True
    gone = {"deleted_at": now()} if status == Status.DELETED else {}
    share = {"status": status, "intent_id": None, "updated_at": now(), **settlement.share, **gone}
    _write_share(session, intent, share)
    settled = {"settled_at": now()} if status == Status.AVAILABLE else {}
    instance = {
        "status": status,
        "updated_at": now(),
        **settled,
        **settlement.instance,
        **gone,
    }
    _write_instances(session, intent.resource_id, instance)
    return True


@functools.lru_cache(maxsize=128)
def _held_share(shape: tuple[tuple[str, bool], ...]) -> sa.Update:
    held = (_SHARES.c.id == sa.bindparam("share"), _SHARES.c.intent_id == sa.bindparam("intent"))
    return sa.update(_SHARES).where(*held).values(**assignments(shape))


@functools.lru_cache(maxsize=128)
def _live_instances(shape: tuple[tuple[str, bool], ...]) -> sa.Update:
    live = (
        _INSTANCES.c.share_id == sa.bindparam("share"),
        _INSTANCES.c.deleted_at.is_(None),
    )
    return sa.update(_INSTANCES).where(*live).values(**assignments(shape))


def _write_share(session: Session, intent: Intent, values: Mapping[str, Any]) -> None:
    given = parameters(values, share=intent.resource_id, intent=intent.id)
    if not swap(session, _held_share(written(values)), given):
        raise LostClaim(intent.id)


def _write_instances(session: Session, share_id: str, values: Mapping[str, Any]) -> None:
    count(session, _live_instances(written(values)), parameters(values, share=share_id))


def _set_by_force(
    session: Session, share_id: str, scope: Scope, rule: str, values: Mapping[str, Any]
) -> None:
    """Write to a share whatever it is doing; raises NotFound, and Refused in the recycle bin."""
    swapped = swap(
        session,
        guards.share_in_use(share_id, scope=scope).values(**values, updated_at=now()),
    )
    if not swapped:
        own(session, share_id, scope, rule=rule)
        raise in_the_bin(share_id)


def reset(session: Session, share_id: str, status: str, scope: Scope) -> Held:
    """Set the share to *status* because an administrator says so; the caller supersedes intents.

    Raises NotFound, and Refused for a share in the recycle bin.
    """
    _set_by_force(
        session, share_id, scope, "share:reset_status", {"status": status, "intent_id": None}
    )
    _write_instances(session, share_id, {"status": status, "updated_at": now()})
    return read(session, share_id)


def forgive_deletion(
    session: Session, share_id: str, failed_in: str = Status.ERROR_DELETING
) -> bool:
    """Let a share whose deletion failed be deleted again; False where none had failed."""
    failed = swap(
        session,
        guards.share(share_id, Share.status == failed_in, Share.intent_id.is_(None)).values(
            status=Status.ERROR, updated_at=now()
        ),
    )
    if failed:
        _write_instances(session, share_id, {"status": Status.ERROR, "updated_at": now()})
    return failed


def reset_instance(session: Session, instance_id: str, status: str) -> Held:
    """Set one instance to *status*, and the share to what its instances are then.

    The caller supersedes what works on the share.  Raises NotFound.
    """
    share_id = session.scalar(
        sa.select(ShareInstance.share_id).where(
            ShareInstance.id == instance_id, ShareInstance.deleted_at.is_(None)
        )
    )
    free = guards.share(str(share_id)).values(intent_id=None, updated_at=now())
    if not swap(session, free):
        raise errors.NotFound(resource="Share instance", id=instance_id)
    count(session, guards.instance(instance_id).values(status=status, updated_at=now()))
    shown = aggregate.leader(read(session, str(share_id)).instances).status
    count(session, sa.update(Share).where(Share.id == share_id).values(status=shown))
    return read(session, str(share_id))


def reset_task_state(
    session: Session, share_id: str, task_state: str | None, scope: Scope
) -> None:
    """Set what the share says of its migration, because an administrator says so.

    Raises NotFound, and Refused for a share in the recycle bin.
    """
    _set_by_force(session, share_id, scope, "share:reset_task_state", {"task_state": task_state})
