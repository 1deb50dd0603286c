"""Subvolumes, snapshots and quota groups of btrfs.

What is done for each share goes straight to the kernel (``linux/btrfs.h``): no process is
started for it.  Failures are ``OSError`` or ``ProcessExecutionError``.

Limits are set on a quota group's number at the top level: when a subvolume is over its limit,
the form that names its path fails itself for want of space.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
from collections.abc import Iterator, Sequence

from fileshare.privileged import privileged
from fileshare.privileged.commands import run

SUBVOLUME_INODE = 256

_CREATE = 0x5000940E
_DESTROY = 0x5000940F
_LOOKUP = 0xD0009412
_SNAPSHOT = 0x50009417
_GROUP = 0x4010942A
_LIMIT = 0x8030942B

_NAME_AT = {_CREATE: 8, _DESTROY: 8, _SNAPSHOT: 56}
"""Where the name stands in the 4096 bytes of a call."""

_READ_ONLY = 1 << 1
_LIMIT_REFERENCED = 1 << 0


def is_subvolume(path: str) -> bool:
    """Whether *path*, on btrfs, is the root of a subvolume (needs no privilege)."""
    try:
        return os.lstat(path).st_ino == SUBVOLUME_INODE
    except FileNotFoundError:
        return False


@privileged
def make_filesystem(image: str) -> None:
    """Format a file."""
    run("mkfs.btrfs", "-q", "-f", image)


@privileged
def grow(top: str) -> None:
    """Take in what the file below the file system has grown by."""
    output = run("findmnt", "-n", "-o", "SOURCE", "--mountpoint", top)
    run("losetup", "-c", output.split()[0])
    run("btrfs", "filesystem", "resize", "max", top)


@privileged
def enable_quota(top: str) -> None:
    """Turn quota groups on; a second time is fine."""
    run("btrfs", "quota", "enable", top)


@privileged
def clear_stale(top: str) -> None:
    """Remove quota groups of subvolumes that are gone, as far as the kernel lets go of them."""
    run("btrfs", "qgroup", "clear-stale", top, may_fail=True)


@privileged
def create_subvolume(path: str) -> None:
    """Make an empty subvolume."""
    _named(_CREATE, path)


@privileged
def snapshot(source: str, target: str, read_only: bool) -> None:
    """Make *target* a snapshot of *source*."""
    with _opened(source) as descriptor:
        flags = _READ_ONLY if read_only else 0
        _named(_SNAPSHOT, target, struct.pack("=qQQ", descriptor, 0, flags))


@privileged
def delete_subvolume(path: str, top: str) -> None:
    """Remove a subvolume and its quota group; one that is not there is fine."""
    if not is_subvolume(path):
        return
    group = _id(path)
    _named(_DESTROY, path)
    # The kernel refuses while it still cleans up; clear_stale takes the rest at the next start.
    with _opened(top) as descriptor, contextlib.suppress(OSError):
        fcntl.ioctl(descriptor, _GROUP, bytearray(struct.pack("=QQ", 0, group)))


@privileged
def limit(path: str, top: str, size: int) -> None:
    """Let the subvolume refer to at most *size* bytes."""
    order = struct.pack("=6Q", _id(path), _LIMIT_REFERENCED, size, 0, 0, 0)
    with _opened(top) as descriptor:
        fcntl.ioctl(descriptor, _LIMIT, bytearray(order))


@privileged
def used(path: str) -> int:
    """Bytes that the subvolume refers to, with what is not on disk yet."""
    return _counted("-f", path).get(f"0/{_id(path)}", 0)


@privileged
def used_each(paths: Sequence[str], top: str) -> dict[str, int]:
    """The same of many; those that are not there are left out.

    One call for all, since each waits until the whole file system is on disk.
    """
    groups = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            groups[path] = f"0/{_id(path)}"
    counted = _counted(top) if groups else {}
    return {path: counted.get(group, 0) for path, group in groups.items()}


def _counted(*where: str) -> dict[str, int]:
    """What quota groups refer to, by their names."""
    output = run("btrfs", "qgroup", "show", "--raw", "--sync", *where)
    rows = (line.split() for line in output.splitlines())
    return {cells[0]: int(cells[1]) for cells in rows if cells and cells[0].startswith("0/")}


def _named(call: int, path: str, head: bytes = b"") -> None:
    """A call about the name that *path* has in its directory."""
    parent, name = os.path.split(path)
    encoded = os.fsencode(name)
    order = bytearray(4096)
    at = _NAME_AT[call]
    if not encoded or at + len(encoded) >= len(order):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
    order[: len(head)] = head
    order[at : at + len(encoded)] = encoded
    with _opened(parent) as descriptor:
        fcntl.ioctl(descriptor, call, order)


def _id(path: str) -> int:
    """Number of the subvolume, and so of its quota group."""
    order = bytearray(4096)
    struct.pack_into("=QQ", order, 0, 0, SUBVOLUME_INODE)
    with _opened(path) as descriptor:
        fcntl.ioctl(descriptor, _LOOKUP, order)
    return int(struct.unpack_from("=Q", order)[0])


@contextlib.contextmanager
def _opened(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
