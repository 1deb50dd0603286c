"""Subvolumes, snapshots and quota groups of btrfs.

Failures are ``ProcessExecutionError``.  Limits are set on ``0/ID`` at the top level: when a
subvolume is over its limit, the form that names its path fails itself for want of space.
"""

from __future__ import annotations

import os

from oslo_concurrency import processutils

from fileshare.privileged import privileged

SUBVOLUME_INODE = 256


def is_subvolume(path: str) -> bool:
    """Whether *path*, on btrfs, is the root of a subvolume (needs no privilege)."""
    try:
        return os.lstat(path).st_ino == SUBVOLUME_INODE
    except FileNotFoundError:
        return False


def _btrfs(*arguments: str) -> str:
    output, _ = processutils.execute("btrfs", *arguments)
    return str(output)


@privileged
def make_filesystem(image: str) -> None:
    """Format a file."""
    processutils.execute("mkfs.btrfs", "-q", "-f", image)


@privileged
def enable_quota(top: str) -> None:
    """Turn quota groups on; a second time is fine."""
    _btrfs("quota", "enable", top)


@privileged
def create_subvolume(path: str) -> None:
    """Make an empty subvolume."""
    _btrfs("subvolume", "create", path)


@privileged
def snapshot(source: str, target: str, read_only: bool) -> None:
    """Make *target* a snapshot of *source*."""
    flags = ["-r"] if read_only else []
    _btrfs("subvolume", "snapshot", *flags, source, target)


@privileged
def delete_subvolume(path: str, top: str) -> None:
    """Remove a subvolume and its quota group; one that is not there is fine."""
    if not is_subvolume(path):
        return
    group = f"0/{_id(path)}"
    _btrfs("subvolume", "delete", path)
    # The kernel refuses while it still cleans up; clear_stale takes the rest at the next start.
    processutils.execute("btrfs", "qgroup", "destroy", group, top, check_exit_code=False)


@privileged
def clear_stale(top: str) -> None:
    """Remove quota groups of subvolumes that are gone, as far as the kernel lets go of them."""
    processutils.execute("btrfs", "qgroup", "clear-stale", top, check_exit_code=False)


@privileged
def limit(path: str, top: str, size: int) -> None:
    """Let the subvolume refer to at most *size* bytes."""
    _btrfs("qgroup", "limit", str(size), f"0/{_id(path)}", top)


@privileged
def used(path: str) -> int:
    """Bytes that the subvolume refers to, with what is not on disk yet."""
    group = f"0/{_id(path)}"
    for line in _btrfs("qgroup", "show", "--raw", "--sync", "-f", path).splitlines():
        cells = line.split()
        if cells and cells[0] == group:
            return int(cells[1])
    return 0


def _id(path: str) -> int:
    return int(_btrfs("inspect-internal", "rootid", path))
