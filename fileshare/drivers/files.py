"""Files that several processes share: locks of the kernel, and writes that are whole or not."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]


@contextlib.contextmanager
def lock_file(path: Path, busy: Callable[[], None] | None = None) -> Iterator[int]:
    """Hold the lock of *path* against threads and processes; *busy* is called before a wait.

    The lock is the kernel's: it goes with the process that holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o640)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if busy is not None:
                busy()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str, *, durable: bool = True) -> None:
    """Write *text* so that neither a reader nor a crash meets half of it.

    *durable* waits for the disk, so that a power failure does not leave an empty file either.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "w") as stream:
            stream.write(text)
            if durable:
                stream.flush()
                os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_json(path: Path, record: Record, *, durable: bool = False) -> None:
    """A record in place of what was there."""
    write_whole(path, json.dumps(record), durable=durable)


def read_json(path: Path) -> Record | None:
    """The record, or None where there is none."""
    try:
        record: Record = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    return record


def json_names(directory: Path) -> list[str]:
    """Names, without the ending, of the records in a directory."""
    with os.scandir(directory) as entries:
        return [entry.name[:-5] for entry in entries if entry.name.endswith(".json")]
