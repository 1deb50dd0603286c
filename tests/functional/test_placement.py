"""Where shares go, and what becomes of them where a back end cannot make them."""

from __future__ import annotations

import json

import pytest
import sqlalchemy as sa
from inprocess import HOST

from fileshare.db import models

ALPHA, BETA = f"{HOST}@alpha", f"{HOST}@beta"


def tell(program, name, *failures):
    """Let the driver of a back end fail at what is said."""
    control = program.state / name / "control.json"
    control.write_text(json.dumps({"fail": failures}))


def pools(program):
    rows = program.rows(sa.select(models.PoolReport.backend, models.PoolReport.claimed_gb))
    claimed = {backend: 0 for backend, _ in rows}
    for backend, gigabytes in rows:
        claimed[backend] += gigabytes
    return claimed


def leave(program, free):
    """Let every pool report that so much is free, and that it promises no more."""
    program.write(
        sa.update(models.PoolReport).values(
            total_gb=100.0,
            free_gb=float(free),
            thin=False,
            claimed_gb=0,
            report_seq=models.PoolReport.report_seq + 1,
        )
    )


def backend_of(share):
    return share["host"].partition("#")[0]


def intent_of(program, share_id):
    return program.scalar(
        sa.select(models.Intent)
        .where(models.Intent.share_id == share_id)
        .order_by(models.Intent.created_at)
    )


def test_what_is_placed_is_claimed_until_a_report_counts_it(program):
    share_id = program.new_share(size=7)
    at = backend_of(program.show(share_id))
    assert pools(program)[at] == 7
    program.report()
    assert pools(program) == {ALPHA: 0, BETA: 0}
    assert program.show(share_id)["status"] == "available"


@pytest.mark.parametrize("bad", ["alpha", "beta"])
def test_another_back_end_makes_what_one_cannot(program, bad):
    tell(program, bad, "create")
    shares = [program.new_share(size=3) for _share in range(6)]
    shown = [program.show(share_id) for share_id in shares]
    good = BETA if bad == "alpha" else ALPHA
    assert {(share["status"], backend_of(share)) for share in shown} == {("available", good)}
    zone = {share["availability_zone"] for share in shown}
    assert zone == {f"manila-zone-{int(bad == 'alpha')}"}
    assert pools(program) == {f"{HOST}@{bad}": 0, good: 18}
    assert all(not program.messages(share_id) for share_id in shares)
    program.check()


def test_a_share_keeps_to_the_zone_that_was_asked_for(program):
    tell(program, "alpha", "create")
    share_id = program.new_share(availability_zone="manila-zone-0")
    share = program.show(share_id)
    assert share["status"] == "error"
    (message,) = program.messages(share_id)
    assert (message.action_id, message.detail_id) in {("001", "007"), ("001", "011")}
    trace = intent_of(program, share_id).trace
    assert [each.get("failed") is not None for each in trace] == [False, True, False]
    assert trace[-1]["failures"][0].startswith(f"{ALPHA}#")
    assert pools(program) == {ALPHA: 0, BETA: 0}
    program.check()


def test_a_share_that_nobody_can_make_ends_in_error_and_frees_all(program):
    for name in ("alpha", "beta"):
        tell(program, name, "create")
    share_id = program.new_share()
    assert program.show(share_id)["status"] == "error"
    assert program.show(share_id)["availability_zone"] is None
    (message,) = program.messages(share_id)
    assert (message.action_id, message.detail_id) == ("001", "011")
    assert pools(program) == {ALPHA: 0, BETA: 0}
    program.check()


def test_a_back_end_that_stays_busy_is_left_for_another(program):
    tell(program, "alpha", "create error=busy")
    share_id = program.new_share(drain=False)
    for _turn in range(20):
        program.make_due()
        program.poll()
    share = program.show(share_id)
    assert (share["status"], backend_of(share)) == ("available", BETA)
    program.check()


def test_pools_are_filled_to_the_brim_and_no_further(program):
    leave(program, 10)
    shares = [program.new_share(size=4) for _share in range(5)]
    shown = [program.show(share_id) for share_id in shares]
    assert [share["status"] for share in shown] == ["available"] * 4 + ["error"]
    assert pools(program) == {ALPHA: 8, BETA: 8}
    (message,) = program.messages(shares[-1])
    assert (message.action_id, message.detail_id) == ("001", "009")
    assert intent_of(program, shares[-1]).trace[-1]["summary"] == "2 pools: 2 too small"
    program.check()


def test_an_extend_takes_what_is_added_and_gives_it_back_where_it_fails(program):
    share_id = program.new_share(size=10)
    at = backend_of(program.show(share_id))
    program.report()
    assert program.act(share_id, "extend", {"new_size": 15}).status == 202
    program.drain()
    assert (program.show(share_id)["size"], pools(program)[at]) == (15, 5)
    program.report()
    tell(program, at.partition("@")[2], "extend")
    assert program.act(share_id, "extend", {"new_size": 20}).status == 202
    program.drain()
    share = program.show(share_id)
    assert (share["status"], share["size"]) == ("extending_error", 15)
    assert pools(program)[at] == 0


def test_an_extend_without_room_leaves_the_share_as_it_was(program):
    share_id = program.new_share(size=6)
    leave(program, 2)
    assert program.act(share_id, "extend", {"new_size": 9}).status == 202
    program.drain()
    share = program.show(share_id)
    assert (share["status"], share["size"]) == ("available", 6)
    (message,) = program.messages(share_id)
    assert (message.action_id, message.detail_id) == ("008", "009")
    program.check()
    assert program.act(share_id, "extend", {"new_size": 8}).status == 202
    program.drain()
    assert program.show(share_id)["size"] == 8
