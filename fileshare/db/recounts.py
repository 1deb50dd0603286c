"""Comparing what is booked of the quotas with what is there, and making it right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa

from fileshare.db import quotas
from fileshare.db.models import Intent, QuotaUsage
from fileshare.db.session import Session, count
from fileshare.domain.statuses import IntentState

Key = tuple[str, str, str]  # project, scope, resource

_TRIES = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """A usage row that does not hold what there is."""

    project_id: str
    scope: str
    resource: str
    booked: int
    counted: int


class Unstable(Exception):
    """Work was finished again and again while it was counted."""


def suspects(session: Session, project_id: str | None = None) -> list[str]:
    """Projects (of all, or only the one) that seem to be wrong, while work goes on."""
    wrong = _differ(quotas.booked(session, project_id), quotas.recount(session, project_id))
    return sorted({item.project_id for item in wrong})


def _differ(booked: Mapping[Key, int], counted: Mapping[Key, int]) -> list[Difference]:
    return [
        Difference(*key, booked.get(key, 0), counted.get(key, 0))
        for key in sorted({*booked, *counted})
        if booked.get(key, 0) != counted.get(key, 0)
    ]


def _recount(session: Session, project_id: str) -> dict[Key, int]:
    """What there is.

    Shares and open work are two questions.  Work that is done in between is in neither answer;
    that shows, because the same work is not open before and after.
    """
    for _ in range(_TRIES):
        before = _open_work(session, project_id)
        found = quotas.recount(session, project_id)
        if _open_work(session, project_id) == before:
            return found
    raise Unstable


def _open_work(session: Session, project_id: str) -> set[str]:
    open_ = Intent.state.in_((IntentState.OPEN, IntentState.PARKED))
    return set(session.scalars(sa.select(Intent.id).where(Intent.project_id == project_id, open_)))


def correct(session: Session, project_id: str) -> list[Difference]:
    """Make the usage of a project right; what was wrong.  Raises Unstable.

    Its rows are held: who books waits meanwhile, and adds to what is right then.
    """
    wrong = _differ(quotas.booked(session, project_id), quotas.recount(session, project_id))
    if not wrong:
        return []
    quotas.hold(session, project_id, [(item.scope, item.resource, 0) for item in wrong])
    rows = session.execute(
        sa.select(QuotaUsage.scope, QuotaUsage.resource, QuotaUsage.used)
        .where(QuotaUsage.project_id == project_id)
        .order_by(QuotaUsage.scope, QuotaUsage.resource)
        .with_for_update()
    )
    held = {(project_id, scope, name): used for scope, name, used in rows}
    # Rows that came since are those of others, and right.
    counted = {key: number for key, number in _recount(session, project_id).items() if key in held}
    wrong = _differ(held, counted)
    for item in wrong:
        row = {"project_id": project_id, "scope": item.scope, "resource": item.resource}
        count(session, sa.update(QuotaUsage).filter_by(**row).values(used=item.counted))
    return wrong
