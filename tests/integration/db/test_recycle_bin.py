"""Two that decide about one share and the recycle bin at once: one comes after the other."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from fileshare import errors
from fileshare.db import recycle_bin, transitions
from fileshare.db.clock import after
from fileshare.db.models import Share, new_id
from fileshare.db.query import ALL, Scope
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.statuses import Status
from tests.fixtures.databases import KINDS
from tests.integration.db.test_guards import interleave, share_id

__all__ = ["interleave", "share_id"]

pytestmark = pytest.mark.parametrize("kind", KINDS)

MINE = Scope("p1")


@pytest.fixture
def binned(sessions, share_id):
    """A share whose time in the bin is over."""
    with sessions.begin() as session:
        recycle_bin.put(session, share_id, MINE, 60)
        session.execute(sa.update(Share).values(scheduled_to_be_deleted_at=after(-1)))
    return share_id


def expire(share_id):
    """What the chore does with a share that it saw in the bin."""

    def write(session):
        transitions.begin(session, SHARE["delete"], share_id, new_id(), ALL)
        if not recycle_bin.is_expired(session, share_id):
            raise errors.Refused(reason="not in the bin")

    return write


def facts(sessions):
    with sessions.begin() as session:
        return tuple(session.execute(sa.select(Share.status, Share.is_soft_deleted)).one())


def test_a_share_that_is_restored_first_stays(sessions, interleave, binned):
    restored, refusal = interleave(
        lambda session: recycle_bin.take_out(session, binned, MINE), expire(binned)
    )
    assert restored is True
    assert isinstance(refusal, errors.Refused)
    assert facts(sessions) == (Status.AVAILABLE, False)


def test_a_share_whose_time_is_over_is_not_restored(sessions, interleave, binned):
    _, refusal = interleave(
        expire(binned), lambda session: recycle_bin.take_out(session, binned, MINE)
    )
    assert isinstance(refusal, errors.WrongStatus)
    assert facts(sessions) == (Status.DELETING, True)


def test_a_share_is_put_into_the_bin_once(sessions, interleave, share_id):
    _, refusal = interleave(
        lambda session: recycle_bin.put(session, share_id, MINE, 60),
        lambda session: recycle_bin.put(session, share_id, MINE, 60),
    )
    assert isinstance(refusal, errors.Refused)
    assert facts(sessions) == (Status.AVAILABLE, True)


@pytest.mark.parametrize("verb", ["extend", "shrink"])
def test_a_share_in_the_bin_does_not_change_its_size(sessions, interleave, share_id, verb):
    _, refusal = interleave(
        lambda session: recycle_bin.put(session, share_id, MINE, 60),
        lambda session: transitions.begin(session, SHARE[verb], share_id, new_id(), MINE),
    )
    assert isinstance(refusal, errors.Refused)
    assert facts(sessions) == (Status.AVAILABLE, True)


def test_a_share_that_is_worked_on_is_not_put_into_the_bin(sessions, interleave, share_id):
    _, refusal = interleave(
        lambda session: transitions.begin(session, SHARE["extend"], share_id, new_id(), MINE),
        lambda session: recycle_bin.put(session, share_id, MINE, 60),
    )
    assert isinstance(refusal, errors.WrongStatus)
    assert facts(sessions) == (Status.EXTENDING, False)


def test_what_is_expired_is_found_in_parts(sessions, binned):
    with sessions.begin() as session:
        assert recycle_bin.expired(session) == [binned]
        assert recycle_bin.expired(session, after_id=binned) == []
        assert recycle_bin.expired(session, limit=0) == []
        recycle_bin.take_out(session, binned, MINE)
        assert recycle_bin.expired(session) == []
