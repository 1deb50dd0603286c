"""A small supervisor: it runs named programs and starts a dead one again after a short pause.

    python -m devstack.supervisor DIRECTORY

Every program is the leader of a process group. Its log is DIRECTORY/log/NAME.log, its process id
DIRECTORY/pid/NAME.pid. Callers speak to it through a Unix socket in DIRECTORY: one line of JSON
asks, one line answers (see `devstack.control`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

# Every program and whatever it starts carries the supervisor's directory under this name.
MARK = "FILESHARE_STACK"
# A process id: the supervisor ends when that process does. Tests set it.
OWNER = "FILESHARE_STACK_OWNER"
PAUSE = 1.0
GRACE = 15.0


@dataclasses.dataclass
class Program:
    """A command to keep running; `wanted` says whether it should be.

    Programs of a higher level stand on those of lower ones and are stopped first.
    """

    name: str
    command: list[str]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    level: int = 0
    wanted: bool = True
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    due: float = 0.0
    restarts: int = 0
    last_exit: int | None = None

    def same(self, other: Program) -> bool:
        """Whether another program runs the same command in the same environment."""
        return (self.command, self.environment) == (other.command, other.environment)

    def running(self) -> bool:
        """Whether its leader lives; what was left of a dead one's group is killed."""
        if self.process is None:
            return False
        code = self.process.poll()
        if code is None:
            return True
        self.signal_group(signal.SIGKILL)
        self.last_exit, self.process = code, None
        self.due = time.monotonic() + PAUSE
        return False

    def signal_group(self, number: signal.Signals) -> None:
        """Signal every process of the program's group."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def stop(self) -> None:
        """End it: SIGTERM to its leader, and SIGKILL to the group when the grace is over."""
        if self.process and self.running():
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
            self.signal_group(signal.SIGKILL)
            self.process.wait()
        self.running()
        self.due = 0.0

    def report(self) -> dict[str, Any]:
        """What `status` shows."""
        up = self.running()
        return {
            "name": self.name,
            "state": "running" if up else ("restarting" if self.wanted else "stopped"),
            "pid": self.process.pid if self.process else None,
            "seconds": round(time.monotonic() - self.started, 1) if up else None,
            "restarts": self.restarts,
            "last_exit": self.last_exit,
        }


class Supervisor:
    """Keeps the programs that were added, and does what callers ask."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.programs: dict[str, Program] = {}
        self.ending = False
        for name in ("log", "pid"):
            (directory / name).mkdir(parents=True, exist_ok=True)

    def start(self, program: Program) -> None:
        """Start a program now."""
        with (self.directory / "log" / f"{program.name}.log").open("ab") as log:
            program.process = subprocess.Popen(
                program.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=self.directory,
                env={**os.environ, **program.environment, MARK: str(self.directory)},
            )
        program.started = time.monotonic()
        (self.directory / "pid" / f"{program.name}.pid").write_text(f"{program.process.pid}\n")

    def watch(self) -> None:
        """Start what should run, does not, and has paused long enough."""
        for program in self.programs.values():
            if not program.running() and program.wanted and time.monotonic() >= program.due:
                program.restarts += 1
                self.start(program)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request."""
        verb = request["verb"]
        if verb == "status":
            return {"programs": [program.report() for program in self.programs.values()]}
        if verb == "quit":
            self.ending = True
            return {}
        if verb == "add":
            return self.add(Program(**request["program"]))
        program = self.programs.get(request["name"])
        if program is None:
            return {"error": f"there is no program {request['name']!r}"}
        {"stop": self.stop, "restart": self.restart, "kill": self.kill}[verb](program)
        return program.report()

    def add(self, program: Program) -> dict[str, Any]:
        """Take in a program and start it; one that runs already as asked is left alone."""
        known = self.programs.get(program.name)
        if known and known.same(program):
            known.wanted = True
            if known.running():
                return known.report()
            program = known
        elif known:
            known.stop()
        self.programs[program.name] = program
        self.start(program)
        return program.report()

    def stop(self, program: Program) -> None:
        """Stop a program and leave it so."""
        program.wanted = False
        program.stop()

    def restart(self, program: Program) -> None:
        """Stop a program and start it at once."""
        program.stop()
        program.wanted = True
        self.start(program)

    def kill(self, program: Program) -> None:
        """Kill all processes of a program with SIGKILL; it comes back after the pause."""
        if program.process and program.running():
            program.signal_group(signal.SIGKILL)
            program.process.wait()
            program.running()

    def end(self) -> None:
        """Stop everything: level by level, all of one at the same time."""
        levels = {program.level for program in self.programs.values()}
        for level in sorted(levels, reverse=True):
            chosen = [program for program in self.programs.values() if program.level == level]
            for program in chosen:
                if program.process:
                    program.process.terminate()
            for program in chosen:
                self.stop(program)

    def serve(self, listener: socket.socket) -> None:
        """Answer callers and watch the programs until told to quit."""
        listener.settimeout(0.2)
        owner = os.environ.get(OWNER)
        while not self.ending and (owner is None or Path(f"/proc/{owner}").exists()):
            self.watch()
            with contextlib.suppress(TimeoutError):
                connection, _ = listener.accept()
                with connection, contextlib.suppress(ConnectionError):
                    self.converse(connection)
        self.end()

    def converse(self, connection: socket.socket) -> None:
        """Answer one caller."""
        connection.settimeout(5)
        with connection.makefile("rw", encoding="utf-8") as stream:
            try:
                reply = self.answer(json.loads(stream.readline()))
            except (OSError, KeyError, TypeError, ValueError) as error:
                reply = {"error": f"{type(error).__name__}: {error}"}
            stream.write(json.dumps(reply) + "\n")


def address(directory: Path) -> tuple[str, int]:
    """The socket's path, through an open directory: a path to it may be too long for a socket."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    return f"/proc/self/fd/{descriptor}/supervisor.sock", descriptor


def main() -> None:
    """Run the supervisor of a directory."""
    directory = Path(sys.argv[1])
    supervisor = Supervisor(directory)

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    (directory / "supervisor.sock").unlink(missing_ok=True)
    path, descriptor = address(directory)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        os.close(descriptor)
        (directory / "pid" / "supervisor.pid").write_text(f"{os.getpid()}\n")
        try:
            supervisor.serve(listener)
        except SystemExit:
            supervisor.end()
            raise
        finally:
            (directory / "supervisor.sock").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
