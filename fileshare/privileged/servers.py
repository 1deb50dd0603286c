"""Starting and ending the servers that a back end runs for itself."""

from __future__ import annotations

import contextlib
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


def lives(config: str) -> bool:
    """Whether a server was started with *config* and is alive, whatever its pid."""
    pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return any(serves(pid, config) for pid in pids)


@privileged
def user() -> int:
    """Who runs these functions; 0 is root."""
    return os.geteuid()


@privileged
def start_bus(config: str) -> None:
    """Start a message bus that outlives this process; it writes its pid as *config* says."""
    run("setsid", "dbus-daemon", f"--config-file={config}", "--fork")


@privileged
def start_ganesha(config: str, log: str, pid_file: str, bus: str, namespace: str | None) -> None:
    """Start NFS-Ganesha so that it outlives this process, in a network namespace if one is named.

    It goes to the background by itself.  The mount namespace stays this one: Ganesha must see
    what is mounted later.
    """
    inside = [] if namespace is None else ["nsenter", f"--net=/run/netns/{namespace}"]
    command = ["ganesha.nfsd", "-f", config, "-L", log, "-p", pid_file, "-N", "NIV_EVENT"]
    run(*inside, "setsid", *command, environment={"DBUS_SYSTEM_BUS_ADDRESS": bus})


@privileged
def end(pid: int, config: str) -> None:
    """End a server that was started with *config*, by force when it does not go in time."""
    for attempt in range(END_TRIES):
        if not serves(pid, config):
            return
        strong = attempt >= END_TRIES // 2
        with contextlib.suppress(ProcessLookupError):
            if attempt == 0 or strong:
                os.kill(pid, signal.SIGKILL if strong else signal.SIGTERM)
        time.sleep(END_PAUSE)
