"""Claims on pools, on the databases that clouds run on."""

from __future__ import annotations

import functools
import math
import threading
import time

import pytest
import sqlalchemy as sa

from fileshare.db import models, pools
from fileshare.domain.statuses import IntentState, Status
from fileshare.intents.kinds import PlaceShare
from tests.unit.scheduler.cloud import Cloud

pytestmark = pytest.mark.integration
ALPHA, BETA = "node1@alpha", "node2@beta"


@pytest.fixture(params=["mariadb_url", "postgresql_url"])
def cloud(request):
    made = Cloud(request.getfixturevalue(request.param))
    yield made
    made.sessions.dispose()


def run_all(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def schedule(cloud, asked):
    scheduler = cloud.scheduler()
    for intent_id in asked:
        assert scheduler.perform(intent_id)


def report_until(cloud, done, host, names):
    while not done.is_set():
        cloud.report(host, pools=names, free_gb=105.0)
        time.sleep(0.02)


def finish(cloud, asked):
    """An intent whose choice was outdated time and again waits for its next turn."""
    scheduler = cloud.scheduler()
    for intent_id in asked:
        while True:
            intent = cloud.intent(intent_id)
            if intent.kind != PlaceShare.kind or intent.state != IntentState.OPEN:
                break
            scheduler.perform(intent_id)
            time.sleep(0.05)


def test_schedulers_that_race_fill_the_pools_to_the_brim_and_no_further(cloud):
    """Four schedulers place while the back ends report; nothing of it is counted twice or lost."""
    names = ("gold", "lead")
    for host in (ALPHA, BETA):
        cloud.backend(host)
        cloud.report(host, pools=names, free_gb=105.0)
    asked = [cloud.share(PlaceShare()) for _share in range(48)]
    done = threading.Event()

    def place():
        parts = [asked[number::4] for number in range(4)]
        try:
            run_all(*(functools.partial(schedule, cloud, part) for part in parts))
        finally:
            done.set()

    run_all(
        place,
        functools.partial(report_until, cloud, done, ALPHA, names),
        functools.partial(report_until, cloud, done, BETA, names),
    )
    finish(cloud, asked)
    placed = [each for each in asked if cloud.intent(each).state == IntentState.OPEN]
    assert len(placed) == 40
    claimed = {f"{host}#{name}": 100 for host in (ALPHA, BETA) for name in names}
    assert {host: cloud.pool(host).claimed_gb for host in claimed} == claimed
    assert cloud.messages() == [("001", "009")] * 8


def test_a_report_and_a_claim_at_once_lose_nothing(cloud):
    """The report comes while the claim is under way: it waits, and counts the claim."""
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    intent_id = cloud.share(PlaceShare())
    share_id = cloud.intent(intent_id).share_id
    seen = cloud.pool(f"{ALPHA}#gold")
    wanted = pools.Claim(seen.id, seen.report_seq, 50.0, 10, share_id)
    reporting = threading.Thread(target=cloud.report, args=(ALPHA,))
    with cloud.sessions.begin() as session:
        session.execute(
            sa.update(models.ShareInstance)
            .where(models.ShareInstance.id == share_id)
            .values(host=f"{ALPHA}#gold")
        )
        assert pools.claim(session, wanted)
        reporting.start()
        time.sleep(0.3)
        assert reporting.is_alive()
    reporting.join()
    after = cloud.pool(f"{ALPHA}#gold")
    assert (after.report_seq, after.claimed_gb) == (seen.report_seq + 1, 10)
    with cloud.sessions.begin() as session:
        assert not pools.claim(session, wanted)  # decided on the older report


def test_claims_have_a_limit_and_unknown_room_has_none(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    share_id = cloud.intent(cloud.share(PlaceShare())).share_id
    seen = cloud.pool(f"{ALPHA}#gold")

    def claim(most, size):
        wanted = pools.Claim(seen.id, seen.report_seq, most, size, share_id)
        return cloud.do(pools.claim, wanted)

    assert claim(20.9, 10)
    assert not claim(19.9, 10)
    assert claim(20.0, 10)
    assert not claim(20.0, 1)
    assert claim(math.inf, 1000)
    assert not cloud.do(pools.claim, pools.Claim(seen.id, 99, math.inf, 1, share_id))
    assert cloud.pool(f"{ALPHA}#gold").claimed_gb == 1020


def test_hosts_of_shares(cloud):
    first = cloud.intent(cloud.share(PlaceShare(), host=f"{ALPHA}#gold")).share_id
    second = cloud.intent(cloud.share(PlaceShare())).share_id
    cloud.execute(
        sa.update(models.ShareInstance)
        .where(models.ShareInstance.share_id == second)
        .values(status=Status.ERROR)
    )
    assert cloud.do(pools.hosts_of, {first, second, "none"}) == {
        first: frozenset({f"{ALPHA}#gold"}),
        second: frozenset(),
    }
