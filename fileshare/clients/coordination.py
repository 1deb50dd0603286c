"""Named locks between processes and nodes, by tooz."""

from __future__ import annotations

import contextlib
import pathlib
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from oslo_config import cfg
from tooz import coordination


class Coordination:
    """The locks of the section [coordination]; one object for each process."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        url = conf.coordination.backend_url
        if urlsplit(url).scheme == "file":
            pathlib.Path(urlsplit(url).path).mkdir(parents=True, exist_ok=True)
        self._coordinator: Any = coordination.get_coordinator(
            url, uuid.uuid4().bytes.hex().encode()
        )
        self._coordinator.start(start_heart=True)

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Wait for the lock, and hold it."""
        with self._coordinator.get_lock(f"fileshare-{name}".encode()):
            yield

    @contextlib.contextmanager
    def try_lock(self, name: str) -> Iterator[bool]:
        """Hold the lock if it is free; yields whether it was."""
        lock = self._coordinator.get_lock(f"fileshare-{name}".encode())
        got = bool(lock.acquire(blocking=False))
        try:
            yield got
        finally:
            if got:
                lock.release()

    def stop(self) -> None:
        self._coordinator.stop()
