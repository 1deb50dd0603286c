"""From rows to the frozen references that drivers see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fileshare import errors
from fileshare.db import shares, transitions, types
from fileshare.db.models import Share, ShareInstance
from fileshare.db.session import Session
from fileshare.domain.hosts import pool_of
from fileshare.drivers.model import Export, ShareRef


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
    held = transitions.read(session, share_id)
    return _subject(session, held.share, held.instance)


def of_instance(session: Session, instance_id: str) -> Subject:
    """The share of an instance; raises NotFound where it is gone."""
    row = shares.share_and_instance(session, instance_id)
    if row is None:
        raise errors.NotFound(resource="Share instance", id=instance_id)
    return _subject(session, *row)


def _subject(session: Session, share: Share, instance: ShareInstance) -> Subject:
    extra_specs = types.specs_of(session, instance.share_type_id)
    metadata = shares.metadata_of(session, [share.id]).get(share.id, {})
    return Subject(share, instance, make(share, instance, extra_specs, metadata))


def columns(export: Export) -> dict[str, object]:
    """An export as columns of the table of export locations."""
    return {
        "path": export.path,
        "is_admin_only": export.admin_only,
        "preferred": export.preferred,
        "extra": dict(export.metadata),
    }
