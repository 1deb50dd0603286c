"""A storm finds what was wrong for a moment only, and is right again at its end."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, PROJECT, running

from fileshare.db import models
from fileshare.domain.quotas import PROJECT as SCOPE
from fileshare.drivers.dummy.state import State
from tests.chaos.storm import plan, report, sights
from tests.chaos.storm.checker import always
from tests.chaos.storm.final import Final
from tests.chaos.storm.sights import Sight, adrift, unenforced
from tests.chaos.truth import Truth

RULE = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "rw"}


@pytest.fixture
def program(tmp_path):
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def look(program):
    return lambda: program.sessions.run(sights.look)


def test_a_look_at_what_is_right(program, look):
    """Also while work is promised, and where it has failed."""
    for driver in program.drivers.values():
        driver.state = State(driver.state.root, journal=True)
    shares = [program.new_share() for _ in range(2)]
    seen = [look()]
    program.act(shares[0], "allow_access", RULE)
    program.act(shares[1], "extend", {"new_size": 3})
    waiting = program.new_share(drain=False)
    seen.append(look())
    assert [shown for sight in seen for shown in sight.shown] == []
    program.drain()
    program.delete(f"/shares/{waiting}")
    seen.append(look())
    program.drain()
    seen.append(look())
    assert len(seen[-1].shown) == 1
    assert seen[-1].booked[PROJECT, SCOPE, "gigabytes"] == 4
    assert list(adrift(seen)) == []
    records = [
        note for driver in program.drivers.values() for note in driver.state.notes("records")
    ]
    assert list(unenforced(seen, records)) == []


def test_books_that_drift_are_seen(program, look):
    program.new_share()
    program.write(sa.update(models.QuotaUsage).values(used=models.QuotaUsage.used + 1))
    assert any("were booked" in text for _, text in adrift([look()]))


def test_a_share_that_nobody_works_on_is_seen(program, look):
    share_id = program.new_share(drain=False)
    program.write(sa.update(models.Intent).values(state="failed", due=None))
    assert [about for about, _ in adrift([look()])] == [share_id]
    assert program.show(share_id, as_=ADMIN)["status"] == "creating"


def sight(start=10.0, **facts):
    nothing = {"booked": {}, "counted": {}, "orphans": [], "shown": []}
    return Sight(**{**nothing, "start": start, "end": start + 0.5, **facts})


def record(at, *rules):
    held = {"rules": [{"id": id, "level": level} for id, level in rules]}
    return {"id": "instance", "at": at, "record": held}


SHOWN = [("instance", "rule", "ro")]


@pytest.mark.parametrize(
    ("records", "is_right"),
    [
        ([record(5.0, ("rule", "ro"))], True),
        ([record(5.0), record(10.2, ("rule", "ro"))], True),
        ([record(5.0, ("rule", "ro")), record(10.2)], True),
        ([record(5.0), record(10.6, ("rule", "ro"))], False),
        ([record(5.0, ("rule", "ro")), record(9.0)], False),
        ([record(5.0, ("rule", "rw"))], False),
        ([{"id": "instance", "at": 9.0, "record": None}], False),
        ([], False),
    ],
)
def test_a_rule_is_active_only_where_the_back_end_enforces_it(records, is_right):
    found = list(unenforced([sight(shown=SHOWN)], records))
    assert [about for about, _ in found] == ([] if is_right else ["instance"])


def test_all_of_it_is_a_violation(empty_final):
    over = {("p", SCOPE, "shares"): plan.QUOTA["shares"] + 1}
    seen = [sight(booked=over, counted=over), sight(orphans=[("s", "creating")])]
    final = dataclasses.replace(empty_final, records=[record(5.0)])
    texts = [str(found) for found in always([], final, [*seen, sight(shown=SHOWN)])]
    assert len(texts) == 3
    for words in ("are booked on p", "nobody was at work", "was shown as active"):
        assert any(words in text for text in texts)


@pytest.fixture
def empty_final():
    """What a storm leaves in which nothing was done."""
    truth = Truth([], [], [], [], [], set(), {}, {})
    return Final(truth, {}, {}, [], {}, {}, {}, {}, {}, [], [], {})


def test_a_late_takeover_is_told():
    taken = [("kill", 4.0), ("kill", 24.0), ("pause", 3.0)]
    assert list(report.late(taken, 23.0)) == [
        "work was taken up 24.0 s after a kill, not within 23 s"
    ]
