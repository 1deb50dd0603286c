"""A server's guard: it keeps one command for as long as another process lives, no longer.

    python -m devstack.guard PID DIRECTORY COMMAND…

The command runs in a process group of its own. When the process PID is gone, or the guard is told
to end (SIGTERM), the whole group is killed and DIRECTORY removed. So nothing outlives a test run,
however that run ends. When the command ends by itself the guard ends with its exit code.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from devstack import waiting
from devstack.servers import Server


def start(server: Server, owner: int) -> subprocess.Popen[bytes]:
    """Start a server under a guard that ends with the process `owner`."""
    account = [server.account] if server.account else []
    log = server.directory / f"{server.name}.log"
    root = Path(__file__).resolve().parent.parent
    with log.open("ab") as output:
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "devstack.guard",
                str(owner),
                str(server.directory),
                *(account or ["-"]),
                *server.command(),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **server.environment, "PYTHONPATH": str(root)},
            cwd="/",
            start_new_session=True,
        )


def wait_ready(server: Server, guard: subprocess.Popen[bytes], seconds: float = 90) -> None:
    """Wait until a server serves; one that does not is ended: RuntimeError with its log's end."""
    waiting.until(lambda: guard.poll() is not None or server.ready(), seconds, pause=0.05)
    if guard.poll() is not None or not server.ready():
        guard.terminate()
        guard.wait()
        log = (server.directory / f"{server.name}.log").read_text(errors="replace")
        raise RuntimeError(f"{server.name} did not start:\n{log[-4000:]}")


def _as(account: str) -> dict[str, Any]:
    """Popen's arguments to run as a system user."""
    if account == "-":
        return {}
    return {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main() -> None:
    """Run the guard."""
    owner, directory, account, *command = sys.argv[1:]
    child = subprocess.Popen(command, start_new_session=True, **_as(account))

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        while _alive(int(owner)):
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise SystemExit(child.wait(timeout=0.5))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if not _alive(int(owner)):
            shutil.rmtree(directory, ignore_errors=True)
            with contextlib.suppress(OSError):
                Path(directory).parent.rmdir()


if __name__ == "__main__":
    main()
