"""Every verb of the lifecycles with a driver that hangs, and with clocks that are wrong.

Generated from the same tables as ``test_generated.py``.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
import sqlalchemy as sa
from inprocess import HOST

from fileshare.db import models
from fileshare.intents import consumer, failpoints
from tests.chaos import truth
from tests.chaos.cases import (
    CHORES,
    STARTS,
    accepted,
    check,
    each_verb,
    hits,
    outcome,
    picture,
    recover,
)

pytestmark = pytest.mark.chaos

PATIENCE = 60.0  # seconds after which a test is given up


class Hang:
    """The first call of a driver's method ends when it is told to; so does its worker."""

    def __init__(self, program, call, when, monkeypatch):
        self.program = program
        self.begun, self.end = threading.Event(), threading.Event()
        self.error = None
        for driver in {type(driver) for driver in program.drivers.values()}:
            monkeypatch.setattr(driver, call, self._wrapped(getattr(driver, call), when))
        self.worker = threading.Thread(target=self._work)

    def _wrapped(self, real, when):
        def method(driver, *arguments, **named):
            if self.begun.is_set():
                return real(driver, *arguments, **named)
            if when == "before":
                self._wait()
                return real(driver, *arguments, **named)
            found = real(driver, *arguments, **named)
            self._wait()
            return found

        return method

    def _wait(self):
        for daemon in self.program.consumers.values():
            for job in daemon.running.values():
                job.kept_at -= 1000  # so long has it been away
        self.begun.set()
        assert self.end.wait(PATIENCE)

    def _work(self):
        try:
            self.program.drain()
        except BaseException as error:  # noqa: BLE001  (told in the thread of the test)
            self.error = error

    def start(self):
        self.worker.start()
        assert self.begun.wait(PATIENCE), "the driver was not called"
        self.program.bell.rung.clear()

    def stop(self):
        self.end.set()
        self.worker.join(PATIENCE)
        assert not self.worker.is_alive()
        assert self.error is None


def begin_hanging(worlds, event, call, when, monkeypatch):
    program, ask = worlds.begin(event)
    monkeypatch.setattr(program.runtime.locks, "patience", 0.01)
    accepted(ask())
    hang = Hang(program, call, when, monkeypatch)
    hang.start()
    return program, hang


@each_verb
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_driver_hangs_for_longer_than_a_lease(event, when, worlds, monkeypatch):
    """Another worker takes the work over; the one that hung writes nothing when it wakes."""
    _, expected = hits(worlds, event, monkeypatch)
    for call in STARTS[event].calls:
        with monkeypatch.context() as patch:
            program, hang = begin_hanging(worlds, event, call, when, patch)
            program.make_due()
            program.poll()  # taken over, and waiting, or done where nobody else is in the way
            before = picture(program)[:4]
            hang.stop()
            program.bell.rung.clear()
            assert picture(program)[:4] == before, "a worker wrote that had lost its claim"
        recover(program)
        check(program)
        assert outcome(program) == expected, call


@each_verb
def test_the_driver_hangs_for_good(event, worlds, monkeypatch):
    """The work is given up: settled, told, and the books are right, whatever wakes later."""
    call = STARTS[event].calls[0]
    with monkeypatch.context() as patch:
        program, hang = begin_hanging(worlds, event, call, "before", patch)
        recover(program)
        found = truth.read(program.sessions)
        assert found.booked == found.counted
        assert all(share.intent_id is None for share in found.shares)
        assert found.told or event in CHORES
        before = picture(program)[:4]
        hang.stop()
        program.bell.rung.clear()
    assert picture(program)[:4] == before
    assert truth.is_idle(program.sessions)
    check(program, all_active=False, left_over=event == "share.force_delete")


SKEWS = {"scheduler": 600.0, f"share.{HOST}@alpha": -86400.0, f"share.{HOST}@beta": 3600.0}
"""Seconds by which the clock of the process that serves a destination is wrong."""


def set_clocks(patch, program):
    """Every daemon has a clock of its own; the API's is right."""
    real, perform = time.time, consumer.Consumer.perform
    skew = [0.0]
    assert set(program.consumers) == set(SKEWS)
    patch.setattr(time, "time", lambda: real() + skew[0])

    def perform_by_its_clock(self, intent_id):
        skew[0] = SKEWS[self.destinations[0]]
        try:
            return perform(self, intent_id)
        finally:
            skew[0] = 0.0

    patch.setattr(consumer.Consumer, "perform", perform_by_its_clock)


@each_verb
def test_the_clocks_of_the_nodes_are_wrong(event, worlds, monkeypatch):
    """Times come from the database: nothing is different, and nothing is taken over early."""
    points, expected = hits(worlds, event, monkeypatch)
    for point in [None, *points]:
        program, ask = worlds.begin(event)
        with monkeypatch.context() as patch:
            set_clocks(patch, program)
            accepted(ask())
            if point:
                patch.setenv("FILESHARE_FAILPOINTS", f"{point}=raise")
                with pytest.raises(failpoints.Injected):
                    program.drain()
                patch.delenv("FILESHARE_FAILPOINTS")
                program.bell.rung.clear()
            for _ in range(3):
                program.poll()
            if point is None:
                assert truth.is_idle(program.sessions)
                assert set(attempts(program)) == {1}
            recover(program)
        check(program)
        assert outcome(program) == expected, point


def attempts(program):
    return program.sessions.run(
        lambda session: session.scalars(sa.select(models.Intent.attempts)).all()
    )


NEW_VERB = """
import sys
import pytest
from fileshare.domain.lifecycle import SHARE, Verb
SHARE._verbs["frobnicate"] = Verb(
    "share", "frobnicate", frozenset({"available"}), "frobnicating", "available", "error"
)
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def test_a_verb_that_is_declared_gets_cases_by_itself(request):
    """Everything that can go wrong, at every point of it."""
    directory = request.path.parent
    files = [directory / name for name in ("test_generated.py", request.path.name)]
    files.append(directory / "test_kills.py")
    done = subprocess.run(
        [sys.executable, "-c", NEW_VERB, *files],
        capture_output=True,
        text=True,
        cwd=request.config.rootpath,
        check=True,
        timeout=120,
    )
    lines = done.stdout.splitlines()
    for known, new in (("share.extend", "share.frobnicate"),):
        cases = {line.replace(known, "") for line in lines if known in line}
        assert len(cases) > 15
        kinds = {line for line in cases if "removed_by_force" not in line}
        assert kinds == {line.replace(new, "") for line in lines if new in line}
