"""The dummy's disk: a directory of JSON records that several processes may use at once.

``shares/`` and ``snapshots/`` hold one record each, written as a whole or not at all.
``calls/`` holds one lock file for each resource; its lock is the kernel's, so a killed process
leaves none behind.  ``overlaps.jsonl`` gets a line whenever a call finds another one at work on
the same resource, which the control plane promises never to let happen.  Where that is asked
for, ``begun.jsonl`` and ``calls.jsonl`` get a line for each call when it begins and when it has
ended, and ``records.jsonl`` one before each change of a record, with the record as it will be.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fileshare.drivers.files import Record, lock_file, read_json, write_json
from fileshare.drivers.names import checked_id

SHARES = "shares"
SNAPSHOTS = "snapshots"

_SETTLED = 1.0
"""Seconds after which the time of a file tells one writing of it from the next."""


class _Read(NamedTuple):
    """A record, and what its file was when it was read; None: written just before."""

    record: Record
    stamp: tuple[int, int, int] | None


def _current(entry: os.DirEntry[str], known: _Read | None) -> _Read:
    """The record of a file; raises FileNotFoundError where it went meanwhile."""
    facts = entry.stat()
    stamp = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
    if known is not None and known.stamp == stamp:
        return known
    settled = time.time() - facts.st_mtime > _SETTLED
    record: Record = json.loads(Path(entry.path).read_bytes())
    return _Read(record, stamp if settled else None)


class State:
    """Records under one directory; *journal* says whether each change of them is noted."""

    def __init__(self, root: Path, *, journal: bool = False) -> None:
        self.root = root
        self._journal = journal
        self._read: dict[str, dict[str, _Read]] = {}

    def make(self) -> None:
        """Make the directories; they may be there."""
        for name in (SHARES, SNAPSHOTS, "calls"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def read(self, kind: str, id: str) -> Record | None:
        """The record, or None."""
        return read_json(self._path(kind, id))

    def write(self, kind: str, id: str, record: Record) -> None:
        """Put the record in place of the old one."""
        self._note_change(kind, id, record)
        write_json(self._path(kind, id), record)

    def remove(self, kind: str, id: str) -> None:
        """Take the record away; one that is not there is fine."""
        self._note_change(kind, id, None)
        self._path(kind, id).unlink(missing_ok=True)

    def _note_change(self, kind: str, id: str, record: Record | None) -> None:
        # Before the change, so that a killed process leaves none that nobody knows of.
        if self._journal:
            self.note("records", {"kind": kind, "id": id, "record": record})

    def all(self, kind: str) -> Iterator[Record]:
        """All records of a kind; not to be changed.

        Those that were read before, and have not been written since, are not read again.
        """
        known, read = self._read.get(kind, {}), {}
        with os.scandir(self.root / kind) as entries:
            for entry in entries:
                if entry.name.endswith(".json"):
                    with contextlib.suppress(FileNotFoundError):
                        read[entry.name] = _current(entry, known.get(entry.name))
        self._read[kind] = read
        return (each.record for each in read.values())

    def _path(self, kind: str, id: str) -> Path:
        return self.root / kind / f"{checked_id(id)}.json"

    @contextlib.contextmanager
    def hold(self, operation: str, id: str) -> Iterator[None]:
        """Be alone on resource *id*; a call that must wait for another is recorded as overlap."""
        path = self.root / "calls" / checked_id(id)
        with lock_file(path, lambda: self._overlap(operation, id)) as descriptor:
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{operation} {os.getpid()}".encode())
            yield
            os.ftruncate(descriptor, 0)

    def in_flight(self) -> dict[str, str]:
        """Resource ids whose call is at work (or was, when its process died), with operation."""
        calls: dict[str, str] = {}
        for path in (self.root / "calls").iterdir():
            with contextlib.suppress(FileNotFoundError):
                text = path.read_text()
                if text:
                    calls[path.name] = text.split()[0]
        return calls

    def _overlap(self, operation: str, id: str) -> None:
        self.note("overlaps", {"operation": operation, "id": id})

    def note(self, journal: str, record: Record) -> None:
        """Append a line to a journal; lines of several processes do not mix."""
        who = {"at": time.time(), "pid": os.getpid(), "thread": threading.get_ident()}
        line = json.dumps({**record, **who}) + "\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self.root / f"{journal}.jsonl", flags, 0o640)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def notes(self, journal: str) -> list[Record]:
        """The lines of a journal; none when there is no such."""
        path = self.root / f"{journal}.jsonl"
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text().splitlines()]

    def count(self, name: str) -> int:
        """How often this was asked with *name*, by any process, this time included."""
        with lock_file(self.root / "counters.lock"):
            path = self.root / "counters.json"
            counters = read_json(path) or {}
            counters[name] = counters.get(name, 0) + 1
            write_json(path, counters)
            return int(counters[name])
