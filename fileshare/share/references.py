"""From rows to the frozen references that drivers see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from fileshare.db import access, placements
from fileshare.db.access import RuleOnInstance
from fileshare.db.models import Share, ShareInstance
from fileshare.db.placements import Placed
from fileshare.db.session import Session
from fileshare.domain import access as domain_access
from fileshare.domain.hosts import pool_of
from fileshare.drivers.model import AccessRule, Export, ShareRef
from fileshare.intents.job import Job
from fileshare.share import answers


class Subject(NamedTuple):
    """What a handler works on: the rows as they were read, and the driver's reference."""

    share: Share
    instance: ShareInstance
    ref: ShareRef


def make(
    share: Share,
    instance: ShareInstance,
    extra_specs: Mapping[str, str],
    metadata: Mapping[str, str],
    exports: tuple[Export, ...] = (),
) -> ShareRef:
    return ShareRef(
        id=instance.id,
        share_id=share.id,
        size=share.size,
        protocol=share.share_proto,
        project_id=share.project_id,
        pool=pool_of(instance.host) if instance.host else None,
        name=share.display_name,
        mount_point_name=share.mount_point_name,
        extra_specs=extra_specs,
        metadata=metadata,
        exports=exports,
    )


def subject(session: Session, share_id: str) -> Subject:
    """The share of an intent; raises NotFound where it is gone."""
    return _subject(placements.read(session, share_id))


def of_job(session: Session, job: Job[Any]) -> Subject:
    """The share that a job is about; raises NotFound where it is gone."""
    return subject(session, job.resource_id)


def of_instance(session: Session, instance_id: str) -> Subject:
    """The share of an instance; raises NotFound where it is gone."""
    return _subject(placements.of_instance(session, instance_id))


def _subject(placed: Placed) -> Subject:
    ref = make(placed.share, placed.instance, placed.extra_specs, placed.metadata)
    return Subject(placed.share, placed.instance, ref)


_LONGEST_PATH: Final = 2000


def exports(made: Iterable[Export]) -> list[dict[str, object]]:
    """A driver's answer as rows of the table of export locations.

    Raises ValueError or another error of Python's where it cannot be stored: read it where such
    are the driver's.
    """
    return [_columns(export) for export in made]


def _columns(export: Export) -> dict[str, object]:
    if not isinstance(export.path, str) or not 0 < len(export.path) <= _LONGEST_PATH:
        raise ValueError("An export has no path, or one that is too long.")
    return {
        "path": answers.text(export.path),
        "is_admin_only": bool(export.admin_only),
        "preferred": bool(export.preferred),
        "extra": answers.document(dict(export.metadata)),
    }


def access_rule(rule: RuleOnInstance, instance: ShareInstance) -> AccessRule:
    """A rule as the driver of *instance* is told of it."""
    read_only = instance.cast_rules_to_readonly
    level = domain_access.READ_ONLY if read_only else rule.access_level
    to = domain_access.for_driver(rule.access_type, rule.access_to)
    return AccessRule(rule.id, rule.access_type, to, level, rule.access_key)


def wanted(session: Session, instance: ShareInstance) -> tuple[AccessRule, ...]:
    """All rules that the back end must enforce; those that were denied are not among them.

    Rules that wait for their turn are: another worker may have applied them just now.
    """
    rules = access.on_instance(session, instance.id)
    return tuple(access_rule(rule, instance) for rule in rules if not rule.is_denied)
