"""The real programs as processes, with servers of their own, to be killed and started again."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import requests

from devstack import guard
from devstack.servers import HOST, MariaDB, RabbitMQ, Server, free_port
from devstack.waiting import patience
from fileshare.drivers.dummy.state import SHARES, State
from tests.fixtures.waiting import until

PROJECT = "11111111-1111-4111-8111-111111111111"
MEMBER = f"alice:{PROJECT}:member"
ADMIN = "admin:33333333-3333-4333-8333-333333333333:admin"
MARK = "FILESHARE_CHAOS"
PROGRAMS = pathlib.Path(sys.executable).parent
ROOT = pathlib.Path(__file__).parents[2]


class Guarded:
    """A server of the test's own, which may be killed and started again on its data."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.guard: subprocess.Popen[bytes] | None = None
        server.directory.mkdir(parents=True, exist_ok=True)
        server.prepare()

    def start(self) -> None:
        self.guard = guard.start(self.server, os.getpid())
        guard.wait_ready(self.server, self.guard)

    def runs(self) -> bool:
        return self.guard is not None and self.guard.poll() is None

    def stop(self) -> None:
        """End the server's processes at once (the guard kills them)."""
        if self.guard is not None:
            self.guard.terminate()
            self.guard.wait()
            self.guard = None

    def kill(self) -> None:
        """What ``kill -9`` of the machine's biggest process does."""
        self._signal(signal.SIGKILL)

    def end(self) -> None:
        """What the machine's shutdown does: the server is asked to end."""
        self._signal(signal.SIGTERM)

    def _signal(self, number: signal.Signals) -> None:
        pid = int((self.server.directory / f"{self.server.name}.pid").read_text())
        os.kill(pid, number)
        assert self.guard is not None
        self.guard.wait()
        self.guard = None


def mariadb(directory: pathlib.Path) -> Guarded:
    return Guarded(MariaDB(directory / "mariadb", free_port(), throwaway=True))


def rabbitmq(directory: pathlib.Path) -> Guarded:
    return Guarded(RabbitMQ(directory / "rabbitmq", free_port(), throwaway=True))


@dataclasses.dataclass
class Node:
    """One machine's configuration."""

    name: str
    path: pathlib.Path
    port: int


class Deployment:
    """Programs that a test starts, kills and stops; all of them end with it."""

    def __init__(self, directory: pathlib.Path, database: str, transport: str = "") -> None:
        self.directory = directory
        self.database = database
        self.transport = transport
        self.nodes: dict[str, Node] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.kills = 0
        self.programs = PROGRAMS

    # -- configuration ---------------------------------------------------------------------
    def node(
        self,
        name: str = "node",
        backends: tuple[str, ...] = ("alpha", "beta"),
        *,
        backend_host: str | None = None,
        delay: float | str = 0.1,
        intents: dict[str, object] | None = None,
        quota: dict[str, object] | None = None,
        driver: dict[str, object] | None = None,
        locks: str | None = None,
        **options: object,
    ) -> Node:
        """Write the configuration of a node; *options* go to [DEFAULT], *driver* to back ends.

        *locks* is the URL of the locks between nodes.
        """
        port = free_port()
        default = {
            "host": name,
            "state_path": self.directory,
            "enabled_share_backends": ",".join(backends),
            "auth_strategy": "noauth",
            "osapi_share_listen": HOST,
            "osapi_share_listen_port": port,
            "osapi_share_workers": 1,
            "default_share_type": "default",
            "report_interval": 1,
            "service_down_time": 4,
            "periodic_interval": 2,
            **({"transport_url": self.transport} if self.transport else {}),
            **options,
        }
        sections: dict[str, dict[str, object]] = {
            "DEFAULT": default,
            "database": {"connection": self.database},
            "quota": {"shares": 1000, "gigabytes": 10000, **(quota or {})},
            "intents": {"lease": 3, "poll_interval": 0.5, "workers": 6, **(intents or {})},
        }
        if locks:
            sections["coordination"] = {"backend_url": locks}
        for backend in backends:
            sections[backend] = {
                "share_driver": "dummy",
                "driver_handles_share_servers": False,
                "dummy_state_path": self.directory / backend,
                "dummy_driver_delay": delay,
                **({"backend_host": backend_host} if backend_host else {}),
                **(driver or {}),
            }
        lines = []
        for section, values in sections.items():
            lines += [f"[{section}]", *(f"{key} = {value}" for key, value in values.items())]
        path = self.directory / f"{name}.conf"
        path.write_text("\n".join(lines) + "\n")
        self.nodes[name] = Node(name, path, port)
        return self.nodes[name]

    # -- processes -------------------------------------------------------------------------
    def run(
        self,
        program: str,
        *arguments: str,
        node: str = "node",
        codes: tuple[int, ...] = (0,),
        **environment: str,
    ) -> str:
        """Run a command to its end, which must be one of *codes*; what it said."""
        done = subprocess.run(
            [self.programs / program, "--config-file", self.nodes[node].path, *arguments],
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
            timeout=patience(60),
            env={**os.environ, **environment},
        )
        assert done.returncode in codes, done.stdout + done.stderr
        return done.stdout

    def start(self, program: str, node: str = "node", **environment: str) -> None:
        """Start ``fileshare-PROGRAM`` on a node."""
        name = f"{program}@{node}"
        assert name not in self.running, f"{name} runs already"
        with self.log(name).open("ab") as log:
            self.running[name] = subprocess.Popen(
                [self.programs / f"fileshare-{program}", "--config-file", self.nodes[node].path],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd="/",
                env={**os.environ, MARK: str(self.directory), **environment},
            )

    def log(self, name: str) -> pathlib.Path:
        return self.directory / f"{name}.log"

    def ended(self) -> list[str]:
        """Forget the programs that have ended by themselves; their names."""
        found = [name for name, process in self.running.items() if process.poll() is not None]
        for name in found:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.running.pop(name).pid, signal.SIGKILL)
        return found

    def kill(self, program: str, node: str = "node") -> None:
        """``kill -9`` of all processes of a program at once."""
        process = self.running.pop(f"{program}@{node}")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.kills += 1

    def kill_parent(self, program: str, node: str = "node") -> None:
        """``kill -9`` of the parent alone; its children must follow."""
        process = self.running.pop(f"{program}@{node}")
        children = self.children(program, node, process.pid)
        process.kill()
        process.wait()
        self.kills += 1
        until(
            lambda: not any(_alive(pid) for pid in children), "children of a dead parent end", 20
        )

    def kill_children(self, program: str, node: str = "node") -> None:
        """``kill -9`` of the processes that do the work; the parent starts new ones."""
        until(lambda: self.children(program, node), f"{program} has children")
        for pid in self.children(program, node):
            os.kill(pid, signal.SIGKILL)
            self.kills += 1

    def children(self, program: str, node: str = "node", pid: int | None = None) -> list[int]:
        parent = pid or self.running[f"{program}@{node}"].pid
        # Any thread of the parent may have started them.
        lists = pathlib.Path(f"/proc/{parent}/task").glob("*/children")
        return [int(word) for path in lists for word in path.read_text().split()]

    def signal(self, program: str, number: signal.Signals, node: str = "node") -> None:
        self.running[f"{program}@{node}"].send_signal(number)

    def stop(self, program: str, node: str = "node", seconds: float = 30.0) -> float:
        """SIGTERM, and wait for the end; how long it took."""
        process = self.running.pop(f"{program}@{node}")
        began = time.monotonic()
        process.terminate()
        try:
            assert process.wait(seconds) == 0, f"{program} ended with {process.returncode}"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return time.monotonic() - began

    def close(self) -> None:
        """Kill what the test has left."""
        for process in self.running.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def left(self) -> list[int]:
        """Processes of this deployment that live, by the mark in their environment."""
        mark = f"{MARK}={self.directory}".encode()
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    # -- HTTP ------------------------------------------------------------------------------
    def url(self, node: str = "node") -> str:
        return f"http://{HOST}:{self.nodes[node].port}/v2"

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        as_: str = MEMBER,
        node: str = "node",
        timeout: float = 15,
    ) -> requests.Response:
        headers = {
            "X-OpenStack-Manila-API-Version": "2.80",
            "X-Auth-Token": as_,
            "Connection": "close",
        }
        return requests.request(
            method, self.url(node) + path, json=body, headers=headers, timeout=timeout
        )

    def serves(self, node: str = "node") -> bool:
        with contextlib.suppress(requests.RequestException):
            return self.ask("GET", "/shares?limit=1", node=node, timeout=5).status_code == 200
        return False

    def make_type(self, node: str = "node") -> None:
        specs = {"driver_handles_share_servers": "False", "snapshot_support": "True"}
        body = {"share_type": {"name": "default", "extra_specs": specs}}
        answer = self.ask("POST", "/types", body, as_=ADMIN, node=node)
        assert answer.status_code == 200, answer.text

    def create(
        self,
        name: str = "",
        size: int = 1,
        *,
        node: str = "node",
        as_: str = MEMBER,
        **more: object,
    ) -> requests.Response:
        share = {"name": name, "size": size, "share_proto": "NFS", **more}
        return self.ask("POST", "/shares", {"share": share}, node=node, as_=as_)

    def allow(self, share_id: str, address: str, *, node: str = "node") -> requests.Response:
        body = {"allow_access": {"access_type": "ip", "access_to": address}}
        return self.ask("POST", f"/shares/{share_id}/action", body, node=node)

    # -- back ends -------------------------------------------------------------------------
    def held(self, *backends: str) -> dict[str, dict]:
        """What the drivers hold: records by instance id."""
        return {
            record["id"]: record
            for backend in backends
            for record in State(self.directory / backend).all(SHARES)
        }

    def overlaps(self, *backends: str) -> list[dict]:
        return [
            note
            for backend in backends
            for note in State(self.directory / backend).notes("overlaps")
        ]


def _alive(pid: int) -> bool:
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@contextlib.contextmanager
def deployment(
    directory: pathlib.Path, database: str, transport: str = ""
) -> Iterator[Deployment]:
    made = Deployment(directory, database, transport)
    try:
        yield made
    finally:
        made.close()
