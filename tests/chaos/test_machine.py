"""One project in which verbs, losses and restarts come in any order: it always ends in order."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from inprocess import ADMIN

from fileshare.db import quotas
from fileshare.intents import failpoints
from tests.chaos.cases import Worlds, check, recover

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(300)]

WORLD: list[Worlds] = []
CHOICE = st.integers(0, 7)
POINT = st.sampled_from(failpoints.POINTS)


@pytest.fixture(scope="module", autouse=True)
def _world(tmp_path_factory):
    WORLD[:] = [Worlds(tmp_path_factory.mktemp("machine"))]
    yield
    WORLD.pop().close()


class Project(RuleBasedStateMachine):
    """Requests may be refused; what was accepted must be carried out or fail with a message."""

    @initialize()
    def begin(self):
        self.program, _ = WORLD[0].begin("share.create")
        self.shares = []
        self.rules = []

    def some(self, things, number):
        return things[number % len(things)] if things else None

    def ask(self, share_id, action, value=None, **how):
        if share_id is not None:
            answer = self.program.act(share_id, action, value, **how)
            assert answer.status < 500, answer.body
            return answer
        return None

    @rule(size=st.integers(1, 3))
    def create(self, size):
        self.shares.append(self.program.new_share(drain=False, size=size))

    @rule(number=CHOICE, size=st.integers(1, 5))
    def resize(self, number, size):
        share_id = self.some(self.shares, number)
        self.ask(share_id, "extend" if number % 2 else "shrink", {"new_size": size})

    @rule(number=CHOICE)
    def delete(self, number):
        share_id = self.some(self.shares, number)
        if share_id is not None:
            assert self.program.delete(f"/shares/{share_id}").status < 500

    @rule(number=CHOICE)
    def force_delete(self, number):
        self.ask(self.some(self.shares, number), "force_delete", as_=ADMIN)

    @rule(number=CHOICE, address=st.integers(1, 4))
    def allow(self, number, address):
        share_id = self.some(self.shares, number)
        to = {"access_type": "ip", "access_to": f"10.0.0.{address}"}
        answer = self.ask(share_id, "allow_access", to)
        if answer is not None and answer.status < 300:
            self.rules.append((share_id, answer["access"]["id"]))

    @rule(number=CHOICE)
    def deny(self, number):
        found = self.some(self.rules, number)
        if found is not None:
            self.ask(found[0], "deny_access", {"access_id": found[1]})

    @rule()
    def lose_a_message(self):
        if self.program.bell.rung:
            self.program.bell.rung.popleft()

    @rule()
    def double_the_messages(self):
        self.program.bell.rung.extend(list(self.program.bell.rung))

    @rule(point=POINT)
    def lose_a_worker(self, point):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FILESHARE_FAILPOINTS", f"{point}=raise")
            with contextlib.suppress(failpoints.Injected):
                self.program.drain()

    @rule()
    def work(self):
        self.program.drain()

    @rule()
    def let_leases_end(self):
        self.program.make_due()
        self.program.poll()

    @invariant()
    def the_books_are_right_all_the_time(self):
        if hasattr(self, "program"):
            run = self.program.sessions.run
            assert run(quotas.booked) == run(quotas.recount)

    def teardown(self):
        if hasattr(self, "program"):
            self.program.bell.rung.clear()
            recover(self.program)
            check(self.program, all_active=False)


Project.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
TestProject = Project.TestCase
