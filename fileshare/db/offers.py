"""What an operator offers by name: share types and share group types.

An offer has specs, and it is for everybody or for the projects that were given it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db.query import Scope
from fileshare.db.session import Session, count, swap


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """One kind of offer: its name (``share_type``), its tables, and what it calls its specs.

    The tables of specs and projects name the offer in a column ``<name>_id``.
    """

    name: str
    spec: str
    model: Any
    specs: Any
    projects: Any

    @property
    def label(self) -> str:
        return _label(self.name)

    @property
    def spec_label(self) -> str:
        return _label(self.spec)

    def not_found(self, id: str) -> errors.NotFound:
        return errors.NotFound(resource=self.label, id=id)

    def taken(self, name: str) -> errors.Conflict:
        return errors.Conflict(reason=f"{self.label} {name} already exists.")

    def owner(self, table: Any) -> Any:
        """The column of *table* that names the offer."""
        return getattr(table, f"{self.name}_id")

    def visible(self, scope: Scope) -> sa.ColumnElement[bool]:
        """Public ones, and private ones that the project was given."""
        if scope.project_id is None:
            return sa.true()
        owner = self.owner(self.projects)
        given = sa.exists(
            sa.select(owner).where(
                owner == self.model.id, self.projects.project_id == scope.project_id
            )
        )
        return sa.or_(self.model.is_public.is_(True), given)

    def select(self, where: sa.ColumnElement[bool], *columns: Any) -> sa.Select[Any]:
        """*columns* of offers, the id first, with key and value of each spec; see collect()."""
        specs = self.specs
        statement: Any = (
            sa.select(*columns, specs.key, specs.value)
            .outerjoin(specs, self.owner(specs) == self.model.id)
            .where(where)
            .order_by(self.model.created_at, self.model.id)
        )
        return cast("sa.Select[Any]", statement)

    def is_public(self, session: Session, scope: Scope, id: str) -> bool:
        """Whether it is for everybody; raises NotFound."""
        statement = sa.select(self.model.is_public).where(self.model.id == id, self.visible(scope))
        found = session.scalars(statement).first()
        if found is None:
            raise self.not_found(id)
        return bool(found)

    def lock(self, session: Session, id: str, *, shared: bool = False) -> None:
        """Keep it as it is until the transaction ends; raises NotFound.

        While it is held nothing can be made of it: the check of the foreign key waits.  A
        *shared* lock only keeps it from being deleted or locked.
        """
        row = sa.select(self.model.id).where(self.model.id == id)
        if session.scalars(row.with_for_update(read=shared)).first() is None:
            raise self.not_found(id)

    def insert(self, session: Session, row: Any, specs: Mapping[str, str]) -> None:
        """Add a row and its specs; raises Conflict where the name is taken."""
        try:
            session.add(row)
            session.flush()
        except db_exception.DBDuplicateEntry:
            raise self.taken(row.name) from None
        self.set_specs(session, row.id, specs)

    def remove(self, session: Session, id: str, *others: Any) -> None:
        """Remove it with its specs, its projects, and its rows of *others*."""
        for child in (self.specs, self.projects, *others):
            count(session, sa.delete(child).where(self.owner(child) == id))
        count(session, sa.delete(self.model).where(self.model.id == id))

    def specs_of(self, session: Session, id: str | None) -> dict[str, str]:
        if id is None:
            return {}
        rows = session.execute(
            sa.select(self.specs.key, self.specs.value).where(self.owner(self.specs) == id)
        )
        return {key: value for key, value in rows}  # noqa: C416  (rows are not pairs to the checker)

    def set_specs(self, session: Session, id: str, specs: Mapping[str, str]) -> None:
        """Set each of *specs*; others stay."""
        if not specs:
            return
        self.clear_specs(session, id, list(specs))
        session.execute(
            sa.insert(self.specs),
            [{f"{self.name}_id": id, "key": key, "value": value} for key, value in specs.items()],
        )

    def clear_specs(self, session: Session, id: str, keys: Sequence[str]) -> int:
        """Remove *keys*; how many there were."""
        return count(
            session,
            sa.delete(self.specs).where(self.owner(self.specs) == id, self.specs.key.in_(keys)),
        )

    def given_to(self, session: Session, id: str) -> Sequence[Any]:
        """Which projects were given a private one."""
        table = self.projects
        rows = sa.select(table).where(self.owner(table) == id).order_by(table.project_id)
        return session.scalars(rows).all()

    def give(self, session: Session, id: str, project_id: str) -> None:
        """Let a project use a private one; raises Conflict where it may already."""
        row = {f"{self.name}_id": id, "project_id": project_id}
        try:
            session.execute(sa.insert(self.projects).values(row))
        except db_exception.DBDuplicateEntry:
            raise errors.Conflict(
                reason=f"{self.label} access for {id} / {project_id} combination already exists."
            ) from None

    def take(self, session: Session, id: str, project_id: str) -> None:
        """Let a project use a private one no more; raises NotFound where it may not anyway."""
        table = self.projects
        given = sa.delete(table).where(self.owner(table) == id, table.project_id == project_id)
        if not swap(session, given):
            raise errors.NotFound(resource=f"{self.label} access for", id=f"{id} / {project_id}")


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def collect(rows: Iterable[Any]) -> list[list[Any]]:
    """The columns of each offer and then its specs, from rows of :meth:`Offer.select`."""
    found: dict[str, list[Any]] = {}
    for *columns, key, value in rows:
        offer = found.setdefault(columns[0], [*columns, {}])
        if key is not None:
            offer[-1][key] = value
    return list(found.values())
