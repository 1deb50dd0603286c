"""What a back end does for itself: ensuring its shares, and being compared with the database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from fileshare import errors
from fileshare.db.clock import now
from fileshare.db.instances import is_on
from fileshare.db.models import Intent, Service, Share, ShareInstance
from fileshare.db.services import is_up
from fileshare.db.session import Session, count
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import BUSY, SERVED

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
        raise errors.NotFound(resource="Back end", id=host)
    return BackendService(row[0], row[1], row[2], bool(row[3]))


def hold(session: Session, service_id: int) -> None:
    """Keep others from promising chores of the same back end until the transaction ends."""
    session.execute(sa.select(Service.id).where(Service.id == service_id).with_for_update())


def begin_ensuring(session: Session, service_id: int) -> None:
    """Show that the back end ensures its shares."""
    count(session, sa.update(Service).where(Service.id == service_id).values(ensuring=True))


def end_ensuring(session: Session, intent: Intent) -> None:
    """Show that it does so no more; the shares that *intent* held have been let go."""
    count(
        session,
        sa.update(Service).where(Service.id == int(intent.resource_id)).values(ensuring=False),
    )


def join_walk(session: Session, walk: Intent) -> None:
    """Note that a walk, which the caller has locked, was asked for again.

    One that waits goes on at once.
    """
    this = sa.update(Intent).where(Intent.id == walk.id)
    count(session, this.values(trace=[{"asked again": _times(walk.trace) + 1}]))
    count(session, this.where(Intent.owner.is_(None)).values(due=now(), attempts=0))


def asked_again(session: Session, walk_id: str) -> int:
    """How often a walk was asked for again since it began."""
    return _times(session.scalars(sa.select(Intent.trace).where(Intent.id == walk_id)).one())


def _times(trace: Sequence[Mapping[str, int]]) -> int:
    return trace[0]["asked again"] if trace else 0


def remember(session: Session, service_id: int, fingerprint: str) -> None:
    """Note for which info of the back end all its shares have been ensured."""
    count(
        session, sa.update(Service).where(Service.id == service_id).values(info_hash=fingerprint)
    )


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
    rows = session.execute(_select(is_on(backend), ShareInstance.id > after).limit(limit))
    return [Candidate(*row) for row in rows]


def number(session: Session, backend: str) -> int:
    """How many instances there are on any pool of *backend*."""
    counted = sa.select(sa.func.count()).select_from(ShareInstance)
    return session.scalars(counted.where(ShareInstance.deleted_at.is_(None), is_on(backend))).one()


def those(session: Session, instance_ids: Collection[str]) -> list[Candidate]:
    """Instances by their ids, on whatever back end; deleted ones are not among them."""
    rows = session.execute(_select(ShareInstance.id.in_(instance_ids)))
    return [Candidate(*row) for row in rows]


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
