"""What a placement is decided on besides the pools: the share, its type and its metadata."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import sqlalchemy as sa

from fileshare import errors
from fileshare.db import pairs
from fileshare.db.models import Share, ShareInstance, ShareMetadata, ShareTypeExtraSpec
from fileshare.db.session import Session


@dataclass(frozen=True, slots=True)
class Placed:
    """A share that is to be placed, or that is to grow where it is: rows, not objects."""

    share: Share
    instance: ShareInstance
    extra_specs: dict[str, str]
    metadata: dict[str, str]


def read(session: Session, share_id: str) -> Placed:
    """The share with its first instance, specs and metadata, in one statement.

    Raises NotFound.
    """
    row = session.connection().execute(_OF_SHARE, {"share": share_id}).first()
    if row is None:
        raise errors.NotFound(resource="Share", id=share_id)
    return _placed(row)


def of_instance(session: Session, instance_id: str) -> Placed:
    """The same for one instance; raises NotFound."""
    row = session.connection().execute(_OF_INSTANCE, {"instance": instance_id}).first()
    if row is None:
        raise errors.NotFound(resource="Share instance", id=instance_id)
    return _placed(row)


_SHARE = Share.__table__.columns
_INSTANCE = ShareInstance.__table__.columns


def _placed(row: Any) -> Placed:
    edge, end = len(_SHARE), len(_SHARE) + len(_INSTANCE)
    share = dict(zip(_SHARE.keys(), row[:edge], strict=True))
    instance = dict(zip(_INSTANCE.keys(), row[edge:end], strict=True))
    return Placed(
        cast("Share", SimpleNamespace(**share)),
        cast("ShareInstance", SimpleNamespace(**instance)),
        extra_specs=row.extra_specs,
        metadata=row.metadata,
    )


def _statement(which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    spec, one = ShareTypeExtraSpec.__table__.c, ShareMetadata.__table__.c
    specs = pairs.of(spec.key, spec.value, spec.share_type_id == _SHARE.share_type_id, Share)
    metadata = pairs.of(one.key, one.value, one.share_id == _SHARE.id, Share)
    return (
        sa.select(*_SHARE, *_INSTANCE, specs.label("extra_specs"), metadata.label("metadata"))
        .join_from(Share.__table__, ShareInstance.__table__, _INSTANCE.share_id == _SHARE.id)
        .where(which, _INSTANCE.deleted_at.is_(None))
        .order_by(_INSTANCE.created_at, _INSTANCE.id)
        .limit(1)
    )


# Built once: every piece of work on a share begins with one of them.
_OF_SHARE = _statement(_SHARE.id == sa.bindparam("share"))
_OF_INSTANCE = _statement(_INSTANCE.id == sa.bindparam("instance"))
