"""What is given up because nobody takes it, and what is only late."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST

from fileshare.db import services
from fileshare.db.clock import after
from fileshare.db.models import Intent, Member, Service, ShareInstance
from fileshare.intents import destinations
from fileshare.intents import reaper as reaping
from fileshare.intents.outcomes import LONGEST_PAUSE
from fileshare.intents.reaper import Reaper
from fileshare.intents.rounds import Stopped

HOUR = 3600
NIGHT = 10 * HOUR


class Clock:
    """How long this scheduler has run, in seconds."""

    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def reaper(program, clock):
    assert program.conf.intents.give_up_after == HOUR
    return Reaper(program.runtime, clock)


def late(program, share_id, seconds=NIGHT):
    """Let the work on a share be overdue, and lost by its ring."""
    mine = Intent.share_id == share_id
    program.write(sa.update(Intent).where(mine).values(due=after(-seconds)))
    program.bell.rung.clear()


def waiting(program):
    """A share that waits for its back end."""
    share_id = program.new_share(drain=False)
    _, placing = program.bell.rung.popleft()
    program.consumers[destinations.SCHEDULER].perform(placing)
    late(program, share_id)
    return share_id


def look(reaper, clock, minutes):
    """Look every minute for so long; how many were given up."""
    found = 0
    for _ in range(minutes):
        found += reaper.reap()
        clock.seconds += 60
    return found


def test_a_cloud_that_was_off_for_a_night_goes_on(program, reaper, clock):
    """The scheduler starts first, and a back end takes its time."""
    share_id = waiting(program)
    assert look(reaper, clock, 59) == 0
    program.poll()
    assert program.show(share_id)["status"] == "available"
    assert look(reaper, clock, 120) == 0
    program.check()


def test_what_nobody_takes_is_given_up(program, reaper, clock):
    share_id = waiting(program)
    assert look(reaper, clock, 62) == 1
    assert program.show(share_id)["status"] == "error"
    assert program.messages(share_id)


@pytest.mark.parametrize("at_once", [1, 100])
def test_one_that_cannot_be_given_up_keeps_no_other(
    program, reaper, clock, caplog, monkeypatch, at_once
):
    """B04: that one cannot be settled, because rows that it needs are gone."""
    monkeypatch.setattr(reaping, "AT_ONCE", at_once)
    broken = program.new_share()
    assert program.act(broken, "force_delete", as_=ADMIN).status == 202
    mine = ShareInstance.share_id == broken
    program.write(sa.update(ShareInstance).where(mine).values(deleted_at=after(0)))
    others = [waiting(program) for _ in range(3)]
    program.write(sa.update(Intent).values(due=after(-HOUR)))  # all at the same moment
    assert look(reaper, clock, 62) == 3
    assert {program.show(share_id)["status"] for share_id in others} == {"error"}
    assert "could not be given up" in caplog.text


def test_a_look_ends_with_its_daemon(program, reaper, clock):
    """However much there is to be given up."""
    shares = [waiting(program) for _ in range(2)]
    assert look(reaper, clock, 60) == 0
    left = [None]

    def alive():
        if not left:
            raise Stopped
        left.pop()

    with pytest.raises(Stopped):
        reaper.reap(alive)
    assert sorted(program.show(each)["status"] for each in shares) == ["creating", "error"]


def test_who_waits_in_a_long_queue_is_not_given_up(program, reaper, clock):
    """Another one of the same back end is in hand whenever somebody looks."""
    share_id, other = waiting(program), waiting(program)
    held = {"owner": "somebody", "due": after(60)}
    hosts = {f"share.{HOST}@{name}" for name in program.drivers}
    program.write(sa.update(Intent).values(destination=min(hosts)))
    program.write(sa.update(Intent).where(Intent.share_id == other).values(**held))
    assert look(reaper, clock, 180) == 0
    late(program, other)
    assert look(reaper, clock, 59) == 0, "the time begins when nothing is in hand"
    assert look(reaper, clock, 3) == 2
    assert program.show(share_id)["status"] == "error"


def test_a_clock_that_was_set_back_keeps_nothing_waiting(program, reaper, clock):
    """What was due an hour ago is due in an hour; so ends the lease of one that died."""
    queued, held = waiting(program), waiting(program)
    program.write(sa.update(Intent).values(due=after(HOUR)))
    program.write(sa.update(Intent).where(Intent.share_id == held).values(owner="dead"))
    program.poll()
    assert program.show(queued)["status"] == "creating"
    assert look(reaper, clock, 1) == 0
    assert program.count(Intent, Intent.due > after(LONGEST_PAUSE)) == 0
    assert look(reaper, clock, 100) == 0
    program.make_due()
    program.poll()
    assert {program.show(share_id)["status"] for share_id in (queued, held)} == {"available"}


def test_leases_and_pauses_are_left_alone(program, reaper, clock):
    share_id = waiting(program)
    program.write(sa.update(Intent).values(due=after(60)))
    before = program.scalar(sa.select(Intent.due).where(Intent.share_id == share_id))
    assert look(reaper, clock, 3) == 0
    assert program.scalar(sa.select(Intent.due).where(Intent.share_id == share_id)) == before


def test_who_died_before_the_clock_was_set_back_is_down(program):
    program.write(sa.update(Member).values(heartbeat_at=after(HOUR)))
    program.write(sa.update(Service).values(heartbeat_at=after(HOUR)))
    program.sessions.run(lambda session: services.mark_down(session, 60))
    assert {row["state"] for row in program.get("/services", as_=ADMIN)["services"]} == {"down"}


def test_one_back_end_that_is_gone_is_no_other_one(program, reaper, clock):
    gone, other = waiting(program), waiting(program)
    rows = sorted(f"share.{HOST}@{name}" for name in program.drivers)
    for share_id, destination in zip((gone, other), rows, strict=True):
        mine = Intent.share_id == share_id
        program.write(sa.update(Intent).where(mine).values(destination=destination))
    program.write(
        sa.update(Intent).where(Intent.share_id == other).values(owner="x", due=after(60))
    )
    assert look(reaper, clock, 62) == 1
    assert program.show(gone)["status"] == "error"
    assert program.show(other)["status"] == "creating"
