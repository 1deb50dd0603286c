"""Calls at a fixed rate, whatever the answers take: ``python -m tests.benchmarks.load``.

The load is open: call number *n* is due *n / rate* seconds after the start, and how long it took
is counted from then, also where it could not be sent in time.  It runs in a process of its own,
so that what measures is not what is measured.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import math
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from devstack.servers import HOST
from tests.chaos.deployment import MEMBER, ROOT, Deployment

MIX = {
    "show": 90,
    "list": 50,
    "detail": 30,
    "exports": 24,
    "metadata": 4,
    "create": 1,
    "delete": 1,
}
"""How many of 200 calls are of which kind: a console and its tools that look, and some that write."""

THREADS = 64
RIPE = 20.0
"""Seconds after which a share that the load made is deleted again."""

NEW = {"size": 1, "share_proto": "NFS", "name": "of the load"}
HEADERS = {
    "X-OpenStack-Manila-API-Version": "2.80",
    "X-Auth-Token": MEMBER,
    "Content-Type": "application/json",
}


class Call(NamedTuple):
    """One call: when it was due (by ``time.monotonic``), how long it took, and its answer."""

    kind: str
    due: float
    took: float
    status: int


def ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: Any = None
) -> tuple[int, bytes]:
    """The answer to one call on a connection that is kept."""
    text = json.dumps(body) if body is not None else None
    connection.request(method, f"/v2{path}", text, HEADERS)
    answer = connection.getresponse()
    return answer.status, answer.read()


class Load:
    """Threads that share one timetable; calls are written to *out* when they are over."""

    def __init__(self, port: int, rate: float, shares: list[str], out: TextIO) -> None:
        self.port, self.rate, self.shares, self.out = port, rate, shares, out
        self.random = random.Random(port)
        self.made: list[tuple[float, str]] = []
        self.numbers = itertools.count()
        self.ended = threading.Event()
        self.end = math.inf
        self.lock = threading.Lock()
        self.kinds = [kind for kind, number in MIX.items() for _ in range(number)]
        self.random.shuffle(self.kinds)

    def run(self) -> None:
        """Call until :meth:`stop`."""
        self.start = time.monotonic() + 0.5
        threads = [threading.Thread(target=self._calls) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def stop(self) -> None:
        """Call what is due by now, and no more."""
        self.end = time.monotonic()
        self.ended.set()

    def _calls(self) -> None:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=30)
        while True:
            with self.lock:
                number = next(self.numbers)
            due = self.start + number / self.rate
            # What was due before the end is called, however late: else the slowest would be lost.
            self.ended.wait(max(0.0, due - time.monotonic()))
            if due > self.end:
                return
            kind, status = self.kinds[number % len(self.kinds)], 0
            with contextlib.suppress(OSError, http.client.HTTPException):
                kind, status = self._call(connection, kind)
            if not status:
                connection.close()
            call = Call(kind, due, time.monotonic() - due, status)
            with self.lock:
                self.out.write(json.dumps(call) + "\n")

    def _call(self, connection: http.client.HTTPConnection, kind: str) -> tuple[str, int]:
        mine = self._ripe() if kind == "delete" else None
        if kind == "delete" and mine is None:
            kind = "show"
        method, path, body = self._request(kind, mine or self.random.choice(self.shares))
        status, said = ask(connection, method, path, body)
        if kind == "create" and status == 200:
            with self.lock:
                self.made.append((time.monotonic(), json.loads(said)["share"]["id"]))
        return kind, status

    def _ripe(self) -> str | None:
        with self.lock:
            if self.made and time.monotonic() - self.made[0][0] > RIPE:
                return self.made.pop(0)[1]
        return None

    def _request(self, kind: str, share: str) -> tuple[str, str, Any]:
        return {
            "show": ("GET", f"/shares/{share}", None),
            "list": ("GET", "/shares?limit=50", None),
            "detail": ("GET", "/shares/detail?limit=20", None),
            "exports": ("GET", f"/shares/{share}/export_locations", None),
            "metadata": ("POST", f"/shares/{share}/metadata", {"metadata": {"seen": "now"}}),
            "create": ("POST", "/shares", {"share": NEW}),
            "delete": ("DELETE", f"/shares/{share}", None),
        }[kind]


# -- for the tests -------------------------------------------------------------------------


@contextlib.contextmanager
def under_load(cloud: Deployment, rate: float, shares: list[str]) -> Iterator[list[Call]]:
    """Load the API meanwhile; the calls are in the list when it is over."""
    out = cloud.directory / "load.jsonl"
    ids = cloud.directory / "load.ids"
    ids.write_text("\n".join(shares))
    port = str(cloud.nodes["node"].port)
    command = [sys.executable, "-m", __name__, port, str(rate), str(ids), str(out)]
    process = subprocess.Popen(command, cwd=ROOT)
    calls: list[Call] = []
    try:
        yield calls
        assert process.poll() is None, "the load ended by itself"
    finally:
        process.terminate()
        process.wait(300)
    calls.extend(Call(*json.loads(line)) for line in out.read_text().splitlines())


def create_many(port: int, number: int, threads: int = 8) -> None:
    """Ask for *number* shares, by so many users at once; all must be accepted."""

    def create(share: int) -> None:
        connection = http.client.HTTPConnection(HOST, port, timeout=60)
        for _ in range(share):
            status, said = ask(connection, "POST", "/shares", {"share": NEW})
            assert status == 200, said
        connection.close()

    each, more = divmod(number, threads)
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(create, [each + (place < more) for place in range(threads)]))


def percentile(calls: list[Call], percent: float) -> float:
    """The time in ms in which so many percent of *calls* were answered."""
    took = sorted(call.took for call in calls)
    return round(1000 * took[min(len(took) - 1, int(len(took) * percent / 100))], 1)


def failed(calls: list[Call]) -> list[Call]:
    return [call for call in calls if call.status not in (200, 202)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("rate", type=float, help="Calls in a second.")
    parser.add_argument("ids", type=Path, help="A file with ids of shares, one a line.")
    parser.add_argument("out", type=Path)
    parsed = parser.parse_args()
    with parsed.out.open("w") as out:
        load = Load(parsed.port, parsed.rate, parsed.ids.read_text().split(), out)
        signal.signal(signal.SIGTERM, lambda *_: load.stop())
        load.run()


if __name__ == "__main__":
    main()
