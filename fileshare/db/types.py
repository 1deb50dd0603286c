"""Share types."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db.clock import now
from fileshare.db.models import (
    Share,
    ShareInstance,
    ShareType,
    ShareTypeExtraSpec,
    ShareTypeProject,
    new_id,
)
from fileshare.db.query import Scope
from fileshare.db.session import Session, count, swap


@dataclass(frozen=True, slots=True)
class TypeAndSpecs:
    """A share type with its extra specs."""

    id: str
    name: str
    description: str | None
    is_public: bool
    specs: Mapping[str, str]


def _visible(scope: Scope) -> sa.ColumnElement[bool]:
    """Public types, and private ones that the project was given."""
    if scope.project_id is None:
        return sa.true()
    given = sa.exists(
        sa.select(ShareTypeProject.share_type_id).where(
            ShareTypeProject.share_type_id == ShareType.id,
            ShareTypeProject.project_id == scope.project_id,
        )
    )
    return sa.or_(ShareType.is_public.is_(True), given)


def _select(where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    statement: Any = (
        sa.select(
            ShareType.id,
            ShareType.name,
            ShareType.description,
            ShareType.is_public,
            ShareTypeExtraSpec.key,
            ShareTypeExtraSpec.value,
        )
        .outerjoin(ShareTypeExtraSpec, ShareTypeExtraSpec.share_type_id == ShareType.id)
        .where(where)
        .order_by(ShareType.created_at, ShareType.id)
    )
    return cast("sa.Select[Any]", statement)


def _load(session: Session, where: sa.ColumnElement[bool]) -> list[TypeAndSpecs]:
    return _collect(session.execute(_select(where)))


def _collect(rows: Iterable[Any]) -> list[TypeAndSpecs]:
    found: dict[str, tuple[TypeAndSpecs, dict[str, str]]] = {}
    for id, name, description, is_public, key, value in rows:
        if id not in found:
            specs: dict[str, str] = {}
            found[id] = (TypeAndSpecs(id, name, description, is_public, specs), specs)
        if key is not None:
            found[id][1][key] = value
    return [share_type for share_type, _ in found.values()]


@functools.lru_cache(maxsize=2)
def _named(*, everybodys: bool) -> sa.Select[Any]:
    """The types of one name or id; every create reads one, so the statement is built once."""
    word: sa.BindParameter[str] = sa.bindparam("word")
    scope = Scope(None) if everybodys else Scope(sa.bindparam("project_id"))  # type: ignore[arg-type]
    return _select(sa.and_(sa.or_(ShareType.id == word, ShareType.name == word), _visible(scope)))


def find(
    session: Session, scope: Scope, *, is_public: bool | None = None
) -> Sequence[TypeAndSpecs]:
    """The types that the caller may see; *is_public* None: both kinds."""
    public = sa.true() if is_public is None else ShareType.is_public.is_(is_public)
    return _load(session, sa.and_(_visible(scope), public))


def get(session: Session, scope: Scope, name_or_id: str) -> TypeAndSpecs:
    """The type of that id, else of that name; raises NotFound."""
    statement = _named(everybodys=scope.project_id is None)
    values = {"word": name_or_id, "project_id": scope.project_id}
    found = _collect(session.connection().execute(statement, values))
    found.sort(key=lambda item: item.id != name_or_id)
    if not found:
        raise errors.NotFound(resource="Share type", id=name_or_id)
    return found[0]


def by_id(session: Session, scope: Scope, share_type_id: str) -> TypeAndSpecs:
    """The type of that id; raises NotFound."""
    found = _load(session, sa.and_(ShareType.id == share_type_id, _visible(scope)))
    if not found:
        raise errors.NotFound(resource="Share type", id=share_type_id)
    return found[0]


def by_name(session: Session, scope: Scope, name: str) -> TypeAndSpecs | None:
    """The type of that name, where the caller may see it."""
    found = _load(session, sa.and_(ShareType.name == name, _visible(scope)))
    return found[0] if found else None


def lock(session: Session, share_type_id: str, *, shared: bool = False) -> None:
    """Keep the type as it is until the transaction ends; raises NotFound.

    While it is held no share can be made of the type: the check of the foreign key waits.  A
    *shared* lock only keeps the type from being deleted or locked.
    """
    row = sa.select(ShareType.id).where(ShareType.id == share_type_id)
    if session.scalars(row.with_for_update(read=shared)).first() is None:
        raise errors.NotFound(resource="Share type", id=share_type_id)


def specs_of(session: Session, share_type_id: str | None) -> dict[str, str]:
    if share_type_id is None:
        return {}
    rows = session.execute(
        sa.select(ShareTypeExtraSpec.key, ShareTypeExtraSpec.value).where(
            ShareTypeExtraSpec.share_type_id == share_type_id
        )
    )
    return {key: value for key, value in rows}  # noqa: C416  (rows are not pairs to the checker)


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
    try:
        session.add(row)
        session.flush()
    except db_exception.DBDuplicateEntry:
        raise errors.Conflict(reason=f"Share type {name} already exists.") from None
    set_specs(session, row.id, specs)
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
        raise errors.Conflict(reason=f"Share type {values['name']} already exists.") from None
    if not found:
        raise errors.NotFound(resource="Share type", id=share_type_id)


def set_specs(session: Session, share_type_id: str, specs: Mapping[str, str]) -> None:
    """Set each of *specs*; others stay."""
    if not specs:
        return
    clear_specs(session, share_type_id, list(specs))
    session.execute(
        sa.insert(ShareTypeExtraSpec),
        [
            {"share_type_id": share_type_id, "key": key, "value": value}
            for key, value in specs.items()
        ],
    )


def clear_specs(session: Session, share_type_id: str, keys: Sequence[str]) -> int:
    """Remove *keys*; how many there were."""
    return count(
        session,
        sa.delete(ShareTypeExtraSpec).where(
            ShareTypeExtraSpec.share_type_id == share_type_id, ShareTypeExtraSpec.key.in_(keys)
        ),
    )


def delete(session: Session, share_type_id: str) -> None:
    """Remove a type; raises NotFound, and InvalidInput while shares are of it."""
    lock(session, share_type_id)
    if _is_used(session, share_type_id):
        raise errors.InvalidInput(field="id", reason=f"Share type {share_type_id} is in use.")
    # Rows that are kept for the audit only do not hold the type.
    for model in (Share, ShareInstance):
        column = model.share_type_id
        count(session, sa.update(model).where(column == share_type_id).values(share_type_id=None))
    for child in (ShareTypeExtraSpec, ShareTypeProject):
        count(session, sa.delete(child).where(child.share_type_id == share_type_id))
    count(session, sa.delete(ShareType).where(ShareType.id == share_type_id))


def _is_used(session: Session, share_type_id: str) -> bool:
    """Whether a share is of the type, or an instance of one (a replica, or where it moves to)."""
    for model in (Share, ShareInstance):
        living = sa.select(model.id).where(
            model.share_type_id == share_type_id, model.deleted_at.is_(None)
        )
        if session.scalars(living.limit(1)).first() is not None:
            return True
    return False


def projects(session: Session, share_type_id: str) -> Sequence[ShareTypeProject]:
    """Which projects were given a private type."""
    return session.scalars(
        sa.select(ShareTypeProject)
        .where(ShareTypeProject.share_type_id == share_type_id)
        .order_by(ShareTypeProject.project_id)
    ).all()


def give(session: Session, share_type_id: str, project_id: str) -> None:
    """Let a project use a private type; raises Conflict where it may already."""
    try:
        session.execute(
            sa.insert(ShareTypeProject).values(share_type_id=share_type_id, project_id=project_id)
        )
    except db_exception.DBDuplicateEntry:
        raise errors.Conflict(
            reason=f"Share type access for {share_type_id} / {project_id} combination already "
            "exists."
        ) from None


def take(session: Session, share_type_id: str, project_id: str) -> None:
    """Let a project use a private type no more; raises NotFound where it may not anyway."""
    given = sa.delete(ShareTypeProject).where(
        ShareTypeProject.share_type_id == share_type_id,
        ShareTypeProject.project_id == project_id,
    )
    if not swap(session, given):
        raise errors.NotFound(
            resource="Share type access for", id=f"{share_type_id} / {project_id}"
        )
