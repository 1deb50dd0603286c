"""What a placement is decided on besides the pools: the share, its type and its metadata."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

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
    pairs = _specs_and_metadata(share_id)
    rows = session.execute(
        sa.select(Share, ShareInstance, pairs.c.sort, pairs.c.key, pairs.c.value)
        .join(ShareInstance, ShareInstance.share_id == Share.id)
        .outerjoin(pairs, pairs.c.share_id == Share.id)
        .where(Share.id == share_id, ShareInstance.deleted_at.is_(None))
        .order_by(ShareInstance.created_at, ShareInstance.id)
        .execution_options(populate_existing=True)
    ).all()
    if not rows:
        raise errors.NotFound(resource="Share", id=share_id)
    return Placed(
        share=rows[0][0],
        instance=rows[0][1],
        extra_specs={key: value for _, _, sort, key, value in rows if sort == "spec"},
        metadata={key: value for _, _, sort, key, value in rows if sort == "metadata"},
    )


def _specs_and_metadata(share_id: str) -> sa.Subquery:
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
    return sa.union_all(specs, metadata).subquery()
