"""Waiting for what other programs bring about, for longer where the machine is busy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def patience(seconds: float) -> float:
    """For how long to wait for what takes *seconds* at most where each program has a processor."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def until(ready: Callable[[], Found], seconds: float = 60, pause: float = 0.1) -> Found:
    """What *ready* returns as soon as that is true; what it returned last when patience ends."""
    began = time.monotonic()
    while not (found := ready()) and time.monotonic() - began < patience(seconds):
        time.sleep(pause)
    return found
