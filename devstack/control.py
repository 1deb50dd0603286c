"""How callers reach a supervisor, start one, and clear up after one that was killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from devstack import mounts, waiting
from devstack.supervisor import MARK, Program, address


class Refused(Exception):
    """The supervisor did not do what it was asked."""


def ask(directory: Path, verb: str, **fields: Any) -> dict[str, Any]:
    """Ask the supervisor of a directory; ConnectionError when none listens."""
    if not directory.exists():
        raise ConnectionRefusedError(f"{directory} does not exist")
    path, descriptor = address(directory)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(120)
        try:
            connection.connect(path)
        except FileNotFoundError as error:
            raise ConnectionRefusedError(str(error)) from error
        finally:
            os.close(descriptor)
        with connection.makefile("rw", encoding="utf-8") as stream:
            stream.write(json.dumps({"verb": verb, **fields}) + "\n")
            stream.flush()
            reply: dict[str, Any] = json.loads(stream.readline())
    if "error" in reply:
        raise Refused(reply["error"])
    return reply


def alive(directory: Path) -> bool:
    """Whether a supervisor serves this directory."""
    try:
        ask(directory, "status")
    except OSError:
        return False
    return True


def ensure(directory: Path) -> None:
    """Start a supervisor for a directory unless one serves it."""
    if alive(directory):
        return
    directory.mkdir(parents=True, exist_ok=True)
    sweep(directory)
    (directory / "log").mkdir(exist_ok=True)
    with (directory / "log" / "supervisor.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "devstack.supervisor", str(directory)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=Path(__file__).resolve().parent.parent,
            env={**os.environ, MARK: str(directory)},
        )
    waiting.until(lambda: process.poll() is not None or alive(directory), 20, pause=0.05)
    if not alive(directory):
        raise Refused(f"the supervisor did not start: see {directory}/log/supervisor.log")
    # It outlives this process: Popen has nothing to wait for.
    process.returncode = 0


def add(directory: Path, program: Program) -> None:
    """Have a program run."""
    wanted = ("name", "command", "environment", "level")
    ask(directory, "add", program={name: getattr(program, name) for name in wanted})


def wait_gone(directory: Path, seconds: float = 60) -> None:
    """Wait until no supervisor serves this directory."""
    waiting.until(lambda: not alive(directory), seconds)


def end(directory: Path) -> None:
    """End the supervisor of this directory, if one is there, and all that it started."""
    with contextlib.suppress(ConnectionError):
        ask(directory, "quit")
    wait_gone(directory)
    sweep(directory)
    mounts.clear(directory)


def marked(directory: Path) -> Iterator[int]:
    """The supervisors of this directory, what they started, and what that started."""
    mark = f"{MARK}={directory}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)


def sweep(directory: Path) -> None:
    """Kill what an earlier supervisor of this directory left running."""
    for number, pause in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
        for pid in marked(directory):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        end = time.monotonic() + pause
        while time.monotonic() < end and any(True for _ in marked(directory)):
            time.sleep(0.1)
