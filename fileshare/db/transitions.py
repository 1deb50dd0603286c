"""Status changes: the only place that writes a status column.

Swap first, read after, decide last: what a caller decides on is read after the swap, in the
same transaction, and a refusal rolls the swap back.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import chores, locks
from fileshare.db.clock import now
from fileshare.db.intents import LostClaim
from fileshare.db.models import Intent, Share, ShareInstance
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session, assignments, count, parameters, swap, written
from fileshare.domain import aggregate
from fileshare.domain.lifecycle import ACCESS, BACKEND, METADATA, RECONCILIATION, SHARE, Verb
from fileshare.domain.statuses import TRANSITIONAL, RulesStatus, Status

FROM_THE_BIN = (SHARE["delete"], SHARE["force_delete"])
"""What may be done to a share in the recycle bin."""

_SHARES = cast("sa.Table", Share.__table__)
_INSTANCES = cast("sa.Table", ShareInstance.__table__)


@dataclass(frozen=True, slots=True)
class Held:
    """A share that an intent holds, and its instances."""

    share: Share
    instances: tuple[ShareInstance, ...]

    @property
    def instance(self) -> ShareInstance:
        return self.instances[0]


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
    anywhere = sa.true() if verb in FROM_THE_BIN else Share.is_soft_deleted.is_(False)
    swapped = swap(
        session,
        sa.update(Share)
        .where(
            Share.id == share_id,
            Share.deleted_at.is_(None),
            Share.status.in_(verb.sources),
            scope.clause(Share.project_id),
            free,
            anywhere,
        )
        .values(status=verb.during, intent_id=intent_id, updated_at=now()),
    )
    if not swapped:
        raise _explain(session, verb, share_id, scope)
    if verb.removes:
        locks.refuse_removal(session, share_id)
    count(
        session,
        sa.update(ShareInstance)
        .where(ShareInstance.share_id == share_id, ShareInstance.deleted_at.is_(None))
        .values(status=verb.during, updated_at=now()),
    )
    return read(session, share_id)


def read(session: Session, share_id: str) -> Held:
    rows = session.execute(
        sa.select(Share, ShareInstance)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .where(Share.id == share_id, ShareInstance.deleted_at.is_(None))
        .order_by(ShareInstance.created_at, ShareInstance.id)
        .execution_options(populate_existing=True)
    ).all()
    if not rows:
        raise errors.NotFound(resource="Share", id=share_id)
    return Held(rows[0][0], tuple(instance for _, instance in rows))


def own(session: Session, share_id: str, scope: Scope, *, rule: str) -> Share:
    """A share of *scope*; raises NotFound, and Forbidden for a public one of somebody else."""
    share = session.get(Share, share_id, populate_existing=True)
    mine = share is not None and scope.project_id in {None, share.project_id}
    if share is None or share.deleted_at is not None or not (mine or share.is_public):
        raise errors.NotFound(resource="Share", id=share_id)
    if not mine:
        raise errors.Forbidden(rule=rule)
    return share


def wrong_status(share: Share, sources: Iterable[str], verb: str) -> errors.WrongStatus:
    return errors.WrongStatus(
        resource="Share",
        id=share.id,
        status=share.status,
        sources=", ".join(sorted(sources)),
        verb=verb,
    )


def in_the_bin(share_id: str) -> errors.Refused:
    return errors.Refused(reason=f"Share {share_id} has been soft deleted.")


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
        return _settle_access(session, intent, status, settlement)
    if intent.resource_type == BACKEND.resource:
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


def _settle_access(session: Session, intent: Intent, status: str, settlement: Settlement) -> bool:
    hold(session, intent.share_id or "")
    version = settlement.access_version
    same = sa.true() if version is None else ShareInstance.access_version == version
    instance = ShareInstance.id == intent.resource_id
    settled = swap(
        session,
        sa.update(ShareInstance)
        .where(instance, ShareInstance.access_intent_id == intent.id, same)
        .values(access_rules_status=status, access_intent_id=None),
    )
    if settled:
        show_rules_status(session, intent.share_id or "")
    return settled


def change_rules(
    session: Session, share_id: str, intent_id: str, scope: Scope = ALL, *, allow_error: bool
) -> Held:
    """Announce a change of the share's access rules on each of its instances.

    This touches the parent rows that rules hang on: no rule is made on a share that is being
    deleted.  Afterwards ``access_intent_id`` of an instance is *intent_id*, or that of the
    intent that is open already and will see the change.  Raises NotFound, Forbidden for a public
    share of another project, Refused in the recycle bin, and Busy.
    """
    # The share's row is held before its instances', and shows what all of them will.
    syncing = sa.update(Share).where(Share.id == share_id, Share.deleted_at.is_(None))
    count(session, syncing.values(access_rules_status=RulesStatus.SYNCING))
    refused = TRANSITIONAL if allow_error else TRANSITIONAL | {Status.ERROR}
    touched = count(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.share_id == share_id,
            ShareInstance.deleted_at.is_(None),
            ShareInstance.host.is_not(None),
            ShareInstance.status.not_in(refused),
        )
        .values(
            access_version=ShareInstance.access_version + 1,
            access_rules_status=RulesStatus.SYNCING,
            access_intent_id=sa.func.coalesce(ShareInstance.access_intent_id, intent_id),
        ),
    )
    held = read(session, share_id)
    _check_mine(held.share, scope)
    if held.share.is_soft_deleted:
        raise errors.Refused(reason=f"Share {share_id} has been soft deleted.")
    if touched != len(held.instances):
        raise errors.Busy(
            resource="Share",
            id=share_id,
            reason="its access rules cannot be changed while an instance is "
            + held.instance.status,
        )
    return held


def hold(session: Session, share_id: str) -> None:
    """Lock the share's row before its instances', as every verb does: two never cross."""
    row = sa.select(Share.id).where(Share.id == share_id)
    session.execute(row.with_for_update(key_share=True))


def _check_mine(share: Share, scope: Scope) -> None:
    if scope.project_id in {None, share.project_id}:
        return
    if share.is_public:
        raise errors.Forbidden(rule="share:update")
    raise errors.NotFound(resource="Share", id=share.id)


def show_rules_status(session: Session, share_id: str) -> None:
    """Bring the share's aggregate over its instances' rules up to date."""
    worst = (
        sa.select(
            sa.case(
                (_instances_with(share_id, RulesStatus.ERROR), RulesStatus.ERROR),
                (_instances_with(share_id, RulesStatus.SYNCING), RulesStatus.SYNCING),
                else_=RulesStatus.ACTIVE,
            )
        )
    ).scalar_subquery()
    count(
        session,
        sa.update(Share).where(Share.id == share_id).values(access_rules_status=worst),
    )


def _instances_with(share_id: str, status: str) -> sa.ColumnElement[bool]:
    return sa.exists(
        sa.select(ShareInstance.id).where(
            ShareInstance.share_id == share_id,
            ShareInstance.deleted_at.is_(None),
            ShareInstance.access_rules_status == status,
        )
    )


def _set_by_force(
    session: Session, share_id: str, scope: Scope, rule: str, values: Mapping[str, Any]
) -> None:
    """Write to a share whatever it is doing; raises NotFound, and Refused in the recycle bin."""
    swapped = swap(
        session,
        sa.update(Share)
        .where(
            Share.id == share_id,
            Share.deleted_at.is_(None),
            Share.is_soft_deleted.is_(False),
            scope.clause(Share.project_id),
        )
        .values(**values, updated_at=now()),
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


def forgive_deletion(session: Session, share_id: str) -> bool:
    """Let a share whose deletion failed be deleted again; False where none had failed."""
    failed = swap(
        session,
        sa.update(Share)
        .where(
            Share.id == share_id,
            Share.status == Status.ERROR_DELETING,
            Share.deleted_at.is_(None),
            Share.intent_id.is_(None),
        )
        .values(status=Status.ERROR, updated_at=now()),
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
    free = sa.update(Share).where(Share.id == share_id, Share.deleted_at.is_(None))
    if not swap(session, free.values(intent_id=None, updated_at=now())):
        raise errors.NotFound(resource="Share instance", id=instance_id)
    count(
        session,
        sa.update(ShareInstance)
        .where(ShareInstance.id == instance_id, ShareInstance.deleted_at.is_(None))
        .values(status=status, updated_at=now()),
    )
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


def _is_plain(column: sa.Column[Any]) -> bool:
    return column.default is not None and column.default.is_scalar


def birth(
    session: Session, share: Mapping[str, Any], instance: Mapping[str, Any], intent_id: str
) -> Mapping[str, Any]:
    """Insert a share that is being created, held by its intent; returns its columns."""
    status = SHARE["create"].during
    columns = {**share, "status": status, "intent_id": intent_id}
    try:
        created_at = _insert_share(session, columns)
    except db_exception.DBReferenceError:
        # Its foreign key keeps a type from being deleted once the share is there.
        raise errors.NotFound(resource="Share type", id=share["share_type_id"]) from None
    session.connection().execute(_NEW_INSTANCE, {**instance, "status": status})
    return {**_UNSET, **columns, "created_at": created_at}


# What the columns of a share hold where nothing is said.
_UNSET: Mapping[str, Any] = {
    column.name: getattr(column.default, "arg", None) if _is_plain(column) else None
    for column in _SHARES.c
}
_NEW_SHARE = sa.insert(_SHARES)
_NEW_SHARE_RETURNING = _NEW_SHARE.returning(_SHARES.c.created_at)
_NEW_INSTANCE = sa.insert(_INSTANCES)
_BORN_AT = sa.select(_SHARES.c.created_at).where(_SHARES.c.id == sa.bindparam("share"))


def _insert_share(session: Session, columns: Mapping[str, Any]) -> Any:
    connection = session.connection()
    if connection.dialect.insert_returning:
        return connection.execute(_NEW_SHARE_RETURNING, columns).scalar_one()
    connection.execute(_NEW_SHARE, columns)
    return connection.execute(_BORN_AT, {"share": columns["id"]}).scalar_one()


def vanish(session: Session, share_id: str) -> None:
    """Delete a share that no back end holds; the caller has begun its deletion."""
    gone = {"status": Status.DELETED, "deleted_at": now(), "updated_at": now()}
    count(session, sa.update(Share).where(Share.id == share_id).values(**gone, intent_id=None))
    _write_instances(session, share_id, gone)


def mark_charged(session: Session, share_id: str) -> None:
    """Note that the quota of the share is booked (again)."""
    count(session, sa.update(Share).where(Share.id == share_id).values(is_charged=True))
