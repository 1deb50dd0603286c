"""A queue of work in which every project gets its turn."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

Look = Callable[[Sequence[str]], Mapping[str, str | None]]
"""The projects of intents by their ids."""

_NEW = ""
"""The line of those whose project is not known yet."""


class FairQueue:
    """Ids of intents, each project's in the order in which they came, one project after another.

    A ring says nothing of projects, and to look for them costs a statement: it is made only
    where more than *enough* ids wait, and then for all of them together.  Fewer are a line of
    their own among those of the projects, so that who is new waits for no crowd.
    """

    def __init__(self, look: Look, enough: int) -> None:
        self._look = look
        self._enough = enough
        self._lines: OrderedDict[str | None, deque[str]] = OrderedDict()
        self._ready = threading.Condition()
        self._closed = False

    def put(self, intent_id: str) -> None:
        with self._ready:
            self._line(_NEW).append(intent_id)
            self._ready.notify()

    def take(self) -> str | None:
        """The next one, once there is one; None after the end."""
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._lines or self._closed)
                if self._closed:
                    return None
                crowd = self._crowd()
                if not crowd:
                    return self._next()
            self._sort(crowd)

    def close(self) -> None:
        """Nothing is taken any more."""
        with self._ready:
            self._closed = True
            self._ready.notify_all()

    def _line(self, project: str | None) -> deque[str]:
        return self._lines.setdefault(project, deque())

    def _next(self) -> str:
        project, line = next(iter(self._lines.items()))
        found = line.popleft()
        if line:
            self._lines.move_to_end(project)
        else:
            del self._lines[project]
        return found

    def _crowd(self) -> Sequence[str]:
        line = self._lines.get(_NEW, ())
        return self._lines.pop(_NEW) if len(line) > self._enough else ()

    def _sort(self, crowd: Sequence[str]) -> None:
        try:
            projects = self._look(crowd)
        except Exception:
            LOG.warning("Work is not sorted by projects", exc_info=True)
            projects = {}
        with self._ready:
            for intent_id in crowd:
                self._line(projects.get(intent_id)).append(intent_id)
            self._ready.notify_all()
