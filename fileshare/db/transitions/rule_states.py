"""Statuses of access rules: on each instance, and what an instance and its share show of all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa

from fileshare import errors
from fileshare.db import guards
from fileshare.db.models import AccessMapping, AccessRule, Intent, Share, ShareInstance, new_id
from fileshare.db.query import ALL, Scope
from fileshare.db.session import Session, count, swap
from fileshare.db.transitions.held import Held, hold, in_the_bin, read, refuse_foreign
from fileshare.domain.statuses import TRANSITIONAL, RulesStatus, RuleState, Status

GOING = (RuleState.QUEUED_TO_DENY, RuleState.DENYING)
NEW = (RuleState.QUEUED_TO_APPLY, RuleState.APPLYING)
PENDING = (*NEW, RuleState.QUEUED_TO_UPDATE, RuleState.UPDATING)


# -- all rules of an instance, and of a share ------------------------------------------------


def change(
    session: Session, share_id: str, intent_id: str, scope: Scope = ALL, *, allow_error: bool
) -> Held:
    """Announce a change of the share's access rules on each of its instances.

    This touches the parent rows that rules hang on: no rule is made on a share that is being
    deleted.  Afterwards ``access_intent_id`` of an instance is *intent_id*, or that of the
    intent that is open already and will see the change.  Raises NotFound, Forbidden for a public
    share of another project, Refused in the recycle bin, and Busy.
    """
    # The share's row is held before its instances', and shows what all of them will.
    count(session, guards.share(share_id).values(access_rules_status=RulesStatus.SYNCING))
    placed = ShareInstance.host.is_not(None)
    refused = TRANSITIONAL if allow_error else TRANSITIONAL | {Status.ERROR}
    touched = count(
        session,
        guards.instances(share_id, placed, ShareInstance.status.not_in(refused)).values(
            access_version=ShareInstance.access_version + 1,
            access_rules_status=RulesStatus.SYNCING,
            access_intent_id=sa.func.coalesce(ShareInstance.access_intent_id, intent_id),
        ),
    )
    held = read(session, share_id)
    refuse_foreign(held.share, scope, rule="share:update")
    if held.share.is_soft_deleted:
        raise in_the_bin(share_id)
    if touched != len(held.instances):
        raise errors.Busy(
            resource="Share",
            id=share_id,
            reason="its access rules cannot be changed while an instance is "
            + held.instance.status,
        )
    return held


def require(session: Session, instance_id: str, intent_id: str) -> bool:
    """Let *intent_id* bring the rules of an instance in line; False where one does already."""
    idle = ShareInstance.access_intent_id.is_(None)
    placed = ShareInstance.host.is_not(None)
    settled = ShareInstance.status.not_in(TRANSITIONAL)
    return swap(
        session,
        guards.instance(instance_id, idle, placed, settled).values(
            access_version=ShareInstance.access_version + 1,
            access_rules_status=RulesStatus.SYNCING,
            access_intent_id=intent_id,
        ),
    )


def settle(session: Session, intent: Intent, status: str, version: int | None) -> bool:
    """End the work of *intent* on the rules of its instance in *status*.

    False where the rules have changed since *version*, or the intent does not hold them.
    """
    hold(session, intent.share_id or "")
    same = sa.true() if version is None else ShareInstance.access_version == version
    settled = swap(
        session,
        sa.update(ShareInstance)
        .where(
            ShareInstance.id == intent.resource_id,
            ShareInstance.access_intent_id == intent.id,
            same,
        )
        .values(access_rules_status=status, access_intent_id=None),
    )
    if settled:
        show(session, intent.share_id or "")
    return settled


def show(session: Session, share_id: str) -> None:
    """Bring the share's aggregate over its instances' rules up to date."""
    worst = (
        sa.select(
            sa.case(
                (_instances_with(share_id, RulesStatus.ERROR), RulesStatus.ERROR),
                (_instances_with(share_id, RulesStatus.SYNCING), RulesStatus.SYNCING),
                else_=RulesStatus.ACTIVE,
            )
        )
    ).scalar_subquery()
    count(
        session,
        sa.update(Share).where(Share.id == share_id).values(access_rules_status=worst),
    )


def _instances_with(share_id: str, status: str) -> sa.ColumnElement[bool]:
    return sa.exists(
        sa.select(ShareInstance.id).where(
            ShareInstance.share_id == share_id,
            ShareInstance.deleted_at.is_(None),
            ShareInstance.access_rules_status == status,
        )
    )


# -- one rule on an instance -----------------------------------------------------------------


def queue(session: Session, access_id: str, instance_ids: Collection[str]) -> None:
    """Queue a new rule on each instance."""
    new = {"access_id": access_id, "state": RuleState.QUEUED_TO_APPLY}
    session.execute(
        sa.insert(AccessMapping),
        [{"id": new_id(), "share_instance_id": id, **new} for id in instance_ids],
    )


def queue_denial(session: Session, access_id: str) -> None:
    """Queue the removal of a rule on all its instances; the caller has marked it."""
    count(session, _on_all(access_id).values(state=RuleState.QUEUED_TO_DENY, error=None))


def queue_update(session: Session, access_id: str) -> None:
    """Queue a rule that has changed; where it may not be in force yet, to be applied."""
    again = AccessMapping.state.in_((*NEW, RuleState.ERROR))
    state = sa.case((again, RuleState.QUEUED_TO_APPLY), else_=RuleState.QUEUED_TO_UPDATE)
    count(session, _on_all(access_id).values(state=state, error=None))


def _on_all(access_id: str) -> sa.Update:
    return sa.update(AccessMapping).where(AccessMapping.access_id == access_id)


def activate(session: Session, mapping_ids: Sequence[str], state: str, level: str) -> None:
    """Show rules in force that are in *state* still, and of the *level* that was applied."""
    same_level = sa.exists(
        sa.select(AccessRule.id).where(
            AccessRule.id == AccessMapping.access_id, AccessRule.access_level == level
        )
    )
    count(
        session,
        sa.update(AccessMapping)
        .where(AccessMapping.id.in_(mapping_ids), AccessMapping.state == state, same_level)
        .values(state=RuleState.ACTIVE, error=None),
    )


def fail(session: Session, failed: Mapping[str, str], *, denials: bool = False) -> None:
    """Put rules in error, with a text for each mapping; *denials*: also those that were going."""
    by_text: dict[str, list[str]] = {}
    for mapping_id, text in failed.items():
        by_text.setdefault(text, []).append(mapping_id)
    there = sa.true() if denials else AccessMapping.state.not_in(GOING)
    for text, ids in by_text.items():
        _fail(session, text, AccessMapping.id.in_(ids), there)


def fail_queued(session: Session, instance_id: str, text: str) -> None:
    """Put every rule of an instance that waits for the back end in error."""
    mine = AccessMapping.share_instance_id == instance_id
    _fail(session, text, mine, AccessMapping.state.in_((*PENDING, *GOING)))


def _fail(session: Session, text: str, *where: sa.ColumnElement[bool]) -> None:
    failed = {"state": RuleState.ERROR, "error": text}
    count(session, sa.update(AccessMapping).where(*where).values(**failed))
