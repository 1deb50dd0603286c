"""What must hold at every moment, looked at while the storm goes on.

A look is one snapshot of the database: what two statements of it see is of the same moment.
"""

from __future__ import annotations

import bisect
import dataclasses
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from fileshare.db import quotas
from fileshare.db.models import AccessMapping, AccessRule, Intent, Share, ShareInstance
from fileshare.db.session import Session
from fileshare.domain.statuses import TRANSITIONAL, RuleState, Status
from tests.chaos.storm.journal import Found
from tests.chaos.truth import UNSETTLED

Books = Mapping[tuple[str, str, str], int]


@dataclasses.dataclass(frozen=True)
class Sight:
    """One look, between the moments *start* and *end*.

    *orphans* are shares in transit or held, by what nobody works on any more; *shown* are rules
    that are shown as active: instance, rule and level.
    """

    start: float
    end: float
    booked: Books
    counted: Books
    orphans: list[tuple[str, str]]
    shown: list[tuple[str, str, str]]


def look(session: Session) -> Sight:
    if session.get_bind().dialect.name != "sqlite":  # whose transactions are alone
        session.execute(sa.text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
    start = time.time()
    return Sight(
        start=start,
        booked=quotas.booked(session),
        counted={key: used for key, used in quotas.recount(session).items() if used},
        orphans=[tuple(row) for row in session.execute(_ORPHANS)],
        shown=[tuple(row) for row in session.execute(_SHOWN)],
        end=time.time(),
    )


_ORPHANS = (
    sa.select(Share.id, Share.status)
    .outerjoin(Intent, Intent.id == Share.intent_id)
    .where(
        Share.deleted_at.is_(None),
        sa.or_(Share.status.in_(TRANSITIONAL), Share.intent_id.is_not(None)),
        sa.or_(Intent.id.is_(None), Intent.state.not_in(UNSETTLED)),
    )
)
_SHOWN = (
    sa.select(AccessMapping.share_instance_id, AccessRule.id, AccessRule.access_level)
    .join(AccessRule, AccessRule.id == AccessMapping.access_id)
    .join(ShareInstance, ShareInstance.id == AccessMapping.share_instance_id)
    .where(
        AccessMapping.state == RuleState.ACTIVE,
        AccessRule.denied_at.is_(None),
        ShareInstance.status == Status.AVAILABLE,
    )
)


def adrift(sights: Iterable[Sight]) -> Iterator[Found]:
    """Books that were not what a recount finds, and what was in transit with nobody at work."""
    for sight in sights:
        keys = sight.booked.keys() | sight.counted.keys()
        for key in sorted(keys):
            booked, counted = sight.booked.get(key, 0), sight.counted.get(key, 0)
            if booked != counted:
                yield None, f"{key}: {booked} were booked and {counted} taken at {sight.end:.3f}"
        for share, status in sight.orphans:
            yield share, f"was {status} at {sight.end:.3f} and nobody was at work"


def unenforced(
    sights: Iterable[Sight], records: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Rules that were shown as active while the back end did not enforce them: the instance, and
    what was shown.
    """
    tables: dict[str, list[tuple[float, frozenset[tuple[str, str]]]]] = {}
    for note in records:
        rules = (note["record"] or {}).get("rules", ())
        table = frozenset((rule["id"], rule["level"]) for rule in rules)
        tables.setdefault(note["id"], []).append((note["at"], table))
    for sight in sights:
        for instance, rule, level in sight.shown:
            history = tables.get(instance, [])
            first = bisect.bisect_right(history, sight.start, key=lambda each: each[0])
            last = bisect.bisect_right(history, sight.end, key=lambda each: each[0])
            if not any((rule, level) in table for _, table in history[max(0, first - 1) : last]):
                yield instance, f"rule {rule} ({level}) was shown as active at {sight.end:.3f}"
