"""What a back end offers: one required interface and several optional ones.

A driver inherits :class:`Driver` and the capability classes that it implements; ``isinstance``
is then the exact answer to «can it?».  The docstring of each method is the contract, and
``drivers/conformance.py`` is the contract as tests: every driver inherits the suites of its
capabilities.

For every method: **a repeated call with the same arguments changes nothing and succeeds**,
because a call whose worker was killed is made again.  A call may raise
:class:`~fileshare.errors.DriverError` or a child of it and nothing else on purpose; any other
exception is a defect of the driver and is treated as a DriverError without user text.
"""

from __future__ import annotations

import abc
import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final, TypeVar

from oslo_config import cfg

from fileshare import errors
from fileshare.drivers.model import (
    AccessChange,
    AccessResult,
    BackendInfo,
    Export,
    Pool,
    ShareRef,
    SnapshotRef,
)

DEFECTS: Final = (Exception, SystemExit, asyncio.CancelledError)
"""What a call of a driver raises by mistake; the last two are meant to end a process or a task."""


class Driver(abc.ABC):
    """A storage back end; one object for each back end and process, used by many threads."""

    OPTS: ClassVar[Sequence[cfg.Opt]] = ()
    """Options of the back end's section, registered by the loader."""

    HANDLES_SHARE_SERVERS: ClassVar[frozenset[bool]] = frozenset({False})
    """The values of driver_handles_share_servers that this driver can work with."""

    def __init__(self, name: str, conf: cfg.ConfigOpts) -> None:
        self.name = name
        self.conf = conf[name]

    @abc.abstractmethod
    def setup(self) -> None:
        """Connect and make what the driver needs for itself.

        Called once before all else, and again after a failure until it succeeds.
        Raises BadConfiguration where waiting cannot help.
        """

    @abc.abstractmethod
    def check(self) -> None:
        """Raise where the back end cannot serve now; also the health check, so it is quick."""

    @abc.abstractmethod
    def info(self) -> BackendInfo:
        """What the back end says of itself."""

    @abc.abstractmethod
    def pools(self) -> list[Pool]:
        """The pools with their capacity as it is now; at least one."""

    @abc.abstractmethod
    def create(self, share: ShareRef) -> list[Export]:
        """Make the share, mountable by nobody, and return how it is exported.

        A share of this id that is there with the same size is finished and returned; with other
        properties: ShareExistsDifferently.  A half made one is completed.  A mount point name
        that another share has is refused: no path leads to two shares.
        """

    @abc.abstractmethod
    def delete(self, share: ShareRef) -> None:
        """Remove the share, its exports and its rules; one that is not there is fine."""

    @abc.abstractmethod
    def ensure(self, share: ShareRef) -> list[Export]:
        """Bring back what a restart of the back end may have lost, and return the exports.

        Changes nothing for a share that is as it should be.  Raises ShareLost where its data
        is gone.
        """

    @abc.abstractmethod
    def apply_access(self, share: ShareRef, change: AccessChange) -> AccessResult:
        """Make the rules of the share equal to ``change.rules``.

        One rule that cannot be applied gets an error in the result and does not keep the others
        from being applied.  Clients of rules that stay are never cut off meanwhile.

        Raises ShareLost where the share is not there, when nothing is left of its rules: should
        it turn up again, nobody is let in by them.
        """

    @abc.abstractmethod
    def instances(self) -> dict[str, int]:
        """Ids of the share instances on the back end with their sizes in GiB (for reconciling)."""

    def close(self) -> None:  # noqa: B027  (most drivers hold nothing)
        """Give back what the driver holds in this process; shares stay served."""


class Resizable(abc.ABC):
    """Shares can grow and shrink in place."""

    @abc.abstractmethod
    def extend(self, share: ShareRef, size: int) -> None:
        """Bring the share to *size* GiB; clients stay connected."""

    @abc.abstractmethod
    def shrink(self, share: ShareRef, size: int) -> None:
        """Bring the share to *size* GiB, or raise ShrinkWouldLoseData and leave it as it is."""


class MetadataUpdates(abc.ABC):
    """Metadata that users set on a share changes how the back end serves it."""

    @abc.abstractmethod
    def update_metadata(self, share: ShareRef, metadata: Mapping[str, str]) -> None:
        """Bring the share in line with *metadata*.

        These are all keys of the option driver_updatable_metadata that the share has now; what
        a key that is not among them had brought about stays.  A key that the driver does not
        know is passed over.
        """


class Usage(abc.ABC):
    """The back end tells how much its shares hold."""

    @abc.abstractmethod
    def used(self, ids: Collection[str]) -> Mapping[str, int]:
        """Bytes that each of these share instances holds; those that are lost are left out."""


class Snapshots(abc.ABC):
    """Point-in-time images of a share."""

    @abc.abstractmethod
    def create_snapshot(self, snapshot: SnapshotRef) -> str | None:
        """Take it; returns the provider location, if there is one to keep."""

    @abc.abstractmethod
    def delete_snapshot(self, snapshot: SnapshotRef) -> None:
        """Remove it; one that is not there is fine."""


class CloneFromSnapshot(abc.ABC):
    """New shares from a snapshot."""

    @abc.abstractmethod
    def create_from_snapshot(self, share: ShareRef, snapshot: SnapshotRef) -> list[Export]:
        """As :meth:`Driver.create`, with the snapshot's content; ``share.size`` may be larger."""


class Revertible(abc.ABC):
    """A share can go back to its newest snapshot."""

    @abc.abstractmethod
    def revert(self, snapshot: SnapshotRef) -> None:
        """Bring the share's content and size to the snapshot's; the snapshot stays."""


class MountableSnapshots(abc.ABC):
    """Snapshots can be mounted, read only."""

    @abc.abstractmethod
    def snapshot_exports(self, snapshot: SnapshotRef) -> list[Export]:
        """How the snapshot is exported."""

    @abc.abstractmethod
    def apply_snapshot_access(self, snapshot: SnapshotRef, change: AccessChange) -> AccessResult:
        """As :meth:`Driver.apply_access`; all rules are read only."""


CAPABILITIES: tuple[type, ...] = (
    Resizable,
    MetadataUpdates,
    Usage,
    Snapshots,
    CloneFromSnapshot,
    Revertible,
    MountableSnapshots,
)

Capability = TypeVar("Capability")


def require(driver: Driver, capability: type[Capability]) -> Capability:
    """The driver as *capability*; raises Unsupported where it has it not."""
    if not isinstance(driver, capability):
        raise errors.Unsupported(capability=capability.__name__)
    return driver


def capabilities(driver: Driver) -> frozenset[str]:
    """Names of the capability classes that the driver has."""
    return frozenset(cls.__name__ for cls in CAPABILITIES if isinstance(driver, cls))
