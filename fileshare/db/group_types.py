"""Share group types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from fileshare.db import types
from fileshare.db.models import (
    ShareGroupType,
    ShareGroupTypeProject,
    ShareGroupTypeShareType,
    ShareGroupTypeSpec,
    new_id,
)
from fileshare.db.offers import Offer, collect
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session

OFFER = Offer(
    "share_group_type", "group_spec", ShareGroupType, ShareGroupTypeSpec, ShareGroupTypeProject
)


@dataclass(frozen=True, slots=True)
class GroupType:
    """A group type with its specs, and the ids of the share types that its shares may have."""

    id: str
    name: str
    is_public: bool
    specs: Mapping[str, str]
    share_types: Sequence[str]


def find(
    session: Session,
    scope: Scope,
    *,
    is_public: bool | None = None,
    id: str | None = None,
    name: str | None = None,
) -> Sequence[GroupType]:
    """The group types that the caller may see; *is_public* None: both kinds."""
    table = ShareGroupType
    where = [OFFER.visible(scope)]
    for column, value in ((table.is_public, is_public), (table.id, id), (table.name, name)):
        if value is not None:
            where.append(column == value)
    statement = OFFER.select(sa.and_(*where), table.id, table.name, table.is_public)
    found = collect(session.execute(statement))
    named = _share_types(session, [row[0] for row in found])
    return [GroupType(*row) for row in ([*row, named.get(row[0], [])] for row in found)]


def _share_types(session: Session, ids: Iterable[str]) -> Mapping[str, list[str]]:
    table = ShareGroupTypeShareType
    rows = session.execute(
        sa.select(table.share_group_type_id, table.share_type_id)
        .where(table.share_group_type_id.in_(list(ids)))
        .order_by(table.share_type_id)
    )
    found: dict[str, list[str]] = {}
    for id, share_type_id in rows:
        found.setdefault(id, []).append(share_type_id)
    return found


def by_id(session: Session, scope: Scope, id: str) -> GroupType:
    """The group type of that id; raises NotFound."""
    found = find(session, scope, id=id)
    if not found:
        raise OFFER.not_found(id)
    return found[0]


def by_name(session: Session, scope: Scope, name: str) -> GroupType | None:
    """The group type of that name, where the caller may see it."""
    found = find(session, scope, name=name)
    return found[0] if found else None


def create(
    session: Session,
    *,
    name: str,
    is_public: bool,
    specs: Mapping[str, str],
    share_types: Iterable[str],
) -> GroupType:
    """A new group type of share types by their ids or names.

    Raises NotFound for an unknown share type, and Conflict where the name is taken.
    """
    ids = sorted({types.get(session, ALL, word).id for word in share_types})
    for share_type_id in ids:
        types.lock(session, share_type_id, shared=True)
    row = ShareGroupType(id=new_id(), name=name, is_public=is_public)
    OFFER.insert(session, row, specs)
    pairs = [{"share_group_type_id": row.id, "share_type_id": id} for id in ids]
    session.execute(sa.insert(ShareGroupTypeShareType), pairs)
    return GroupType(row.id, name, is_public, dict(specs), ids)


def delete(session: Session, id: str) -> None:
    """Remove a group type; raises NotFound."""
    OFFER.lock(session, id)
    OFFER.remove(session, id, ShareGroupTypeShareType)
