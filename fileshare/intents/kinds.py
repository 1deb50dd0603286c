"""The kinds of work, each with its typed payload and the verb that it carries out.

A payload is what the next daemon must know and cannot read from the resource.  It carries no
secret.  A new version of a payload keeps loading the previous one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from fileshare.domain.lifecycle import Verb, verb_of


@dataclass(frozen=True, slots=True)
class Work:
    """The root of all payloads; *event* names the verb in its lifecycle."""

    kind: ClassVar[str]
    event: ClassVar[str]
    version: ClassVar[int] = 1

    @classmethod
    def verb(cls) -> Verb:
        return verb_of(cls.event)

    def dump(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def load(cls, data: Mapping[str, Any]) -> Self:
        """From what was stored; keys that this version does not know are passed over."""
        fields = {field.name for field in dataclasses.fields(cls)}
        return cls(**{key: value for key, value in data.items() if key in fields})


@dataclass(frozen=True, slots=True)
class PlaceShare(Work):
    """Choose a pool for a new share.

    *attempted* are pools whose back end failed to make it, *failures* what each said;
    *any_zone*: the zones of the share's type do not count.  *waited_since* is when the first look
    found no reports at all (seconds since the epoch).
    """

    kind, event = "share.place", "share.create"
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)
    attempted: list[str] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)
    any_zone: bool = False
    waited_since: float | None = None


@dataclass(frozen=True, slots=True)
class CreateShare(Work):
    """Make the share on the back end that was chosen for it.

    *zone_id* is the zone that was asked for, should another pool have to be found; the other
    fields are those of the next :class:`PlaceShare`.
    """

    kind, event = "share.create", "share.create"
    hints: Mapping[str, str] = dataclasses.field(default_factory=dict)
    attempted: list[str] = dataclasses.field(default_factory=list)
    failures: list[str] = dataclasses.field(default_factory=list)
    any_zone: bool = False
    zone_id: str | None = None


@dataclass(frozen=True, slots=True)
class CheckExtend(Work):
    """Ask whether the share's pool has room for *size* GiB in all, and claim it.

    *waited_since* is when its back end was first found down (seconds since the epoch).
    """

    kind, event = "share.extend_check", "share.extend"
    size: int = 0
    waited_since: float | None = None


@dataclass(frozen=True, slots=True)
class ExtendShare(Work):
    """Bring the share to *size* GiB; *claimed* GiB of its pool were claimed for it."""

    kind, event = "share.extend", "share.extend"
    size: int = 0
    claimed: int = 0


@dataclass(frozen=True, slots=True)
class ShrinkShare(Work):
    """Bring the share down to *size* GiB."""

    kind, event = "share.shrink", "share.shrink"
    size: int = 0


@dataclass(frozen=True, slots=True)
class DeleteShare(Work):
    """Remove the share from its back end."""

    kind, event = "share.delete", "share.delete"


@dataclass(frozen=True, slots=True)
class DeferredDeleteShare(Work):
    """Remove the share, whose quota is free already, from its back end."""

    kind, event = "share.deferred_delete", "share.deferred_delete"


@dataclass(frozen=True, slots=True)
class ForceDeleteShare(Work):
    """Remove the share whatever its back end says."""

    kind, event = "share.force_delete", "share.force_delete"


@dataclass(frozen=True, slots=True)
class SyncAccess(Work):
    """Make the rules that the back end enforces equal to those of the instance."""

    kind, event = "access.sync", "access.sync"


@dataclass(frozen=True, slots=True)
class UpdateMetadata(Work):
    """Tell the back end of the metadata that the share has now."""

    kind, event = "share.update_metadata", "metadata.update"


@dataclass(frozen=True, slots=True)
class EnsureShares(Work):
    """Bring back what a restart of a back end may have lost, share by share.

    *fingerprint* is that of the back end's info for which this is done; empty: as it is when the
    work begins.  *after* is the last instance that was looked at.  *busy* are instances that a
    verb worked on then, and *rounds* says how often these were looked at again.

    *asked* says how often it was asked for again, as far as the walk knows.  All up to *until* is
    looked at once more when the last instance has been: *is_second* is true then.
    """

    kind, event = "backend.ensure", "backend.ensure"
    fingerprint: str = ""
    after: str = ""
    busy: list[str] = dataclasses.field(default_factory=list)
    rounds: int = 0
    asked: int = 0
    until: str = ""
    is_second: bool = False


@dataclass(frozen=True, slots=True)
class Reconcile(Work):
    """Compare a back end with the database; *repair* what is different."""

    kind, event = "backend.reconcile", "reconciliation.run"
    repair: bool = False


def _children(cls: type[Work]) -> list[type[Work]]:
    return [kind for child in cls.__subclasses__() for kind in (child, *_children(child))]


KINDS: dict[str, type[Work]] = {cls.kind: cls for cls in _children(Work)}
