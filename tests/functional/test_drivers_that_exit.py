"""B19: a library below a driver that means to end its process ends one call, and no more.

Real threads and timers.
"""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from inprocess import HOST, running
from waiting import until

from fileshare.intents.rounds import Periodic, Repeated, plain
from fileshare.share.service import ShareDaemon

ALPHA = f"{HOST}@alpha"
OPTIONS = {"poll_interval": 0.1, "workers": 2}


@pytest.fixture
def alpha(tmp_path):
    options = {"periodic_interval": 1, "report_interval": 1, "reconcile_interval": 1}
    with running(tmp_path, backends=("alpha",), **options) as made:
        for name, value in OPTIONS.items():
            made.conf.set_override(name, value, "intents")
        del made.consumers[f"share.{ALPHA}"]  # the daemon's
        yield made


class Exits:
    """The first *times* calls of a driver's method raise *what*; then it is what it was."""

    def __init__(self, driver, method, what, times):
        self.left, self.what, self._real = times, what, getattr(driver, method)
        setattr(driver, method, self)

    def __call__(self, *arguments):
        if self.left:
            self.left -= 1
            raise self.what
        return self._real(*arguments)


@pytest.fixture(params=[SystemExit, asyncio.CancelledError])
def what(request):
    """What nothing handles that handles errors."""
    return request.param


@contextlib.contextmanager
def serving(daemon):
    daemon.start()
    try:
        yield
    finally:
        daemon.stop()


def status(program, share_id):
    program.drain()  # a scheduler has its say, too
    return program.show(share_id)["status"]


def test_its_set_up_is_tried_again(alpha, what):
    daemon = ShareDaemon(alpha.runtime, "alpha", "here")
    Exits(daemon.driver, "setup", what, 1)
    with serving(daemon):
        until(lambda: daemon.reason is None, "it is served")


def test_work_fails_at_once_and_the_next_is_done(alpha, what):
    """More calls than there are workers."""
    daemon = ShareDaemon(alpha.runtime, "alpha", "here")
    exits = Exits(daemon.driver, "create", what, 3)
    with serving(daemon):
        failed = [alpha.new_share() for _ in range(exits.left)]
        until(lambda: {status(alpha, each) for each in failed} == {"error"}, "they fail")
        assert exits.left == 0
        made = alpha.new_share()
        until(lambda: status(alpha, made) == "available", "there are workers left")


@pytest.mark.parametrize("method", ["pools", "check", "info", "instances"])
def test_what_is_done_by_the_clock_goes_on(alpha, what, method):
    daemon = ShareDaemon(alpha.runtime, "alpha", "here")
    with serving(daemon):
        until(lambda: daemon.reason is None, "it is served")
        exits = Exits(daemon.driver, method, what, 3)
        until(lambda: not exits.left, "it is called again")
        until(lambda: daemon.reason is None, "it works")


def test_who_interrupts_the_process_is_heard(alpha):
    """The main thread does by itself what is done once, at a start and at an end."""

    def interrupt():
        raise KeyboardInterrupt

    once = Repeated(Periodic("leave", lambda: 0, plain(interrupt)), ALPHA, alpha.runtime)
    with pytest.raises(KeyboardInterrupt):
        once.once()
    assert once.rounds == []
