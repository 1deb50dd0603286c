"""Clearing away what a local back end has mounted."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path


def below(directory: Path) -> list[str]:
    """Mount points under a directory, in the order of mounting."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4].encode().decode("unicode_escape") for line in lines]
    return [point for point in points if point.startswith(f"{directory.resolve()}/")]


def clear(directory: Path, seconds: float = 10) -> None:
    """Unmount all that is mounted under a directory; RuntimeError when something stays busy.

    A mount may shadow another one and a server that was just killed lets go only by and by, so
    this goes round until nothing is left. Loop devices go with their mounts.
    """
    end = time.monotonic() + seconds
    while points := below(directory):
        if time.monotonic() > end:
            raise RuntimeError(f"still mounted: {', '.join(points)}")
        for point in reversed(points):
            subprocess.run(["umount", point], check=False, capture_output=True)
        time.sleep(0.1)
