"""Too many requests at once, for a quota and for a pool, on the real stack of two schedulers."""

from __future__ import annotations

import collections
import concurrent.futures
import sys

import pytest

from fileshare.db import intents
from fileshare.domain.statuses import IntentState, Status
from tests.chaos import truth
from tests.chaos.deployment import ADMIN, PROJECT, until
from tests.chaos.storm import plan
from tests.chaos.storm.cluster import cluster

pytestmark = [pytest.mark.chaos, pytest.mark.integration, pytest.mark.timeout(600)]

ROOM = 50


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    pools = {"only": ROOM}
    with cluster(tmp_path_factory.mktemp("races"), pools, {"shares": 1000}) as made:
        until(lambda: pools_of(made), "the pool is reported", 60)
        yield made


def pools_of(running):
    answer = running.daemons.ask(
        "GET", "/scheduler-stats/pools", as_=ADMIN, node=plan.API_NODES[0]
    )
    return answer.json()["pools"]


def create_many(running, number, project):
    """The answers to so many creates at once, half of them from each API server."""

    def create(index):
        body = {"share": {"name": f"race-{index}", "size": 1, "share_proto": "NFS"}}
        node = plan.API_NODES[index % 2]
        who = f"alice:{project}:member"
        return running.daemons.ask("POST", "/shares", body, as_=who, node=node, timeout=60)

    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        return list(pool.map(create, range(number)))


def remove_all(running):
    node = plan.API_NODES[0]
    for share in truth.read(running.sessions).shares:
        path = f"/shares/{share.id}/action"
        running.daemons.ask("POST", path, {"force_delete": None}, as_=ADMIN, node=node)
    until(lambda: not truth.read(running.sessions).shares, "all shares are removed", 120)


def test_a_quota_of_ten_takes_ten_of_forty(running):
    path, limit = f"/quota-sets/{PROJECT}", {"quota_set": {"shares": 10}}
    node = plan.API_NODES[0]
    assert running.daemons.ask("PUT", path, limit, as_=ADMIN, node=node).status_code == 200
    answers = create_many(running, 40, PROJECT)
    until(running.is_settled, "everything is settled", 120)
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), statuses.count(413)) == (10, 30)
    found = truth.read(running.sessions)
    assert found.by_status() == {Status.AVAILABLE: 10}
    truth.check(found, running.daemons.held(plan.BACKEND))
    remove_all(running)


def test_a_pool_for_fifty_takes_fifty_of_two_hundred(running):
    """The others are told why; two schedulers place at the same time."""
    project = plan.TENANTS["ann"]
    answers = create_many(running, 200, project)
    assert {answer.status_code for answer in answers} == {200}
    until(running.is_settled, "everything is settled", 240)
    found = truth.read(running.sessions)
    assert found.by_status() == {Status.AVAILABLE: ROOM, Status.ERROR: 200 - ROOM}
    truth.check(found, running.daemons.held(plan.BACKEND))  # of each error there is a message
    assert len(running.daemons.held(plan.BACKEND)) == ROOM
    refused = refusals(running)
    assert len(refused) == 200 - ROOM
    assert all("NoValidHost" in intent.error for intent in refused)
    by = collections.Counter(intent.owner for intent in refused)
    assert len(by) == 2, "one scheduler did it all"
    sys.stdout.write(f"{by}\n")


def refusals(running):
    """The creates that failed; each names the scheduler that decided."""

    def query(session):
        return intents.find(session, states=[IntentState.FAILED])

    return running.sessions.run(query)
