"""Asking for the shares of a back end to be ensured while that is being done."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, running

from fileshare.db.models import Intent
from fileshare.drivers.dummy.faults import CONTROL
from fileshare.share import ensure

ALPHA = f"{HOST}@alpha"


@pytest.fixture
def alpha(tmp_path):
    """A program with one back end."""
    with running(tmp_path, backends=("alpha",)) as made:
        yield made


@pytest.fixture
def watch(alpha):
    return ensure.Watch(alpha.runtime, ALPHA, alpha.drivers["alpha"])


def ask(program):
    return program.post("/services/ensure-shares", {"host": ALPHA}, as_=ADMIN)


def is_ensuring(program):
    (row,) = program.get(f"/services?host={ALPHA}", as_=ADMIN)["services"]
    return row["ensuring"]


@pytest.mark.parametrize("when", [1, 3, 5])
def test_whoever_asks_again_gets_one_more_look_at_each(alpha, watch, monkeypatch, when):
    """The walk goes on from where it stands, and round to the place of the last request."""
    monkeypatch.setattr(ensure, "BATCH", 2)
    ids = sorted(alpha.read_share(alpha.new_share()).instance.id for _ in range(5))
    driver, seen = alpha.drivers["alpha"], []
    real = driver.ensure

    def spy(ref):
        seen.append(ref.id)
        if len(seen) <= when:
            assert ask(alpha).status == 202
        return real(ref)

    driver.ensure = spy
    watch.look()
    alpha.drain()
    assert seen[:5] == ids, "no request begins it anew"
    place = min(5, when + when % 2)
    assert seen[5:] == ids[:place], "and each is seen after the last one"
    events = alpha.scalars(sa.select(Intent.event).where(Intent.resource_type == "backend"))
    assert events == ["backend.ensure"]
    assert not is_ensuring(alpha)
    assert watch.look() is False


def test_a_walk_that_waits_goes_on_when_it_is_asked_for(alpha, watch):
    alpha.new_share()
    control = alpha.drivers["alpha"].state.root / CONTROL
    control.write_text(json.dumps({"fail": ["ensure", "check"]}))
    watch.look()
    alpha.drain()
    control.unlink()
    assert is_ensuring(alpha)
    assert ask(alpha).status == 202
    alpha.drain()
    assert not is_ensuring(alpha)
