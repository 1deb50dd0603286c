"""Work, calls and contexts that another release wrote."""

from __future__ import annotations

import dataclasses
import inspect

import pytest
import sqlalchemy as sa

from fileshare.context import Context
from fileshare.db import models
from fileshare.db.clock import after
from fileshare.domain.statuses import IntentState
from fileshare.intents import destinations
from fileshare.intents.kinds import KINDS, CreateShare
from fileshare.rpc import doorbell

each_kind = pytest.mark.parametrize("kind", sorted(KINDS))


@each_kind
def test_a_payload_of_the_release_before_is_read(kind):
    """What it did not know yet has a default; so it says nothing that is missed."""
    work = KINDS[kind]
    assert work.load({}) == work()
    for field in dataclasses.fields(work):
        dumped = work().dump()
        del dumped[field.name]
        assert work.load(dumped) == work()


@each_kind
def test_a_payload_of_the_next_release_is_read(kind):
    """A field that was added changes nothing for who does not know it."""
    work = KINDS[kind]
    assert work.load({**work().dump(), "what_comes_next": [1]}) == work()


FIRST_VERSIONS = {
    "access.sync": set(),
    "backend.ensure": {"fingerprint", "after"},
    "backend.reconcile": {"repair"},
    "share.create": {"hints", "attempted"},
    "share.deferred_delete": set(),
    "share.delete": set(),
    "share.extend": {"size"},
    "share.extend_check": {"size"},
    "share.force_delete": set(),
    "share.place": {"hints", "attempted"},
    "share.shrink": {"size"},
    "share.update_metadata": set(),
}
"""The fields that a kind had from the beginning: none may go or get another name."""


@pytest.mark.parametrize("kind", sorted(FIRST_VERSIONS))
def test_fields_stay(kind):
    assert {field.name for field in dataclasses.fields(KINDS[kind])} >= FIRST_VERSIONS[kind]


def _intent(api):
    return api.sessions.run(lambda session: session.scalars(sa.select(models.Intent)).one())


def _rewrite(api, **values):
    api.sessions.run(lambda session: session.execute(sa.update(models.Intent).values(**values)))


@pytest.mark.parametrize(
    "newer", [{"version": CreateShare.version + 1}, {"kind": "share.create_in_the_new_way"}]
)
def test_work_of_the_next_release_is_left_to_it(api, newer):
    """However often this one comes by; then a daemon that knows it does it at its first try."""
    share_id = api.new_share(drain=False)
    destination, intent_id = api.bell.rung.popleft()
    api.consumers[destination].perform(intent_id)  # placed
    written = _intent(api)
    assert written.kind == CreateShare.kind
    _rewrite(api, **newer)
    for _ in range(api.conf.intents.max_attempts + 3):
        api.make_due()
        api.poll()
    left = _intent(api)
    assert (left.state, left.owner, left.attempts) == (IntentState.OPEN, None, 0)
    assert api.show(share_id)["status"] == "creating"
    assert api.messages(share_id) == []
    _rewrite(api, kind=written.kind, version=written.version)  # the newer daemon knows it
    api.make_due()
    api.poll()
    assert api.show(share_id)["status"] == "available"
    assert _intent(api).attempts == 1
    api.check()


def test_the_reaper_leaves_work_of_the_next_release_and_reaps_the_rest(api):
    api.conf.set_override("give_up_after", 1, group="intents")
    newer = api.new_share(drain=False)
    _rewrite(api, kind="share.create_in_the_new_way", due=after(-100))
    lost = api.new_share(drain=False)
    known = models.Intent.share_id == lost
    api.sessions.run(
        lambda session: session.execute(
            sa.update(models.Intent).where(known).values(due=after(-50))
        )
    )
    assert api.reap() == 1
    assert api.show(newer)["status"] == "creating"
    assert api.show(lost)["status"] == "error"


def test_the_doorbell_is_the_same_for_ever():
    """Daemons of both releases ring each other: its one call may not change."""
    assert doorbell.VERSION == "1.0"
    parameters = inspect.signature(doorbell.DoorbellEndpoint.ring).parameters
    assert list(parameters) == ["self", "ctx", "intent_ids"]
    assert doorbell.topic(destinations.share("host@backend")) == "fileshare.share.host@backend"
    assert doorbell.topic(destinations.SCHEDULER) == "fileshare.scheduler"


def test_a_context_of_another_release_is_read():
    context = Context(request_id="req-1", user_id="u", roles=("member",))
    assert Context.load({**context.dump(), "what_comes_next": 1}) == context
    assert Context.load({"request_id": "req-1"}) == Context(request_id="req-1")
