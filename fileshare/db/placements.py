"""What a placement is decided on besides the pools: the share, its type and its metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm

from fileshare import errors
from fileshare.db.models import Share, ShareInstance, ShareMetadata, ShareTypeExtraSpec
from fileshare.db.session import Session


@dataclass(frozen=True, slots=True)
class Placed:
    """A share that is to be placed, or that is to grow where it is."""

    share: Share
    instance: ShareInstance
    extra_specs: dict[str, str]
    metadata: dict[str, str]


def read(session: Session, share_id: str) -> Placed:
    """The share with its first instance, specs and metadata, in one statement.

    Raises NotFound.
    """
    rows = session.execute(_OF_SHARE, {"share": share_id}).all()
    if not rows:
        raise errors.NotFound(resource="Share", id=share_id)
    return _placed(rows)


def of_instance(session: Session, instance_id: str) -> Placed:
    """The same for one instance; raises NotFound."""
    rows = session.execute(_OF_INSTANCE, {"instance": instance_id}).all()
    if not rows:
        raise errors.NotFound(resource="Share instance", id=instance_id)
    return _placed(rows)


def _placed(rows: Sequence[Any]) -> Placed:
    return Placed(
        share=rows[0][0],
        instance=rows[0][1],
        extra_specs={key: value for _, _, sort, key, value in rows if sort == "spec"},
        metadata={key: value for _, _, sort, key, value in rows if sort == "metadata"},
    )


def _statement(share_id: sa.ColumnElement[Any], which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    specs = (
        sa.select(
            Share.id.label("share_id"),
            sa.literal("spec").label("sort"),
            ShareTypeExtraSpec.key,
            ShareTypeExtraSpec.value,
        )
        .join(Share, Share.share_type_id == ShareTypeExtraSpec.share_type_id)
        .where(Share.id == share_id)
    )
    metadata = sa.select(
        ShareMetadata.share_id,
        sa.literal("metadata").label("sort"),
        ShareMetadata.key,
        ShareMetadata.value,
    ).where(ShareMetadata.share_id == share_id)
    pairs = sa.union_all(specs, metadata).subquery()
    return (
        sa.select(Share, ShareInstance, pairs.c.sort, pairs.c.key, pairs.c.value)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .outerjoin(pairs, pairs.c.share_id == Share.id)
        .where(which, ShareInstance.deleted_at.is_(None))
        .order_by(ShareInstance.created_at, ShareInstance.id)
        .execution_options(populate_existing=True)
    )


def _share_of_instance() -> sa.ColumnElement[Any]:
    instance = orm.aliased(ShareInstance)
    return (
        sa.select(instance.share_id)
        .where(instance.id == sa.bindparam("instance"))
        .scalar_subquery()
    )


# Built once: every piece of work on a share begins with one of them.
_OF_SHARE = _statement(sa.bindparam("share"), Share.id == sa.bindparam("share"))
_OF_INSTANCE = _statement(_share_of_instance(), ShareInstance.id == sa.bindparam("instance"))
