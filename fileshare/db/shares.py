"""Shares and their instances: reads and plain writes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import guards, locks, pairs, share_metadata, transitions, types
from fileshare.db.clock import now
from fileshare.db.models import (
    AccessMapping,
    AccessRule,
    AvailabilityZone,
    ExportLocation,
    Share,
    ShareInstance,
    ShareMetadata,
    ShareType,
)
from fileshare.db.query import ALL_ROWS, Scope, is_of_pattern, matches, paginate, same
from fileshare.db.session import Session, count, swap
from fileshare.db.steering import steered
from fileshare.domain.listing import Page


def _name_of(model: Any, id_column: Any) -> sa.ScalarSelect[Any]:
    """A name that is looked up for the rows of a page, and for none that is passed over."""
    return sa.select(model.name).where(model.id == id_column).correlate(Share).scalar_subquery()


COLUMNS: tuple[Any, ...] = (
    *(column for column in Share.__table__.columns if column.name != "intent_id"),
    _name_of(AvailabilityZone, Share.availability_zone_id).label("availability_zone"),
    _name_of(ShareType, Share.share_type_id).label("share_type_name"),
    pairs.of(
        ShareMetadata.key, ShareMetadata.value, ShareMetadata.share_id == Share.id, Share
    ).label("metadata"),
)
"""What views of shares show: columns, not object graphs."""

BRIEF: tuple[Any, ...] = (Share.id, Share.project_id, Share.display_name)
"""What brief lists show."""

SORT_KEYS: Mapping[str, Any] = {
    **{
        name: getattr(Share, name)
        for name in (
            "id",
            "status",
            "size",
            "host",
            "share_proto",
            "project_id",
            "user_id",
            "is_public",
            "display_name",
            "display_description",
            "availability_zone_id",
            "share_type_id",
            "share_network_id",
            "share_server_id",
            "share_group_id",
            "snapshot_id",
            "created_at",
            "updated_at",
        )
    },
    "name": Share.display_name,
    "share_type": Share.share_type_id,
    "availability_zone": Share.availability_zone_id,
    "snapshot": Share.snapshot_id,
    "share_network": Share.share_network_id,
}

EQUALS: Mapping[str, Any] = {
    "name": Share.display_name,
    "description": Share.display_description,
    "status": Share.status,
    "host": Share.host,
    "project_id": Share.project_id,
    "share_server_id": Share.share_server_id,
    "share_type_id": Share.share_type_id,
    "snapshot_id": Share.snapshot_id,
    "share_network_id": Share.share_network_id,
    "share_group_id": Share.share_group_id,
    "is_soft_deleted": Share.is_soft_deleted,
    "mount_point_name": Share.mount_point_name,
    "encryption_key_ref": Share.encryption_key_ref,
}
_TEXTS = frozenset({"name", "description", "mount_point_name"})
MATCHES: Mapping[str, Any] = {
    "name~": Share.display_name,
    "description~": Share.display_description,
}


@dataclass(frozen=True, slots=True)
class Found:
    """One page of shares; *total* is the number on all pages, where it was asked for."""

    rows: Sequence[Any]
    total: int | None = None


def find(
    session: Session,
    scope: Scope,
    filters: Mapping[str, Any],
    page: Page,
    *,
    public: bool = False,
    columns: Sequence[Any] = COLUMNS,
) -> Found:
    """Shares of *scope* (and, with *public*, those that everybody may see) that pass *filters*.

    Raises InvalidInput for an unknown sort key; filters are checked by the caller.
    """
    parts = _parts(scope, public=public)
    wanted = _Wanted.of(session, filters)
    statement = sa.select(*columns)
    if len(parts) > 1 or page.offset:
        ids = _ids(parts, wanted, page)
        statement = statement.join(ids, ids.c.id == Share.id)
        statement = paginate(statement, replace(page, marker=None, offset=0), SORT_KEYS, Share.id)
    else:
        statement = wanted.of_part(statement, parts[0], page)
    try:
        rows = session.connection().execute(statement).all()
    except (db_exception.DBError, sa.exc.DBAPIError) as error:
        given = [name for name in MATCHES if name in filters]
        if not given or not is_of_pattern(error):
            raise
        reason = "The database does not take it as a regular expression."
        raise errors.InvalidInput(field=given[0], reason=reason) from None
    return Found(rows, _number(session, parts, wanted) if page.with_count else None)


class _Part(NamedTuple):
    """Some of the shares that a caller may see, and the column that has one value in them."""

    where: sa.ColumnElement[bool]
    column: str = ""


def _parts(scope: Scope, *, public: bool) -> list[_Part]:
    """What a list is made of; no share is in two parts."""
    if scope.project_id is None:
        return [_Part(sa.true())]
    mine = _Part(scope.clause(Share.project_id), "project_id")
    if not public:
        return [mine]
    others = sa.and_(Share.is_public == sa.true(), Share.project_id != scope.project_id)
    return [mine, _Part(others, "is_public")]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The filters of a list as clauses.

    *equal* are the columns that are compared with one value each; None where a filter looks at
    rows of other tables, which leave so little that the server must be free to begin there.
    """

    clauses: Sequence[sa.ColumnElement[bool]]
    equal: frozenset[str] | None

    @classmethod
    def of(cls, session: Session, filters: Mapping[str, Any]) -> _Wanted:
        filters = dict(filters)
        if specs := filters.pop("extra_specs", None):
            filters["share_type_ids"] = types.with_specs(session, specs)
        clauses: list[sa.ColumnElement[bool]] = [Share.deleted_at.is_(None)]
        clauses += [_filter(name, value) for name, value in filters.items()]
        equal = {EQUALS[name].key for name in filters if name in EQUALS}
        narrow = any(name in _FILTERS and name not in _WIDE for name in filters)
        return cls(clauses, None if narrow else frozenset({"deleted_at", *equal}))

    def of_part(self, statement: sa.Select[Any], part: _Part, page: Page) -> sa.Select[Any]:
        """*statement* for the page of *part*, read by the index that has it in order."""
        statement = statement.where(part.where, *self.clauses)
        if self.equal is not None:
            key = getattr(SORT_KEYS.get(page.sort_key), "key", "")
            statement = steered(statement, Share, self.equal | {part.column}, key)
        return paginate(statement, page, SORT_KEYS, Share.id)


def _ids(parts: Sequence[_Part], wanted: _Wanted, page: Page) -> sa.Subquery:
    """Ids of the page from *parts*, which do not meet.

    Each part has an index in the order of the list, and no more of it is read than the page
    needs; what is passed over is not read any further than its id.
    """
    chosen = sa.select(Share.id)
    if len(parts) == 1:
        return wanted.of_part(chosen, parts[0], page).subquery()
    offset = 0 if page.marker else page.offset
    limit = None if page.limit is None else min(page.limit + offset, ALL_ROWS)
    most = replace(page, limit=limit, offset=0)
    heads = [
        wanted.of_part(chosen, part, most)
        .add_columns(SORT_KEYS[page.sort_key].label("place"))
        .subquery()
        for part in parts
    ]
    merged = sa.union_all(*(sa.select(head.c.id, head.c.place) for head in heads)).subquery()
    rest = replace(page, marker=None, offset=offset, sort_key="place")
    return paginate(
        sa.select(merged.c.id), rest, {"place": merged.c.place}, merged.c.id
    ).subquery()


def _number(session: Session, parts: Sequence[_Part], wanted: _Wanted) -> int:
    chosen = sa.select(sa.func.count()).select_from(Share).where(*wanted.clauses)
    counts = [chosen.where(part.where).scalar_subquery() for part in parts]
    return int(session.scalars(sa.select(functools.reduce(operator.add, counts))).one())


def _filter(name: str, value: Any) -> sa.ColumnElement[bool]:
    if name in _TEXTS and isinstance(value, str):
        return same(EQUALS[name], value)
    if name in EQUALS:
        return cast("sa.ColumnElement[bool]", EQUALS[name] == value)
    if name in MATCHES:
        return matches(MATCHES[name], value)
    return cast("sa.ColumnElement[bool]", _FILTERS[name](value))


def _with_metadata(pairs: Mapping[str, str]) -> sa.ColumnElement[bool]:
    mine = sa.select(ShareMetadata.key).where(ShareMetadata.share_id == Share.id)
    there = (
        sa.exists(mine.where(same(ShareMetadata.key, key), same(ShareMetadata.value, value)))
        for key, value in pairs.items()
    )
    return sa.and_(sa.true(), *there)


def _with_export(where: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return Share.id.in_(
        sa.select(ShareInstance.share_id)
        .join(ExportLocation, ExportLocation.share_instance_id == ShareInstance.id)
        .where(where)
    )


_FILTERS: Mapping[str, Any] = {
    "metadata": _with_metadata,
    "share_type_ids": Share.share_type_id.in_,
    "export_location_id": lambda value: _with_export(ExportLocation.id == value),
    "export_location_path": lambda value: _with_export(ExportLocation.path == value),
    "availability_zone": lambda value: Share.availability_zone_id.in_(
        sa.select(AvailabilityZone.id).where(
            sa.or_(AvailabilityZone.id == value, AvailabilityZone.name == value)
        )
    ),
    "status_not_in": Share.status.not_in,
}
_WIDE = frozenset({"status_not_in", "availability_zone"})


def get(session: Session, scope: Scope, share_id: str, *, deferred: bool = False) -> Any:
    """The columns of one share that the caller may see; raises NotFound.

    With *deferred* also one whose deletion is deferred, which is for administrators otherwise.
    """
    mine = sa.select(*COLUMNS).where(
        Share.id == share_id,
        Share.deleted_at.is_(None),
        sa.or_(scope.clause(Share.project_id), Share.is_public == sa.true()),
        sa.true() if deferred else scope.in_sight(Share.status),
    )
    row = session.connection().execute(mine).one_or_none()
    if row is None:
        raise errors.NotFound(resource="Share", id=share_id)
    return row


def own(session: Session, scope: Scope, share_id: str) -> Any:
    """The columns of a share that the caller may change.

    Raises NotFound, and Forbidden for a public one of another project.
    """
    row = get(session, scope, share_id)
    if scope.project_id not in {None, row.project_id}:
        raise errors.Forbidden(rule="share:update")
    return row


def present(session: Session, scope: Scope, share_ids: Collection[str]) -> dict[str, str]:
    """Which of *share_ids* are shares that the caller may see, with their projects."""
    visible = sa.or_(scope.clause(Share.project_id), Share.is_public == sa.true())
    rows = session.execute(
        sa.select(Share.id, Share.project_id).where(
            Share.id.in_(share_ids),
            Share.deleted_at.is_(None),
            visible,
            scope.in_sight(Share.status),
        )
    )
    return {row.id: row.project_id for row in rows}


def update(session: Session, scope: Scope, share_id: str, values: Mapping[str, Any]) -> None:
    """Write columns that no verb owns; raises NotFound, Forbidden, and Refused in the bin."""
    own(session, scope, share_id)
    written = swap(
        session,
        guards.share_in_use(share_id).values(**values, updated_at=now()),
    )
    if not written:
        raise transitions.in_the_bin(share_id)


def drop_children(session: Session, share_id: str) -> None:
    """Remove exports, rules, locks and what other shares keep of a share that is gone."""
    locks.forget_share(session, share_id)
    share_metadata.unname(session, share_id)
    instances = sa.select(ShareInstance.id).where(ShareInstance.share_id == share_id)
    for model in (ExportLocation, AccessMapping):
        where = model.share_instance_id.in_(instances)
        count(session, sa.delete(model).where(where))
    count(session, sa.delete(AccessRule).where(AccessRule.share_id == share_id))
