"""The doorbell: a message that carries only ids of intents, and may be lost, doubled or late.

Ringing never blocks a request: a thread sends, and what cannot be sent is dropped, because
daemons also look for overdue work by themselves.  The first ring is sent at once; those that
follow closely travel together, for a message costs more than what it says.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import oslo_messaging
from oslo_log import log as logging

from fileshare.context import service_context
from fileshare.rpc.transport import ContextSerializer

LOG = logging.getLogger(__name__)

EXCHANGE = "fileshare.work"
VERSION = "1.0"
_MOST = 64  # ids in one message
_PACE = 0.1  # seconds in which rings that follow a message are gathered for the next
_BACKLOG = 10_000  # rings that may wait; more are left to polling
_COOL_OFF = 5.0  # seconds for which nothing is sent after a failure


Answer = Callable[[Sequence[str]], None]
"""What is done with the ids of a ring."""


class Doorbell(Protocol):
    """Announces work at a destination."""

    def ring(self, destination: str, intent_id: str) -> None: ...

    def stop(self) -> None: ...


def topic(destination: str) -> str:
    """The queue on which the daemons of *destination* listen.

    The kind of a queue cannot change: where it does, the name does, so that daemons of two
    releases do not refuse each other's.
    """
    return f"fileshare.{destination}"


class MessagingDoorbell:
    """Sends rings by oslo.messaging from a thread of its own."""

    def __init__(self, transport: Any) -> None:
        target = oslo_messaging.Target(exchange=EXCHANGE, version=VERSION)
        self._client = oslo_messaging.get_rpc_client(
            # Once more: the connection may be one that a restarted broker does not know.
            transport,
            target,
            serializer=ContextSerializer(),
            retry=1,
        )
        self._waiting: dict[str, list[str]] = {}
        self._size = 0
        self._wake = threading.Condition()
        self._stopped = threading.Event()
        self._quiet_until = 0.0
        self._thread = threading.Thread(target=self._run, name="doorbell", daemon=True)
        self._thread.start()

    def ring(self, destination: str, intent_id: str) -> None:
        with self._wake:
            if self._size < _BACKLOG:
                self._waiting.setdefault(destination, []).append(intent_id)
                self._size += 1
                self._wake.notify()

    def stop(self) -> None:
        """Send what waits, and end."""
        self._stopped.set()
        with self._wake:
            self._wake.notify()
        self._thread.join(timeout=5)

    def _take(self) -> dict[str, list[str]]:
        """All that waits, as soon as there is something; nothing at the end."""
        with self._wake:
            self._wake.wait_for(lambda: self._waiting or self._stopped.is_set())
            taken, self._waiting, self._size = self._waiting, {}, 0
            return taken

    def _run(self) -> None:
        while taken := self._take():
            for destination, ids in taken.items():
                for start in range(0, len(ids), _MOST):
                    if time.monotonic() >= self._quiet_until:
                        self._send(destination, ids[start : start + _MOST])
            self._stopped.wait(_PACE)

    def _send(self, destination: str, batch: Sequence[str]) -> None:
        try:
            self._client.prepare(topic=topic(destination)).cast(
                service_context(), "ring", intent_ids=list(batch)
            )
        except Exception:  # a broker fails in many ways; none of them matters here
            self._quiet_until = time.monotonic() + _COOL_OFF
            LOG.warning(
                "The message broker cannot be reached; work waits for polling", exc_info=True
            )


class LocalDoorbell:
    """Rings within the process: the stand-alone has no broker, and needs none.

    oslo.messaging's in-memory transport looks for messages in a loop, which took half a
    processor of an idle stand-alone; here nothing runs until somebody rings.
    """

    def __init__(self) -> None:
        self._answers: dict[str, Answer] = {}

    def ring(self, destination: str, intent_id: str) -> None:
        answer = self._answers.get(destination)
        if answer is not None:
            answer([intent_id])

    def stop(self) -> None:
        self._answers.clear()

    def listener(self, destination: str, answer: Answer) -> LocalListener:
        return LocalListener(self._answers, destination, answer)


class LocalListener:
    """What an RPC server is for messages, for rings within the process."""

    def __init__(self, answers: dict[str, Answer], destination: str, answer: Answer) -> None:
        self._answers, self._destination, self._answer = answers, destination, answer

    def start(self) -> None:
        self._answers[self._destination] = self._answer

    def stop(self) -> None:
        self._answers.pop(self._destination, None)

    def wait(self) -> None:
        """Nothing runs in the background."""


class DoorbellEndpoint:
    """Takes rings and hands the ids to the daemon's consumer."""

    target = oslo_messaging.Target(version=VERSION)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def ring(self, ctx: Any, intent_ids: Sequence[str]) -> None:  # noqa: ARG002  (the RPC's form)
        self._answer(intent_ids)


def listen(transport: Any, destination: str, server: str, answer: Answer) -> Any:
    """An RPC server, not started yet, that gives rings at *destination* to *answer*.

    *transport* is oslo.messaging's, or a :class:`LocalDoorbell`.
    """
    if isinstance(transport, LocalDoorbell):
        return transport.listener(destination, answer)
    target = oslo_messaging.Target(exchange=EXCHANGE, topic=topic(destination), server=server)
    return oslo_messaging.get_rpc_server(
        transport, target, [DoorbellEndpoint(answer)], serializer=ContextSerializer()
    )
