"""A lock that is given back once: by whoever took it, or by who watches that it does not hang."""

from __future__ import annotations

import contextlib
import threading


class Grip:
    """The hold on what *entered* holds open; two threads may let go at the same time."""

    def __init__(self, entered: contextlib.ExitStack) -> None:
        self._entered = entered
        self._mutex = threading.Lock()

    def release(self) -> None:
        """Let go, if that has not been done yet."""
        with self._mutex:
            self._entered.close()
