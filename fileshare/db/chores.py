"""What a back end does for itself: ensuring its shares, and being compared with the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from fileshare import errors
from fileshare.db.clock import now
from fileshare.db.models import Intent, Service, Share, ShareInstance
from fileshare.db.services import is_up
from fileshare.db.session import Session, count, swap
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import BUSY, SERVED, TRANSITIONAL, RulesStatus, Status

BINARY = "share"

_ENSURE = SHARE["ensure"]


@dataclass(frozen=True, slots=True)
class BackendService:
    """The service of a back end: what its shares were last ensured for, and whether it is up."""

    id: int
    info_hash: str | None
    ensuring: bool
    is_up: bool


def service(session: Session, host: str, down_time: float) -> BackendService:
    """The service of the back end *host*; raises NotFound."""
    up = sa.case((is_up(down_time), sa.literal(1)), else_=sa.literal(0))
    row = session.execute(
        sa.select(Service.id, Service.info_hash, Service.ensuring, up).where(
            Service.binary == BINARY, Service.host == host
        )
    ).one_or_none()
    if row is None:
        raise errors.NotFound(resource="Service", id=f"{BINARY} on {host}")
    return BackendService(row[0], row[1], row[2], bool(row[3]))


def hold(session: Session, service_id: int) -> None:
    """Keep others from promising chores of the same back end until the transaction ends."""
    session.execute(sa.select(Service.id).where(Service.id == service_id).with_for_update())


def begin_ensuring(session: Session, service_id: int) -> None:
    """Show that the back end ensures its shares."""
    count(session, sa.update(Service).where(Service.id == service_id).values(ensuring=True))


def end_ensuring(session: Session, intent: Intent) -> None:
    """Show that it does so no more; shares that the intent still holds are as they were."""
    release(session, intent)
    count(
        session,
        sa.update(Service).where(Service.id == int(intent.resource_id)).values(ensuring=False),
    )


def release(session: Session, intent: Intent) -> None:
    """Let go of all shares that an intent holds to ensure them."""
    here = on(intent.destination.partition(".")[2])
    held = session.scalars(
        sa.select(Share.id)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .where(here, ShareInstance.status == _ENSURE.during, Share.intent_id == intent.id)
        .distinct()
    ).all()
    for share_id in held:
        finish(session, intent.id, share_id, _ENSURE.done)


def remember(session: Session, service_id: int, fingerprint: str) -> None:
    """Note for which info of the back end all its shares have been ensured."""
    count(
        session, sa.update(Service).where(Service.id == service_id).values(info_hash=fingerprint)
    )


def on(backend: str) -> sa.ColumnElement[bool]:
    """Whether an instance is on any pool of *backend*; compared exactly, on every database."""
    prefix = f"{backend}#"
    # LIKE finds an index, but takes upper and lower case for the same on SQLite.
    like = ShareInstance.host.startswith(prefix, autoescape=True)
    same = sa.func.substr(ShareInstance.host, 1, len(prefix)) == prefix
    return sa.or_(ShareInstance.host == backend, sa.and_(like, same))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An instance on a back end, and whether it is free to be looked after."""

    id: str
    share_id: str
    project_id: str
    size: int
    host: str
    status: str
    intent_id: str | None

    def is_free(self, holder: str | None = None) -> bool:
        """Whether no verb works on it but that of *holder*."""
        return self.status in SERVED and self.intent_id in {None, holder}

    @property
    def is_busy(self) -> bool:
        """Whether a verb works on it that does not make or remove it."""
        return self.status in BUSY or (self.status in SERVED and self.intent_id is not None)


def _select(*clauses: sa.ColumnElement[bool]) -> Any:
    return (
        sa.select(
            ShareInstance.id,
            ShareInstance.share_id,
            Share.project_id,
            Share.size,
            sa.func.coalesce(ShareInstance.host, ""),
            ShareInstance.status,
            Share.intent_id,
        )
        .join(Share, Share.id == ShareInstance.share_id)
        .where(ShareInstance.deleted_at.is_(None), *clauses)
        .order_by(ShareInstance.id)
    )


def candidates(session: Session, backend: str, after: str, limit: int) -> list[Candidate]:
    """Instances on any pool of *backend* behind the instance *after*, by id."""
    rows = session.execute(_select(on(backend), ShareInstance.id > after).limit(limit))
    return [Candidate(*row) for row in rows]


def number(session: Session, backend: str) -> int:
    """How many instances there are on any pool of *backend*."""
    counted = sa.select(sa.func.count()).select_from(ShareInstance)
    return session.scalars(counted.where(ShareInstance.deleted_at.is_(None), on(backend))).one()


def those(session: Session, instance_ids: Collection[str]) -> list[Candidate]:
    """Instances by their ids, on whatever back end; deleted ones are not among them."""
    rows = session.execute(_select(ShareInstance.id.in_(instance_ids)))
    return [Candidate(*row) for row in rows]


def take(session: Session, intent_id: str, wanted: Sequence[Candidate]) -> None:
    """Hold those shares of *wanted* for *intent_id* that are free, and show them as ensuring."""
    share_ids = [item.share_id for item in wanted]
    if not share_ids:
        return
    count(
        session,
        sa.update(Share)
        .where(
            Share.id.in_(share_ids),
            Share.status.in_(_ENSURE.sources),
            Share.intent_id.is_(None),
            Share.deleted_at.is_(None),
        )
        .values(status=_ENSURE.during, intent_id=intent_id, updated_at=now()),
    )
    mine = sa.select(Share.id).where(Share.id.in_(share_ids), Share.intent_id == intent_id)
    count(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.id.in_([item.id for item in wanted]),
            ShareInstance.share_id.in_(mine),
            ShareInstance.status.in_(_ENSURE.sources),
        )
        .values(status=_ENSURE.during, updated_at=now()),
    )


def finish(session: Session, intent_id: str, share_id: str, status: str) -> bool:
    """Settle a share that *intent_id* holds in *status*; False where it holds it no more."""
    mine = swap(
        session,
        sa.update(Share)
        .where(Share.id == share_id, Share.intent_id == intent_id)
        .values(status=status, intent_id=None, updated_at=now()),
    )
    if mine:
        _set_instances(session, share_id, _ENSURE.during, status)
    return mine


def lose(session: Session, share_id: str) -> bool:
    """Put a share that nothing works on in error, because its back end lost it."""
    lost = swap(
        session,
        sa.update(Share)
        .where(
            Share.id == share_id,
            Share.status == Status.AVAILABLE,
            Share.intent_id.is_(None),
            Share.deleted_at.is_(None),
        )
        .values(status=_ENSURE.failed, updated_at=now()),
    )
    if lost:
        _set_instances(session, share_id, Status.AVAILABLE, _ENSURE.failed)
    return lost


def _set_instances(session: Session, share_id: str, old: str, new: str) -> None:
    count(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.share_id == share_id,
            ShareInstance.status == old,
            ShareInstance.deleted_at.is_(None),
        )
        .values(status=new, updated_at=now()),
    )


def requeue_rules(session: Session, instance_id: str, intent_id: str) -> bool:
    """Let *intent_id* bring the rules of an instance in line; False where one does already."""
    return swap(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.id == instance_id,
            ShareInstance.access_intent_id.is_(None),
            ShareInstance.deleted_at.is_(None),
            ShareInstance.host.is_not(None),
            ShareInstance.status.not_in(TRANSITIONAL),
        )
        .values(
            access_version=ShareInstance.access_version + 1,
            access_rules_status=RulesStatus.SYNCING,
            access_intent_id=intent_id,
        ),
    )


@dataclass(frozen=True, slots=True)
class Trace:
    """What the database remembers of an instance that it does not have any more."""

    share: Share
    instance: ShareInstance


def traces(session: Session, instance_ids: Collection[str]) -> Mapping[str, Trace]:
    """Deleted instances by id, as far as they have not been purged."""
    rows = session.execute(
        sa.select(Share, ShareInstance)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .where(ShareInstance.id.in_(instance_ids), ShareInstance.deleted_at.is_not(None))
    )
    return {instance.id: Trace(share, instance) for share, instance in rows}


def note(session: Session, intent_id: str, trace: Sequence[Mapping[str, object]]) -> None:
    """Write what a chore found to its intent, for whoever asked."""
    count(session, sa.update(Intent).where(Intent.id == intent_id).values(trace=list(trace)))


def progress(session: Session, intent_id: str, percent: int) -> None:
    """Write how much of a chore is done."""
    count(session, sa.update(Intent).where(Intent.id == intent_id).values(progress=percent))
