"""Places for data: one directory for each share, with a size that is enforced or only kept.

A volume's directory holds ``data``, which is what clients see.  Where the volume must be mounted
first, ``data`` is missing until then, so that a lost mount can never be taken for an empty share.
"""

from __future__ import annotations

import abc
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from oslo_concurrency import processutils

from fileshare.drivers.names import checked_id, checked_path
from fileshare.privileged import btrfs, mounts

GIB = 1024**3

DATA = "data"

PRIVATE = 0o700
"""Mode of what lies above shares: users of this machine reach none; Ganesha is root."""


class Volumes(abc.ABC):
    """Volumes under the directory *top*; every method may be called again."""

    enforces_size = False

    def __init__(self, top: Path, mode: int) -> None:
        self.top = top
        self._mode = mode

    def setup(self) -> None:
        """Make the directories."""
        checked_path(str(self.top))
        keep_private(self.top / "volumes")

    def source(self, id: str) -> Path:
        """Where the volume is kept."""
        return self.top / "volumes" / checked_id(id)

    def exists(self, id: str) -> bool:
        """Whether the volume is there, complete."""
        return (self.source(id) / DATA).is_dir()

    @abc.abstractmethod
    def create(self, id: str, size: int) -> None:
        """Make an empty volume of *size* GiB, or finish a half made one."""

    @abc.abstractmethod
    def delete(self, id: str) -> None:
        """Remove the volume with its data; one that is not there is fine."""

    @abc.abstractmethod
    def open(self, id: str) -> Path:
        """Mount the volume where that is needed; returns the directory that clients see."""

    @abc.abstractmethod
    def close(self, id: str) -> None:
        """Undo :meth:`open`."""

    @abc.abstractmethod
    def resize(self, id: str, size: int) -> None:
        """Let the volume hold *size* GiB, whatever it holds now."""

    @abc.abstractmethod
    def used(self, id: str) -> int:
        """Bytes that the volume holds."""

    @abc.abstractmethod
    def used_each(self, ids: Iterable[str]) -> dict[str, int]:
        """Bytes that each of these volumes holds; those that are not there are left out."""

    def _make_data(self, id: str) -> None:
        """The last step of making a volume: until then it does not exist."""
        if not self.exists(id):
            mounts.make_directory(str(self.source(id) / f".{DATA}"), self._mode)
            mounts.rename(str(self.source(id) / f".{DATA}"), str(self.source(id) / DATA))


class Directories(Volumes):
    """Plain directories on any file system; nothing keeps a share within its size."""

    def create(self, id: str, size: int) -> None:
        """A directory."""
        del size
        mounts.make_directory(str(self.source(id)), 0o711)
        self._make_data(id)

    def delete(self, id: str) -> None:
        """Out of sight first, since removing many files takes long."""
        gone = self.source(id).with_suffix(".deleted")
        mounts.remove_tree(str(gone))
        if self.source(id).exists():
            mounts.rename(str(self.source(id)), str(gone))
            mounts.remove_tree(str(gone))

    def open(self, id: str) -> Path:
        """As it is."""
        return self.source(id) / DATA

    def close(self, id: str) -> None:
        """Nothing to undo."""

    def resize(self, id: str, size: int) -> None:
        """Nothing to set."""

    def used(self, id: str) -> int:
        """What the files take."""
        return mounts.tree_size(str(self.source(id)))

    def used_each(self, ids: Iterable[str]) -> dict[str, int]:
        """One after the other."""
        found = {}
        for id in ids:
            try:
                found[id] = self.used(id)
            except processutils.ProcessExecutionError:
                if self.exists(id):
                    raise
        return found


class Subvolumes(Volumes):
    """Btrfs subvolumes with quota groups; each has a mount of its own, as Ganesha wants it."""

    enforces_size = True

    def __init__(self, top: Path, mode: int, mount_points: Path) -> None:
        super().__init__(top, mode)
        self._mount_points = mount_points

    def setup(self) -> None:
        """Also turn quota on, and let servers in mount namespaces see later mounts."""
        super().setup()
        keep_private(self.top / "snapshots")
        btrfs.enable_quota(str(self.top))
        btrfs.clear_stale(str(self.top))
        keep_private(self._mount_points)
        mounts.share_propagation(str(self._mount_points))

    def create(self, id: str, size: int) -> None:
        """A subvolume with its limit."""
        path = self.source(id)
        if not btrfs.is_subvolume(str(path)):
            btrfs.create_subvolume(str(path))
        self.resize(id, size)
        self._make_data(id)

    def delete(self, id: str) -> None:
        """Unmount and remove."""
        self.close(id)
        btrfs.delete_subvolume(str(self.source(id)), str(self.top))

    def open(self, id: str) -> Path:
        """A bind mount."""
        return self._open(id, self.source(id))

    def close(self, id: str) -> None:
        """Unmount."""
        point = str(self._mount_point(id))
        mounts.unmount(point)
        mounts.remove_directory(point)

    def resize(self, id: str, size: int) -> None:
        """Set the limit of the quota group."""
        btrfs.limit(str(self.source(id)), str(self.top), size * GIB)

    def used(self, id: str) -> int:
        """What the quota group counts."""
        return btrfs.used(str(self.source(id)))

    def used_each(self, ids: Iterable[str]) -> dict[str, int]:
        """All at once."""
        paths = {str(self.source(id)): id for id in ids}
        found = btrfs.used_each(list(paths), str(self.top))
        return {paths[path]: number for path, number in found.items()}

    def snapshot(self, id: str) -> Path:
        """Where the snapshot *id* is kept."""
        return self.top / "snapshots" / checked_id(id)

    def has_snapshot(self, id: str) -> bool:
        """Whether the snapshot is there."""
        return btrfs.is_subvolume(str(self.snapshot(id)))

    def take(self, id: str, snapshot_id: str) -> None:
        """Keep what the volume holds now."""
        if not self.has_snapshot(snapshot_id):
            source, target = str(self.source(id)), str(self.snapshot(snapshot_id))
            btrfs.snapshot(source, target, read_only=True)

    def drop(self, snapshot_id: str) -> None:
        """Remove a snapshot; one that is not there is fine."""
        self.close(snapshot_id)
        btrfs.delete_subvolume(str(self.snapshot(snapshot_id)), str(self.top))

    def open_snapshot(self, snapshot_id: str) -> Path:
        """As :meth:`open`."""
        return self._open(snapshot_id, self.snapshot(snapshot_id))

    def clone(self, id: str, size: int, snapshot_id: str) -> None:
        """A volume that begins with what the snapshot holds, made once."""
        if not btrfs.is_subvolume(str(self.source(id))):
            source, target = str(self.snapshot(snapshot_id)), str(self.source(id))
            btrfs.snapshot(source, target, read_only=False)
        self.resize(id, size)

    def revert(self, id: str, size: int, snapshot_id: str) -> None:
        """Exchange the volume, closed before, for a copy of the snapshot, all at once."""
        other = str(self.top / "volumes" / f"{checked_id(id)}.revert")
        btrfs.delete_subvolume(other, str(self.top))
        btrfs.snapshot(str(self.snapshot(snapshot_id)), other, read_only=False)
        self.close(id)
        mounts.exchange(other, str(self.source(id)))
        self.resize(id, size)
        btrfs.delete_subvolume(other, str(self.top))

    def _open(self, id: str, source: Path) -> Path:
        point = self._mount_point(id)
        if not mounts.is_mounted(str(point)):
            mounts.make_directory(str(point), PRIVATE)
            mounts.bind(str(source), str(point))
        return point / DATA

    def _mount_point(self, id: str) -> Path:
        return self._mount_points / checked_id(id)


def keep_private(path: Path) -> None:
    """Make a directory that this process and root alone look into."""
    mounts.make_directory(str(path), PRIVATE, os.geteuid())


def capacity(path: Path) -> tuple[float, float]:
    """Total and free GiB of the file system that holds *path*."""
    usage = shutil.disk_usage(path)
    return usage.total / GIB, usage.free / GIB
