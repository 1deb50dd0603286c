"""A process is killed, by the kernel, at every point that a verb passes; another one takes over."""

from __future__ import annotations

import os
import signal
import sys
import traceback

import pytest

from tests.chaos.cases import accepted, check, each_verb, hits, outcome, recover

pytestmark = pytest.mark.chaos


def die_at(program, point):
    """Work on what was rung for in a child process, which ends at *point*."""
    program.sessions.engine.dispose()
    pid = os.fork()
    if pid == 0:
        try:
            os.environ["FILESHARE_FAILPOINTS"] = f"{point}=kill"
            program.drain()
        except BaseException:  # noqa: BLE001  (a child must never return into pytest)
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), f"the worker did not come to {point}"
    assert os.WTERMSIG(status) == signal.SIGKILL
    program.bell.rung.clear()


@each_verb
def test_a_process_is_killed_at_every_point(event, worlds, monkeypatch, record_property):
    """C049, C050, C051"""
    points, expected = hits(worlds, event, monkeypatch)
    for point in points:
        program, ask = worlds.begin(event)
        accepted(ask())
        die_at(program, point)
        recover(program)
        check(program)
        assert outcome(program) == expected, point
    record_property("kills", len(points))


@each_verb
def test_a_process_is_killed_at_one_point_after_the_other(event, worlds, monkeypatch):
    """The next worker dies a little later, the one after it again, and the last one finishes."""
    points, expected = hits(worlds, event, monkeypatch)
    program, ask = worlds.begin(event)
    accepted(ask())
    for point in [point for point in points if point.startswith("driver.")][:3]:
        program.make_due()
        program.bell.rung.extend(
            (destination, intent_id)
            for destination, consumer in program.consumers.items()
            for intent_id in consumer.due()
        )
        die_at(program, point)
    recover(program)
    check(program)
    assert outcome(program) == expected
