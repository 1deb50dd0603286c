"""Starting and ending the servers that a back end runs for itself."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from pathlib import Path

from fileshare.privileged import privileged
from fileshare.privileged.commands import run

END_TRIES = 100
END_PAUSE = 0.05


def serves(pid: int, config: str) -> bool:
    """Whether *pid* is a live server that was started with *config* (needs no privilege)."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return any(config.encode() in word for word in words)


def held(lock: str) -> bool:
    """Whether a server that was started with *lock* is alive, whatever its pid (no privilege).

    It inherited the lock, as does each process it becomes on its way to the background.  So the
    kernel knows at any moment, where a search among the processes can miss one that forks.
    """
    try:
        with Path(lock).open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


@privileged
def user() -> int:
    """Who runs these functions; 0 is root."""
    return os.geteuid()


@privileged
def start_bus(config: str) -> None:
    """Start a message bus that outlives this process; it writes its pid as *config* says."""
    run("setsid", "dbus-daemon", f"--config-file={config}", "--fork")


@privileged
def start_ganesha(
    config: str, log: str, pid_file: str, lock: str, bus: str, namespace: str | None
) -> None:
    """Start NFS-Ganesha so that it outlives this process, in a network namespace if one is named.

    It goes to the background by itself, and holds *lock* until it ends; it does not start while
    another holds it.  The mount namespace stays this one: Ganesha must see what is mounted later.
    """
    alone = ["flock", "--nonblock", lock]
    inside = [] if namespace is None else ["nsenter", f"--net=/run/netns/{namespace}"]
    command = ["ganesha.nfsd", "-f", config, "-L", log, "-p", pid_file, "-N", "NIV_EVENT"]
    run(*alone, *inside, "setsid", *command, environment={"DBUS_SYSTEM_BUS_ADDRESS": bus})


@privileged
def end(config: str, pid: int | None, lock: str | None = None) -> None:
    """End a server that was started with *config*, by force when it does not go in time.

    It is the one of *pid*, and whoever holds *lock*: one that is about to start has no pid yet.
    """
    for attempt in range(END_TRIES):
        left = set() if pid is None or not serves(pid, config) else {pid}
        if lock is not None and held(lock):
            left |= _openers(lock)
        elif not left:
            return
        strong = attempt >= END_TRIES // 2
        for one in left:
            with contextlib.suppress(ProcessLookupError):
                if attempt == 0 or strong:
                    os.kill(one, signal.SIGKILL if strong else signal.SIGTERM)
        time.sleep(END_PAUSE)


def _openers(path: str) -> set[int]:
    """Pids of the other processes that have the file open.

    Files are told apart by their names: whoever asks for their attributes waits for a file system
    that hangs, which may be the one that the server in question serves to this machine.
    """
    found, name = set(), os.path.realpath(path)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ends
            for opened in (process / "fd").iterdir():
                with contextlib.suppress(OSError):  # it closes the file
                    if str(opened.readlink()) == name:
                        found.add(int(process.name))
    return found - {os.getpid()}
