"""What a process has: made once, in ``cmd/bootstrap.py``, and handed down; nothing is global."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from oslo_config import cfg

from fileshare.context import Context
from fileshare.db.models import Intent
from fileshare.db.session import Sessions
from fileshare.domain import notices
from fileshare.domain.notices import Notice, Priority
from fileshare.rpc.doorbell import Doorbell
from fileshare.rpc.notifications import Notifier, Silence


class Locks(Protocol):
    """Named locks between processes and nodes."""

    def lock(
        self, name: str, seconds: float | None = None
    ) -> contextlib.AbstractContextManager[None]: ...

    def try_lock(self, name: str) -> contextlib.AbstractContextManager[bool]: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Runtime:
    """Options, database, doorbell, locks and notifications of one process."""

    conf: cfg.ConfigOpts
    sessions: Sessions
    doorbell: Doorbell
    locks: Locks
    notifier: Notifier = field(default_factory=Silence)
    quota_defaults: dict[str, int] = field(default_factory=dict)
    transport: Any = None  # None: nothing listens, work is found by polling

    def ring(self, intent: Intent) -> None:
        """Announce work that has been committed."""
        self.doorbell.ring(intent.destination, intent.id)

    def notify(
        self,
        ctx: Context,
        event: str,
        payload: Mapping[str, Any],
        *,
        priority: Priority = Priority.INFO,
    ) -> None:
        """Tell of what a request has changed."""
        if self.notifier.is_on:
            notice = Notice(
                notices.publisher(event, self.conf.host),
                event,
                payload,
                priority,
                ctx.request_id,
                ctx.user_id,
                ctx.project_id,
            )
            self.notifier.send(notice)

    @contextlib.contextmanager
    def closing(self) -> Iterator[Runtime]:
        try:
            yield self
        finally:
            self.close()

    def close(self) -> None:
        self.doorbell.stop()
        self.notifier.stop()
        self.locks.stop()
        self.sessions.dispose()
