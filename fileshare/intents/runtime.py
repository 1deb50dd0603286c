"""What a process has: made once, in ``cmd/bootstrap.py``, and handed down; nothing is global."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from oslo_config import cfg

from fileshare.db.models import Intent
from fileshare.db.session import Sessions
from fileshare.rpc.doorbell import Doorbell


class Locks(Protocol):
    """Named locks between processes and nodes."""

    def lock(self, name: str) -> contextlib.AbstractContextManager[None]: ...

    def try_lock(self, name: str) -> contextlib.AbstractContextManager[bool]: ...

    def stop(self) -> None: ...


Notify = Callable[[str, dict[str, Any]], None]


def no_notification(event: str, payload: dict[str, Any]) -> None:
    """Where nobody listens."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Options, database, doorbell, locks and notifications of one process."""

    conf: cfg.ConfigOpts
    sessions: Sessions
    doorbell: Doorbell
    locks: Locks
    notify: Notify = no_notification
    quota_defaults: dict[str, int] = field(default_factory=dict)
    transport: Any = None  # None: nothing listens, work is found by polling

    def ring(self, intent: Intent) -> None:
        """Announce work that has been committed."""
        self.doorbell.ring(intent.destination, intent.id)

    @contextlib.contextmanager
    def closing(self) -> Iterator[Runtime]:
        try:
            yield self
        finally:
            self.close()

    def close(self) -> None:
        self.doorbell.stop()
        self.locks.stop()
        self.sessions.dispose()
