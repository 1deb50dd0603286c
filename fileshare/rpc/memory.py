"""Messages within one process, without polling for them.

kombu's own in-memory transport looks for messages again and again, and oslo.messaging sets its
pause between two looks to nothing: each listener would keep a processor busy.  This one sleeps
until a message is put, so that an idle process is idle and a message still arrives at once.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import Any

import kombu.transport
from kombu.transport import memory


class Arrivals:
    """Counts the messages of this process, and wakes who waits for one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.count = 0

    def add(self) -> None:
        """A message was put somewhere."""
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait(self, seen: int, timeout: float | None) -> None:
        """Return once there are other messages than those *seen*, or after the timeout."""
        with self._changed:
            self._changed.wait_for(lambda: self.count != seen, timeout)


ARRIVALS = Arrivals()


class Channel(memory.Channel):  # type: ignore[misc]
    """kombu's, telling of each message."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        super()._put(queue, message, **kwargs)
        ARRIVALS.add()

    def _put_fanout(
        self, exchange: str, message: Any, routing_key: str | None = None, **kwargs: Any
    ) -> None:
        super()._put_fanout(exchange, message, routing_key, **kwargs)
        ARRIVALS.add()


class Transport(memory.Transport):  # type: ignore[misc]
    """kombu's, waiting for messages instead of polling."""

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # noqa: ARG002  (kombu's signature)
        """Deliver one message; TimeoutError when none comes in time."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            seen = ARRIVALS.count
            with contextlib.suppress(queue.Empty):
                self.cycle.get(self._deliver, timeout=timeout)
                return
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            ARRIVALS.wait(seen, left)


def install() -> None:
    """Make this the transport of ``memory://`` in this process."""
    kombu.transport.TRANSPORT_ALIASES["memory"] = f"{__name__}:Transport"
