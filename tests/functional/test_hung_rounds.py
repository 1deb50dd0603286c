"""What is done by the clock goes on although a call of the driver never returns.

Real threads and timers; a call that hangs does so until the test ends.
"""

from __future__ import annotations

import contextlib
import logging
import threading

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, running
from waiting import until

from fileshare.context import service_context
from fileshare.db.clock import after
from fileshare.db.models import Intent, Member
from fileshare.drivers.dummy.state import SHARES
from fileshare.operations import maintenance
from fileshare.share.ensure import Watch
from fileshare.share.service import ShareDaemon

ALPHA = f"{HOST}@alpha"
SOON = 30.0
OPTIONS = {"lease": 2, "longest_work": 1, "poll_interval": 0.1, "max_attempts": 50}
"""Of intents: on a busy machine a second without a sign of life is none of a hung call."""


class Hang:
    """The first call of a driver's method that is about *about* waits for the test's end.

    *again* are the moments at which further calls have ended, and *met* whether two were at work
    on one instance at the same time.
    """

    def __init__(self, method, about=None):
        self.method, self.about = method, about
        self.begun, self.end = threading.Event(), threading.Event()
        self.again, self.met = [], []
        self._at_work = []

    def spoil(self, driver):
        real = getattr(driver, self.method)

        def call(*arguments):
            id = arguments[0].id if arguments else None
            if id is not None and id in self._at_work:
                self.met.append(id)
            self._at_work.append(id)
            try:
                return self._call(real, id, arguments)
            finally:
                self._at_work.remove(id)

        setattr(driver, self.method, call)

    def _call(self, real, id, arguments):
        if self.about in {None, id} and not self.begun.is_set():
            self.begun.set()
            assert self.end.wait(2 * SOON)
        found = real(*arguments)
        self.again.append(id)
        return found


@pytest.fixture
def alpha(tmp_path):
    """A back end with two shares, whose hung calls are given up after a second."""
    options = {"reconcile_interval": 1, "periodic_interval": 1, "report_interval": 1}
    with running(tmp_path, backends=("alpha",), **options) as made:
        for name, value in OPTIONS.items():
            made.conf.set_override(name, value, "intents")
        shares = [made.new_share() for _ in range(2)]
        made.shares = sorted(shares, key=lambda share_id: instance_of(made, share_id))
        Watch(made.runtime, ALPHA, made.drivers["alpha"]).look()
        made.drain()  # or the daemons would ensure its shares
        made.write(sa.delete(Member))
        yield made


@contextlib.contextmanager
def daemons(program, hang, number):
    """So many daemons of the back end; the call that hangs ends with them."""
    made = [ShareDaemon(program.runtime, "alpha", f"test-{n}") for n in range(number)]
    for daemon in made:
        hang.spoil(daemon.driver)
        daemon.start()
    try:
        yield made
    finally:
        hang.end.set()
        for daemon in made:
            daemon.stop()


def instance_of(program, share_id):
    return program.read_share(share_id).instance.id


def lose_rules(program):
    """Let the back end forget the rules of all shares."""
    for share_id in program.shares:
        rule = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "rw"}
        assert program.act(share_id, "allow_access", rule).status == 200
    program.drain()
    state = program.drivers["alpha"].state
    for share_id in program.shares:
        id = instance_of(program, share_id)
        state.write(SHARES, id, {**state.read(SHARES, id), "rules": []})


def has_rules(program, share_id):
    return program.drivers["alpha"].state.read(SHARES, instance_of(program, share_id))["rules"]


def task(daemon, name):
    return next(each for each in daemon.daemon._loops if each.task.name == name)


def rounds(daemons):
    """The comparisons that go on; one that starts has no tasks yet."""
    loops = [loop for each in daemons for loop in each.daemon._loops]
    return [each for loop in loops if loop.task.name == "reconcile" for each in loop.rounds]


@pytest.mark.parametrize("number", [1, 2])
def test_a_hung_comparison_does_not_hold_its_back_end(alpha, number, caplog):
    """Another daemon compares, or the same one; what hung does nothing when it wakes up."""
    hang = Hang("instances")
    with daemons(alpha, hang, number) as made:
        assert hang.begun.wait(SOON)
        until(lambda: hang.again, "somebody compares")
        assert "Periodic task reconcile of node@alpha hangs" in caplog.text
        hang.end.set()
        until(
            lambda: not any(round.given_up.is_set() for round in rounds(made)),
            "what hung has ended",
        )
    assert "Periodic task reconcile of node@alpha woke up and ends" in caplog.text


def test_a_daemon_that_ends_lets_the_call_end_and_no_more(alpha, caplog):
    """As with promised work: what the back end was told is not cut off, and locks are kept."""
    alpha.conf.set_override("longest_work", 1000, "intents")
    caplog.set_level(logging.INFO, "fileshare")
    first, _second = alpha.shares
    lose_rules(alpha)
    hang = Hang("ensure", instance_of(alpha, first))
    with daemons(alpha, hang, 1) as (daemon,):
        assert hang.begun.wait(SOON)
        ending = threading.Thread(target=daemon.stop)
        ending.start()
        assert daemon.daemon.stopping.wait(SOON)
        ending.join(0.5)
        assert ending.is_alive(), "it waits for the call"
        hang.end.set()
        ending.join(SOON)
        assert not ending.is_alive()
        assert not any(loop.rounds for loop in daemon.daemon._loops)
    assert "Periodic task reconcile of node@alpha ends with its daemon" in caplog.text
    assert hang.again == [instance_of(alpha, first)]


def test_a_hung_call_about_one_instance_leaves_the_others(alpha):
    """They are looked after; about the one that hangs no second call is made."""
    first, second = alpha.shares
    lose_rules(alpha)
    hang = Hang("ensure", instance_of(alpha, first))
    with daemons(alpha, hang, 2):
        assert hang.begun.wait(SOON)
        until(lambda: has_rules(alpha, second), "the other one has its rules again")
        assert not has_rules(alpha, first)
        hang.end.set()
        until(lambda: has_rules(alpha, first), "and so has this one when it can")
    assert hang.met == []


def test_a_walk_passes_over_what_hangs_and_comes_back(alpha, caplog):
    first, second = alpha.shares
    lose_rules(alpha)
    hang = Hang("ensure", instance_of(alpha, first))
    alpha.conf.set_override("reconcile_interval", 1000)
    with daemons(alpha, hang, 1):
        answer = alpha.post("/services/ensure-shares", {"host": ALPHA}, as_=ADMIN)
        assert answer.status == 202
        assert hang.begun.wait(SOON)
        until(lambda: has_rules(alpha, second), "the other one is ensured")
        hang.end.set()
        until(lambda: has_rules(alpha, first), "and so is this one when it can be")
    assert hang.met == []


def test_an_operators_comparison_that_hangs_lets_go_of_the_back_end(alpha):
    """The clock's goes on; the operator's is done again, or given up and told so."""
    hang = Hang("instances")
    alpha.conf.set_override("reconcile_interval", 1000)
    with daemons(alpha, hang, 1) as (daemon,):
        intent_id = maintenance.reconcile(alpha.runtime, service_context(), ALPHA, repair=False)
        assert hang.begun.wait(SOON)
        until(lambda: hang.again, "somebody compares")
        until(lambda: state_of(alpha, intent_id) == "done", "it is done")
        task(daemon, "reconcile").once()
        assert len(hang.again) >= 2


def state_of(program, intent_id):
    return program.scalar(sa.select(Intent.state).where(Intent.id == intent_id))


def test_a_back_end_that_does_not_answer_is_down(alpha):
    """And up again when it does."""
    alpha.conf.set_override("longest_work", 1000, "intents")
    alpha.conf.set_override("reconcile_interval", 1000)  # it asks the driver, too
    alpha.conf.set_override("service_down_time", 2)
    hang = Hang("check")
    hang.begun.set()
    with daemons(alpha, hang, 1) as (daemon,):
        until(lambda: daemon.daemon._member, "it serves")
        hang.begun.clear()
        assert hang.begun.wait(SOON)
        until(lambda: "said nothing" in (daemon.reason or ""), "it is told")
        until(lambda: not alive(alpha), "no heartbeat comes")
        hang.end.set()
        until(lambda: alive(alpha), "it answers")
        until(lambda: daemon.reason is None, "nothing is wrong")


def alive(program):
    return bool(program.rows(sa.select(Member.id).where(Member.heartbeat_at >= after(-2))))


def test_where_a_task_cannot_go_on_the_service_is_down(alpha):
    """All calls hang: each round holds a thread, and no more than a few do."""
    hang = Hang("pools")
    alpha.conf.set_override("max_attempts", 2, "intents")
    with daemons(alpha, hang, 1) as (daemon,):
        assert hang.begun.wait(SOON)
        hang._call = lambda *_: hang.end.wait(2 * SOON)  # and all others, too
        report = task(daemon, "report pools")
        until(lambda: len(report.rounds) == 2 and report._loop is None, "it rests")
        until(lambda: not alive(alpha), "no heartbeat comes")
        del hang._call
        hang.end.set()
        until(lambda: alive(alpha), "it goes on")
        until(lambda: hang.again, "and reports")
