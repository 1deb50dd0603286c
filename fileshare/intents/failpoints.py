"""Named points at which tests may stop a process; nothing happens otherwise.

``FILESHARE_FAILPOINTS`` is a list of ``name=action`` with commas between; actions are ``kill``
(SIGKILL to this process), ``raise`` (the work ends there) and ``sleep:SECONDS``.  A name may be
narrowed to a kind of work: ``driver.after@share.extend=kill``.
"""

from __future__ import annotations

import os
import signal
import time

POINTS = ("claimed", "driver.before", "driver.after", "recording", "recorded", "rung")


class Injected(BaseException):
    """What the action ``raise`` raises: like a kill, nothing of the work handles it."""


def _armed() -> dict[str, str]:
    text = os.environ.get("FILESHARE_FAILPOINTS", "")
    return dict(item.split("=", 1) for item in text.split(",") if "=" in item)


def hit(name: str, kind: str = "") -> None:
    """Say that the process is at *name*, in work of *kind*."""
    if "FILESHARE_FAILPOINTS" not in os.environ:
        return
    armed = _armed()
    action = armed.get(f"{name}@{kind}", armed.get(name, ""))
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise Injected(name)
    elif action.startswith("sleep:"):
        time.sleep(float(action.partition(":")[2]))
