"""A client that knows whether a request was sent, and what is known of it when no answer came."""

from __future__ import annotations

import dataclasses
import http.client
import json
import threading
import time
from typing import Any

from devstack.servers import HOST

VERSION = "2.90"
PATIENCE = 20.0
"""Seconds for an answer; a paused server may keep one for so long."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """*status* is None where the request was sent and nothing is known of it."""

    start: float
    end: float
    status: int | None
    body: Any = None
    request_id: str | None = None

    @property
    def text(self) -> str:
        """What the server says is wrong."""
        if not isinstance(self.body, dict) or self.status is None or self.status < 400:
            return ""
        return str(next(iter(self.body.values()), {}).get("message", ""))[:200]


class Unsent(Exception):
    """No server listens; nothing was asked of anybody."""


class Servers:
    """The API servers; one that does not listen is passed over."""

    def __init__(self, ports: dict[str, int], ended: threading.Event) -> None:
        self.ports, self.ended = ports, ended

    def ask(self, method: str, path: str, body: Any, token: str, node: str) -> Answer:
        """Ask *node*, or another one, for as long as none listens; raises Unsent at the end."""
        order = [node, *(name for name in self.ports if name != node)]
        while True:
            for name in order:
                answer = _ask(self.ports[name], method, path, body, token)
                if answer is not None:
                    return answer
            if self.ended.wait(0.2):
                raise Unsent


def _ask(port: int, method: str, path: str, body: Any, token: str) -> Answer | None:
    """The answer of one server; None where it does not listen."""
    connection = http.client.HTTPConnection(HOST, port, timeout=PATIENCE)
    start = time.time()
    try:
        connection.connect()
    except OSError:
        connection.close()
        return None
    headers = {
        "X-OpenStack-Manila-API-Version": VERSION,
        "X-Auth-Token": token,
        "Content-Type": "application/json",
        "Connection": "close",
    }
    text = None if body is None else json.dumps(body)
    try:
        connection.request(method, f"/v2{path}", text, headers)
        response = connection.getresponse()
        raw, status = response.read(), response.status
    except (OSError, http.client.HTTPException):
        return Answer(start, time.time(), None)
    finally:
        connection.close()
    request_id = response.headers.get("x-openstack-request-id")
    return Answer(start, time.time(), status, _parsed(raw), request_id)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return None
