"""Mounting and unmounting.

Every function may be called again: what is mounted stays mounted, what is not is fine to
unmount.  Failures are ``ProcessExecutionError`` or ``OSError``.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import re
import time
from pathlib import Path

from fileshare.privileged import privileged
from fileshare.privileged.commands import run

BUSY_TRIES = 20
BUSY_PAUSE = 0.05

_OCTAL = re.compile(r"\\([0-7]{3})")
"""How the kernel writes a blank in a path."""

_MS_BIND = 4096
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def is_mounted(path: str) -> bool:
    """Whether another file system, or another subvolume, is mounted at *path* itself.

    Needs no privilege, and no look at all mounts, of which there may be thousands.
    """
    return os.path.ismount(path)


def filesystem(path: str) -> str:
    """Type of the file system that holds *path*, for example ``btrfs``."""
    wanted = Path(os.path.realpath(path))
    best, found = -1, ""
    for point, kind in _table():
        depth = len(Path(point).parts)
        if depth >= best and (wanted == Path(point) or Path(point) in wanted.parents):
            best, found = depth, kind
    return found


def _table() -> list[tuple[str, str]]:
    """Mount points and file system types, in the order of mounting."""
    rows = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), left.split()[4])
        rows.append((point, right.split()[0]))
    return rows


@privileged
def mount_loop(image: str, target: str, kind: str) -> None:
    """Mount the file system in a file."""
    if not is_mounted(target):
        options = "loop,noatime,nosuid,nodev"
        run("mount", "-t", kind, "-o", options, image, target)


@privileged
def bind(source: str, target: str) -> None:
    """Show the tree at *source* at *target* too."""
    if not is_mounted(target):
        names = (os.fsencode(source), os.fsencode(target))
        _checked(_libc().mount(*names, None, _MS_BIND, None), target)


@privileged
def share_propagation(path: str) -> None:
    """Make *path* a mount whose later mounts are seen by servers in mount namespaces."""
    real = os.path.realpath(path)
    if all(point != real for point, _ in _table()):
        run("mount", "--bind", path, path)
    run("mount", "--make-shared", path)


@privileged
def unmount(path: str) -> None:
    """Unmount *path*; a busy one is tried for a second, since a server lets go only by and by."""
    for left in reversed(range(BUSY_TRIES)):
        if not is_mounted(path):
            return
        try:
            _checked(_libc().umount2(os.fsencode(path), 0), path)
        except OSError as error:
            if error.errno != errno.EBUSY or not left:
                raise
            time.sleep(BUSY_PAUSE)


@privileged
def make_directory(path: str, mode: int, owner: int = 0) -> None:
    """Make a directory with exactly this mode and owner; one that is there gets them."""
    os.makedirs(path, exist_ok=True)  # noqa: PTH103  (plain data crosses to the helper)
    os.chown(path, owner, -1)
    os.chmod(path, mode)  # noqa: PTH101


@privileged
def remove_directory(path: str) -> None:
    """Remove an empty directory; one that is not there is fine."""
    if os.path.isdir(path):  # noqa: PTH112
        os.rmdir(path)  # noqa: PTH106


@privileged
def remove_tree(path: str) -> None:
    """Remove a directory with all in it; one that is not there is fine.

    Does not leave the file system, so a forgotten mount below loses nothing.
    """
    if os.path.lexists(path):
        run("rm", "-rf", "--one-file-system", "--", path)


@privileged
def rename(source: str, target: str) -> None:
    """Give a file or directory another name within its file system."""
    os.rename(source, target)  # noqa: PTH104


@privileged
def exchange(one: str, other: str) -> None:
    """Let two files or directories change places, at once (the kernel's ``RENAME_EXCHANGE``)."""
    names = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
    _checked(_libc().renameat2(*names, _RENAME_EXCHANGE), one)


@privileged
def tree_size(path: str) -> int:
    """Bytes on disk of all that is in a directory."""
    output = run("du", "-s", "-B1", "--", path)
    return int(output.split()[0])


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, path: str) -> None:
    """Raise OSError where a call of the C library says so."""
    if result:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
