"""Notifications on the message bus, for billing and monitoring.

They never hold up work: a thread sends, and what does not fit into its queue is dropped and
counted.  Who must not miss anything reads the tables (``fileshare-usage-audit``).
"""

from __future__ import annotations

import logging as stdlib
import queue
import threading
from typing import Any, Protocol

import oslo_messaging
from oslo_config import cfg
from oslo_log import log as logging

from fileshare.context import Context
from fileshare.domain.notices import Notice
from fileshare.rpc import transport
from fileshare.rpc.transport import ContextSerializer

LOG = logging.getLogger(__name__)

_WITHOUT_BROKER = {"log", "noop", "test"}
_BACKLOG = 10_000  # notices that may wait for the broker
_TOLD_EACH = 1_000  # so many more are lost before that is said again
_PATIENCE = 5.0  # seconds that a process waits for its last notices when it ends


class Notifier(Protocol):
    """Tells others what happened; where it is off, nobody need make payloads."""

    @property
    def is_on(self) -> bool: ...

    def send(self, notice: Notice) -> None: ...

    def stop(self) -> None: ...


class Silence:
    """Where nobody listens."""

    is_on = False

    def send(self, notice: Notice) -> None:
        """Nobody hears it."""

    def stop(self) -> None:
        """Nothing runs."""


class _Complaints(stdlib.Handler):
    """Counts the failures that oslo.messaging tells of in its log only."""

    def __init__(self) -> None:
        super().__init__(stdlib.ERROR)
        self._mine = threading.local()

    @property
    def heard(self) -> int:
        """How often sending failed in the calling thread."""
        return int(getattr(self._mine, "heard", 0))

    def emit(self, record: stdlib.LogRecord) -> None:  # noqa: ARG002  (its coming is enough)
        self._mine.heard = self.heard + 1


class Sender:
    """Sends by the drivers of [oslo_messaging_notifications], while the caller waits.

    *retry*: how often, where the options say «for ever».
    """

    def __init__(self, conf: cfg.ConfigOpts, *, retry: int = -1) -> None:
        self._transport = transport.make_for_notifications(conf)
        given = conf[transport.NOTIFICATIONS].retry
        self._notifier = oslo_messaging.Notifier(
            self._transport,
            serializer=ContextSerializer(),
            retry=given if given >= 0 else retry,
        )
        self._complaints = _Complaints()
        self._log = stdlib.getLogger("oslo_messaging.notify")
        self._log.addHandler(self._complaints)

    def send(self, notice: Notice) -> bool:
        """Whether the broker took it."""
        before = self._complaints.heard
        context = Context(
            request_id=notice.request_id or "",
            user_id=notice.user_id,
            project_id=notice.project_id,
        )
        publisher = self._notifier.prepare(publisher_id=notice.publisher)
        tell = getattr(publisher, notice.priority)
        try:
            tell(context, notice.event, dict(notice.payload))
        except Exception:  # a broker fails in many ways
            LOG.exception("The notification %s could not be sent", notice.event)
            return False
        return self._complaints.heard == before

    def close(self) -> None:
        self._log.removeHandler(self._complaints)
        self._transport.cleanup()


class MessagingNotifier:
    """Sends from a thread of its own."""

    is_on = True

    def __init__(self, sender: Any, backlog: int = _BACKLOG) -> None:
        self._sender = sender
        self._waiting: queue.Queue[Notice | None] = queue.Queue(backlog)
        self._lock = threading.Lock()
        self.lost = 0
        self._thread = threading.Thread(target=self._run, name="notifier", daemon=True)
        self._thread.start()

    def send(self, notice: Notice) -> None:
        """Queue a notice; where the queue is full it is dropped."""
        try:
            self._waiting.put_nowait(notice)
        except queue.Full:
            self._lose(notice.event)

    def stop(self) -> None:
        """Send what waits, and end."""
        try:
            self._waiting.put(None, timeout=_PATIENCE)
        except queue.Full:
            pass  # the broker takes nothing; what is left is counted below
        else:
            self._thread.join(timeout=_PATIENCE)
        left = self._waiting.qsize()
        if self.lost or left:
            LOG.warning("%d notifications were lost", self.lost + left)

    def _run(self) -> None:
        while (notice := self._waiting.get()) is not None:
            if not self._sender.send(notice):
                self._lose(notice.event)
        self._sender.close()

    def _lose(self, event: str) -> None:
        with self._lock:
            self.lost += 1
            lost = self.lost
        if lost % _TOLD_EACH == 1:
            LOG.warning(
                "The notification %s is dropped, and so were %d before it: "
                "the message broker does not take them",
                event,
                lost - 1,
            )


def is_wanted(conf: cfg.ConfigOpts) -> bool:
    """Whether [oslo_messaging_notifications] driver names one that does something."""
    return any(driver != "noop" for driver in conf[transport.NOTIFICATIONS].driver)


def check(conf: cfg.ConfigOpts) -> str | None:
    """Why the options cannot work; None where they can."""
    beyond = set(conf[transport.NOTIFICATIONS].driver) - _WITHOUT_BROKER
    if not beyond or transport.has_broker_for_notifications(conf):
        return None
    return f"[{transport.NOTIFICATIONS}] driver {min(beyond)} needs a broker: set transport_url."


def make(conf: cfg.ConfigOpts) -> Notifier:
    """The notifier of this process; make it after forking."""
    return MessagingNotifier(Sender(conf)) if is_wanted(conf) else Silence()
