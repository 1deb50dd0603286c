"""Named locks between processes and nodes, by tooz."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import socket
import threading
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import tenacity
import tooz
from oslo_config import cfg
from oslo_log import log as logging
from tooz import coordination

from fileshare import errors

LOG = logging.getLogger(__name__)

_LONGEST = 64  # characters of a name; more is too much for MySQL
_GOODBYE = 3.0  # seconds for which a process that ends waits


def is_local(conf: cfg.ConfigOpts) -> bool:
    """Whether the locks reach the processes of this node only."""
    return urlsplit(str(conf.coordination.backend_url)).scheme == "file"


def scope(conf: cfg.ConfigOpts) -> str:
    """Names where the locks are kept: two processes exclude each other if it is the same.

    Of a service its kind alone, because each node may know it by another address; of a
    directory this machine and the directory.
    """
    url = urlsplit(str(conf.coordination.backend_url))
    if not is_local(conf):
        return url.scheme
    return f"{socket.gethostname()}:{os.path.realpath(url.path)}"[-255:]


def patience(conf: cfg.ConfigOpts) -> float:
    """Seconds for which one attempt waits for a lock.

    All attempts together wait longer than the longest call that is not taken to hang, so that
    no work fails because another one takes its time.
    """
    intents = conf.intents
    return float(max(intents.lease, intents.longest_work / intents.max_attempts))


class Coordination:
    """The locks of the section [coordination]; one object for each process.

    It connects when the first lock is asked for: a process starts, and serves what needs no
    lock, while the locks are away.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf
        self._connecting = threading.Lock()
        self._connected: Any = None

    def _coordinator(self) -> Any:
        with self._connecting:
            if self._connected is None:
                self._connected = self._connect()
            return self._connected

    def _connect(self) -> Any:
        url = self._conf.coordination.backend_url
        if is_local(self._conf):
            pathlib.Path(urlsplit(url).path).mkdir(parents=True, exist_ok=True)
        coordinator: Any = coordination.get_coordinator(url, uuid.uuid4().bytes.hex().encode())
        coordinator.start(start_heart=True)
        return coordinator

    def check(self) -> None:
        """Raise CoordinationAway where the locks cannot be reached."""
        with self.try_lock("check"):
            pass

    @contextlib.contextmanager
    def lock(self, name: str, seconds: float | None = None) -> Iterator[None]:
        """Wait for the lock, and hold it; raises LockHeld, or CoordinationAway.

        *seconds* is how long it is waited for, if not as long as by :func:`patience`.
        """
        seconds = patience(self._conf) if seconds is None else seconds
        with self._held(name, seconds) as got:
            if not got:
                raise errors.LockHeld(seconds=round(seconds))
            yield

    @contextlib.contextmanager
    def try_lock(self, name: str) -> Iterator[bool]:
        """Hold the lock if it is free; yields whether it was.  Raises CoordinationAway."""
        with self._held(name, False) as got:
            yield got

    @contextlib.contextmanager
    def _held(self, name: str, blocking: float | bool) -> Iterator[bool]:
        try:
            lock = self._coordinator().get_lock(_safe(name))
            got = _acquired(lock, blocking)
        except Exception as error:  # the clients of tooz have errors of their own
            reason = str(error) or type(error).__name__
            raise errors.CoordinationAway(reason=reason) from error
        try:
            yield got
        finally:
            if got:
                self._release(lock, name)

    def _release(self, lock: Any, name: str) -> None:
        """Give the lock back.  What was done under it stands; claims guard what is written."""
        try:
            if not lock.release():
                LOG.warning("Lock %s was lost meanwhile", name)
        except Exception:  # as above
            LOG.warning("Lock %s cannot be given back; it ends with its time", name, exc_info=True)
        # tooz would go on renewing one that it could not give back.
        getattr(self._connected, "_acquired_locks", set()).discard(lock)

    def stop(self) -> None:
        with self._connecting:
            connected, self._connected = self._connected, None
        if connected is not None:
            # tooz waits for a beat of its heart, which waits for the service, however long.
            thread = threading.Thread(target=_stop, args=(connected,), daemon=True)
            thread.start()
            thread.join(_GOODBYE)


def _stop(coordinator: Any) -> None:
    # Locks that cannot be given back now end with their time.
    with contextlib.suppress(tooz.ToozError):
        coordinator.stop()


def _safe(name: str) -> bytes:
    full = f"fileshare-{name}"
    if len(full) > _LONGEST:
        digest = hashlib.sha256(full.encode()).hexdigest()[:32]
        full = f"{full[: _LONGEST - len(digest) - 1]}-{digest}"
    return full.encode()


def _acquired(lock: Any, blocking: float | bool) -> bool:
    try:
        return bool(lock.acquire(blocking=blocking))
    except (coordination.LockAcquireFailed, tenacity.RetryError):
        return False  # not within the time
