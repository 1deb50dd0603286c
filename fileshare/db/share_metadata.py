"""Metadata of shares: keys and values that somebody set."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

import sqlalchemy as sa

from fileshare.db.models import Share, ShareMetadata
from fileshare.db.session import Session, count
from fileshare.domain import hints


def of(session: Session, share_id: str) -> dict[str, str]:
    """The metadata of one share; that of a page of shares is read with them."""
    rows = session.execute(
        sa.select(ShareMetadata.key, ShareMetadata.value)
        .where(ShareMetadata.share_id == share_id)
        .order_by(ShareMetadata.key)
    )
    return {row.key: row.value for row in rows}


def hold(session: Session, share_id: str) -> dict[str, str]:
    """The metadata of a share, which nobody else changes until the transaction ends.

    Two that set one key at once come one after the other, instead of both adding it.
    """
    session.execute(sa.select(Share.id).where(Share.id == share_id).with_for_update())
    return of(session, share_id)


def add(session: Session, share_id: str, pairs: Mapping[str, str]) -> None:
    """Metadata of a share that has none of these keys yet."""
    if pairs:
        session.execute(
            sa.insert(ShareMetadata),
            [{"share_id": share_id, "key": key, "value": value} for key, value in pairs.items()],
        )


def remove(session: Session, share_id: str, keys: Collection[str]) -> None:
    """Remove *keys*; those that are not there are passed over."""
    if keys:
        count(
            session,
            sa.delete(ShareMetadata).where(
                ShareMetadata.share_id == share_id, ShareMetadata.key.in_(list(keys))
            ),
        )


def change(
    session: Session, share_id: str, old: Mapping[str, str], new: Mapping[str, str]
) -> None:
    """From *old*, which :func:`hold` answered, to *new*; only what differs is written.

    A key that stays keeps its row: who waits for the lock on it finds it there afterwards.
    """
    changed = [
        {"of_share": share_id, "of_key": key, "value": value}
        for key, value in new.items()
        if key in old and old[key] != value
    ]
    remove(session, share_id, [key for key in old if key not in new])
    if changed:
        session.connection().execute(_CHANGE, changed)
    add(session, share_id, {key: value for key, value in new.items() if key not in old})


_METADATA = cast("sa.Table", ShareMetadata.__table__)
_CHANGE = (
    sa.update(_METADATA)
    .where(
        _METADATA.c.share_id == sa.bindparam("of_share"),
        _METADATA.c.key == sa.bindparam("of_key"),
    )
    .values(value=sa.bindparam("value"))
)


def unname(session: Session, share_id: str) -> None:
    """Let no share name *share_id*, which is gone, as one to be with or away from.

    Only the shares that it names itself are looked at: whoever names another is named by it.
    The rows of metadata alone are locked, in one order: two shares that name each other may go
    at once.
    """
    keys = list(hints.METADATA.values())
    its = session.scalars(
        sa.select(ShareMetadata.value).where(
            ShareMetadata.share_id == share_id, ShareMetadata.key.in_(keys)
        )
    )
    named = {id for text in its for id in hints.ids(text)}
    if not named:
        return
    rows = session.execute(
        sa.select(ShareMetadata.share_id, ShareMetadata.key, ShareMetadata.value)
        .where(ShareMetadata.share_id.in_(named), ShareMetadata.key.in_(keys))
        .order_by(ShareMetadata.share_id, ShareMetadata.key)
        .with_for_update()
    ).all()
    for other, key, text in rows:
        left = hints.without(text, share_id)
        if left != text:
            change(session, other, {key: text}, {key: left} if left else {})
