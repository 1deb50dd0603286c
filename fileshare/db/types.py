"""Share types."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db.clock import now
from fileshare.db.models import (
    Share,
    ShareGroupTypeShareType,
    ShareInstance,
    ShareType,
    ShareTypeExtraSpec,
    ShareTypeProject,
    new_id,
)
from fileshare.db.offers import Offer, collect
from fileshare.db.query import Scope, same
from fileshare.db.session import Session, count, swap

OFFER = Offer("share_type", "extra_spec", ShareType, ShareTypeExtraSpec, ShareTypeProject)

lock, specs_of, set_specs, give = OFFER.lock, OFFER.specs_of, OFFER.set_specs, OFFER.give


@dataclass(frozen=True, slots=True)
class TypeAndSpecs:
    """A share type with its extra specs."""

    id: str
    name: str
    description: str | None
    is_public: bool
    specs: Mapping[str, str]


def _select(where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    columns = (ShareType.id, ShareType.name, ShareType.description, ShareType.is_public)
    return OFFER.select(where, *columns)


def _load(session: Session, where: sa.ColumnElement[bool]) -> list[TypeAndSpecs]:
    return _types(session.execute(_select(where)))


def _types(rows: Iterable[Any]) -> list[TypeAndSpecs]:
    return [TypeAndSpecs(*row) for row in collect(rows)]


@functools.lru_cache(maxsize=2)
def _named(*, everybodys: bool) -> sa.Select[Any]:
    """The types of one name or id; every create reads one, so the statement is built once."""
    word: sa.BindParameter[str] = sa.bindparam("word")
    scope = Scope(None) if everybodys else Scope(sa.bindparam("project_id"))  # type: ignore[arg-type]
    called = sa.or_(ShareType.id == word, ShareType.name == word)
    return _select(sa.and_(called, OFFER.visible(scope)))


def find(
    session: Session, scope: Scope, *, is_public: bool | None = None
) -> Sequence[TypeAndSpecs]:
    """The types that the caller may see; *is_public* None: both kinds."""
    public = sa.true() if is_public is None else ShareType.is_public.is_(is_public)
    return _load(session, sa.and_(OFFER.visible(scope), public))


def get(session: Session, scope: Scope, name_or_id: str) -> TypeAndSpecs:
    """The type of that id, else of that name; raises NotFound."""
    statement = _named(everybodys=scope.project_id is None)
    values = {"word": name_or_id, "project_id": scope.project_id}
    found = _types(session.connection().execute(statement, values))
    found.sort(key=lambda item: item.id != name_or_id)
    if not found:
        raise OFFER.not_found(name_or_id)
    return found[0]


def by_id(session: Session, scope: Scope, share_type_id: str) -> TypeAndSpecs:
    """The type of that id; raises NotFound."""
    found = _load(session, sa.and_(ShareType.id == share_type_id, OFFER.visible(scope)))
    if not found:
        raise OFFER.not_found(share_type_id)
    return found[0]


def by_name(session: Session, scope: Scope, name: str) -> TypeAndSpecs | None:
    """The type of that name, where the caller may see it."""
    found = _load(session, sa.and_(ShareType.name == name, OFFER.visible(scope)))
    return found[0] if found else None


def with_specs(session: Session, pairs: Mapping[str, str]) -> Sequence[str]:
    """Ids of the types that have each of *pairs* among their extra specs."""
    spec = ShareTypeExtraSpec
    mine = sa.select(spec.key).where(spec.share_type_id == ShareType.id)
    there = (
        sa.exists(mine.where(same(spec.key, key), same(spec.value, value)))
        for key, value in pairs.items()
    )
    return session.scalars(sa.select(ShareType.id).where(*there)).all()


def create(
    session: Session,
    *,
    name: str,
    description: str | None,
    is_public: bool,
    specs: Mapping[str, str],
) -> TypeAndSpecs:
    """A new type; raises Conflict where the name is taken."""
    row = ShareType(id=new_id(), name=name, description=description, is_public=is_public)
    OFFER.insert(session, row, specs)
    return TypeAndSpecs(row.id, name, description, is_public, dict(specs))


def update(session: Session, share_type_id: str, values: Mapping[str, Any]) -> None:
    """Write *values*; raises NotFound, and Conflict where the name is taken."""
    statement = (
        sa.update(ShareType)
        .where(ShareType.id == share_type_id)
        .values(**values, updated_at=now())
    )
    try:
        found = swap(session, statement)
    except db_exception.DBDuplicateEntry:
        raise OFFER.taken(values["name"]) from None
    if not found:
        raise OFFER.not_found(share_type_id)


def delete(session: Session, share_type_id: str) -> None:
    """Remove a type; raises NotFound, and InvalidInput while shares or group types name it."""
    OFFER.lock(session, share_type_id)
    if _is_used(session, share_type_id):
        raise errors.InvalidInput(field="id", reason=f"Share type {share_type_id} is in use.")
    # Rows that are kept for the audit only do not hold the type.
    for model in (Share, ShareInstance):
        column = model.share_type_id
        count(session, sa.update(model).where(column == share_type_id).values(share_type_id=None))
    OFFER.remove(session, share_type_id)


def _is_used(session: Session, share_type_id: str) -> bool:
    """Whether a group type names it, a share is of it, or an instance of one (a replica, say)."""
    named = ShareGroupTypeShareType.share_type_id
    uses: list[sa.Select[Any]] = [sa.select(named).where(named == share_type_id)]
    for model in (Share, ShareInstance):
        of_it = sa.select(model.id).where(model.share_type_id == share_type_id)
        uses.append(of_it.where(model.deleted_at.is_(None)))
    return any(session.scalars(use.limit(1)).first() is not None for use in uses)
