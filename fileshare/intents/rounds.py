"""What a daemon does by the clock, round after round, also where one of them hangs.

A call of a driver may never return.  As with promised work, what gave no sign of life for
``[intents] longest_work`` seconds is given up: its lock is free for other daemons, this one begins
anew, and what the hung round would still do is refused when it wakes up.  A round that goes on
while its daemon ends is over at its next sign of life: the call that runs comes to its end.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oslo_log import log as logging

from fileshare.db import session
from fileshare.intents.grip import Grip
from fileshare.intents.runtime import Runtime

LOG = logging.getLogger(__name__)

PAUSE = 0.02
"""Seconds between two looks at whether rounds have ended."""

LOOK = 5.0
"""Most seconds for which a changed interval is not noticed."""

Alive = Callable[[], None]
"""Says that a round goes on; raises :class:`Over` where it does not any more."""


class Over(Exception):
    """The round is over: stop, change nothing."""


class GivenUp(Over):
    """It was silent for so long that another one was begun."""


class Stopped(Over):
    """Its daemon ends."""


def always() -> None:
    """The sign of life of what nobody watches."""


def plain(action: Callable[[], Any]) -> Callable[[Alive], Any]:
    """An action that is too short to give signs of life."""
    return lambda _alive: action()


@dataclass(frozen=True, slots=True)
class Periodic:
    """Something that is done again and again: a reconciler, safe to run anywhere, at any time.

    *every* says how many seconds lie between two beginnings; it is asked each time, because
    options change.  *shared* tasks have one owner at a time among all daemons that have them: the
    name of a lock.  The first time is at once, or *later*: after the interval.
    """

    name: str
    every: Callable[[], float]
    action: Callable[[Alive], Any]
    shared: str | None = None
    later: bool = False

    @property
    def seconds(self) -> float:
        """The interval as it is now."""
        return self.every()


class _Round:
    """One run of a task."""

    def __init__(self, stopped: threading.Event) -> None:
        self.seen_at = time.monotonic()
        self.stopped, self.given_up = stopped, threading.Event()
        self.stack = contextlib.ExitStack()
        self.grip = Grip(self.stack)

    def alive(self) -> None:
        if self.given_up.is_set():
            raise GivenUp
        if self.stopped.is_set():
            raise Stopped
        self.seen_at = time.monotonic()

    def give_up(self) -> None:
        self.given_up.set()
        self.grip.release()


class Repeated:
    """A task of a daemon, and its rounds: the one that runs, and those that were given up."""

    def __init__(self, task: Periodic, host: str, runtime: Runtime) -> None:
        self.task, self.host, self.runtime = task, host, runtime
        self.rounds: list[_Round] = []
        self._mutex = threading.Lock()
        self._loop: Any = None
        self._began_at = 0.0
        self._stopped = threading.Event()
        self._stuck = False

    @property
    def is_stuck(self) -> bool:
        """Whether a round was given up and none has come to its end since."""
        return self._stuck

    def start(self) -> None:
        """Begin the rounds, in a thread of their own."""
        self._begin(later=self.task.later)

    def _begin(self, *, later: bool) -> None:
        # Imported here, because cmd chooses threads or eventlet before.
        from oslo_service import loopingcall  # noqa: PLC0415

        with self._mutex:
            if self._stopped.is_set() or self._loop is not None:
                return
            self._began_at = time.monotonic() if later else -math.inf
            self._loop = loopingcall.DynamicLoopingCall(self._look)
            self._loop.start(stop_on_exception=False)

    def _look(self) -> float:
        """A round, where it is time for one; seconds until the next look."""
        if self._left() <= 0:
            self._began_at = time.monotonic()
            self.once()
        return min(max(self._left(), 0.0), LOOK)

    def _left(self) -> float:
        return self._began_at + self.task.seconds - time.monotonic()

    def stop(self) -> None:
        """Begin no more rounds, and let the one that runs end at its next sign of life."""
        with self._mutex:
            self._stopped.set()
            if self._loop is not None:
                self._loop.stop()

    def wait(self, deadline: float) -> None:
        """Wait until no round runs but those that were given up, or until *deadline* is past.

        *deadline* is by the monotonic clock.
        """
        while self._running() and time.monotonic() < deadline:
            time.sleep(PAUSE)

    def _running(self) -> list[_Round]:
        return [each for each in list(self.rounds) if not each.given_up.is_set()]

    def once(self) -> None:
        """One round; whatever it raises is logged."""
        this = _Round(self._stopped)
        with self._mutex:
            if self._stopped.is_set():
                return
            self.rounds.append(this)
        try:
            self._perform(this)
        except Stopped:
            LOG.info("Periodic task %s of %s ends with its daemon", self.task.name, self.host)
        except GivenUp:
            LOG.warning("Periodic task %s of %s woke up and ends", self.task.name, self.host)
        except KeyboardInterrupt:
            raise  # where the main thread does it: somebody ends the process
        except session.Unreachable as error:
            # Every task of every daemon says so until the database is back: no traceback.
            LOG.error(  # noqa: TRY400
                "Periodic task %s of %s failed for want of a connection to the database: %s",
                self.task.name,
                self.host,
                session.why(error),
            )
        except BaseException:
            # Also what is to end a thread: the next round is to come.
            LOG.exception("Periodic task %s of %s failed", self.task.name, self.host)
        finally:
            this.grip.release()
            self.rounds.remove(this)
            self._ended(this)

    def _perform(self, this: _Round) -> None:
        if self.task.shared is None:
            self.task.action(this.alive)
            return
        if this.stack.enter_context(self.runtime.locks.try_lock(self.task.shared)):
            self.task.action(this.alive)

    def _ended(self, this: _Round) -> None:
        if not this.given_up.is_set():
            self._stuck = False
        elif self._loop is None:
            # So many hung that none was begun any more.
            self._begin(later=True)

    def watch(self) -> None:
        """Give up the round that hangs, and begin anew in another thread."""
        limit = self.runtime.conf.intents.longest_work
        for each in self._running():
            if time.monotonic() - each.seen_at > limit:
                self._give_up(each, limit)

    def _give_up(self, this: _Round, seconds: float) -> None:
        self._stuck = True
        with self._mutex:
            if self._loop is not None:
                self._loop.stop()
            self._loop = None
        this.give_up()
        name, hanging = self.task.name, len(self.rounds)
        LOG.error(
            "Periodic task %s of %s hangs: no call has ended for %d s; it is given up",
            name,
            self.host,
            seconds,
        )
        if hanging < self.runtime.conf.intents.max_attempts:
            self._begin(later=False)
        else:
            # Each holds a thread for as long as its call does not return.
            LOG.error("Periodic task %s of %s hangs %d times and rests", name, self.host, hanging)
