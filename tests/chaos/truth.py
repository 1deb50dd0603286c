"""What must hold when nothing is in flight: the database, the books and the back ends agree."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa

from fileshare.db import models, quotas
from fileshare.db.session import Session, Sessions
from fileshare.domain.lifecycle import ACCESS, SHARE
from fileshare.domain.statuses import IntentState, RulesStatus, RuleState, Status

UNSETTLED = (IntentState.OPEN, IntentState.PARKED)


@dataclasses.dataclass
class Truth:
    """The database read as a whole."""

    shares: list
    instances: list
    rules: list
    exports: list
    open_intents: list
    told: set[str]
    booked: dict
    counted: dict

    def by_status(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for share in self.shares:
            found[share.status] = found.get(share.status, 0) + 1
        return found


def read(sessions: Sessions) -> Truth:
    return sessions.run(_read)


def _read(session: Session) -> Truth:
    share, instance = models.Share, models.ShareInstance
    live = instance.deleted_at.is_(None)
    rules = sa.select(
        models.AccessMapping.share_instance_id,
        models.AccessMapping.state,
        models.AccessRule.id,
        models.AccessRule.access_to,
        models.AccessRule.denied_at,
    ).join(models.AccessRule, models.AccessRule.id == models.AccessMapping.access_id)
    exports = sa.select(models.ExportLocation.share_instance_id, models.ExportLocation.path)
    return Truth(
        shares=list(session.scalars(sa.select(share).where(share.deleted_at.is_(None)))),
        instances=list(session.scalars(sa.select(instance).where(live))),
        rules=list(session.execute(rules)),
        exports=list(session.execute(exports)),
        open_intents=list(
            session.scalars(sa.select(models.Intent).where(models.Intent.state.in_(UNSETTLED)))
        ),
        told=set(session.scalars(sa.select(models.Message.resource_id))),
        booked=quotas.booked(session),
        counted=quotas.recount(session),
    )


def number_of_open(session: Session) -> int:
    """How much work is promised."""
    promised = models.Intent.state.in_(UNSETTLED)
    return session.scalar(sa.select(sa.func.count(models.Intent.id)).where(promised))


def is_idle(sessions: Sessions) -> bool:
    """Whether no work is promised."""
    return sessions.run(number_of_open) == 0


def check(
    truth: Truth, held: dict[str, dict], *, all_active: bool = True, left_over: bool = False
) -> None:
    """Fail where anything is in transit, adrift, missing or left over.

    *all_active*: no rule is in error; *left_over*: a back end may keep what is gone.
    """
    assert truth.open_intents == []
    for row in (*truth.shares, *truth.instances):
        assert row.status in SHARE.settled, (row.id, row.status)
    for share in truth.shares:
        assert share.intent_id is None, share.id
        if share.status != Status.AVAILABLE:
            assert share.id in truth.told, f"nobody was told of {share.id} ({share.status})"
    for instance in truth.instances:
        assert instance.access_intent_id is None, instance.id
        assert instance.access_rules_status in ACCESS.settled, instance.id
    assert truth.booked == truth.counted
    known = {row.id for row in truth.instances}
    assert left_over or set(held) <= known, "left over on a back end"
    assert {row.share_instance_id for row in truth.exports} <= known, "an export of nothing"
    _check_back_ends(truth, held)
    if all_active:
        assert {rule.state for rule in truth.rules} <= {RuleState.ACTIVE}
        assert {row.access_rules_status for row in truth.instances} <= {RulesStatus.ACTIVE}


def _check_back_ends(truth: Truth, held: dict[str, dict]) -> None:
    sizes = {share.id: share.size for share in truth.shares}
    available = [row for row in truth.instances if row.status == Status.AVAILABLE]
    exported = {row.share_instance_id for row in truth.exports}
    for row in available:
        assert row.id in held, f"instance {row.id} is on no back end"
        assert held[row.id]["size"] == sizes[row.share_id]
        assert row.id in exported, f"instance {row.id} has no export"
        in_force = {rule["to"] for rule in held[row.id]["rules"]}
        mine = [rule for rule in truth.rules if rule.share_instance_id == row.id]
        wanted = {rule.access_to for rule in mine if rule.state == RuleState.ACTIVE}
        # The back end may have done what it then reported as failed.
        unsure = {rule.access_to for rule in mine if rule.state == RuleState.ERROR}
        assert wanted <= in_force <= wanted | unsure, f"rules of {row.id}"
