from __future__ import annotations

import dataclasses
import threading

import pytest
import sqlalchemy as sa

from fileshare.db import clock, models, pools
from fileshare.domain.statuses import IntentState, ServiceState, ServiceStatus, Status
from fileshare.intents.kinds import CheckExtend, CreateShare, ExtendShare, PlaceShare
from fileshare.scheduler import pipeline
from fileshare.scheduler.handlers import Placement
from tests.unit.scheduler.cloud import Cloud, load_options

ALPHA, BETA = "node1@alpha", "node2@beta"


@pytest.fixture
def cloud(tmp_path):
    made = Cloud(f"sqlite:///{tmp_path / 'db'}")
    yield made
    made.sessions.dispose()


def make_due(cloud, intent_id):
    cloud.execute(
        sa.update(models.Intent).where(models.Intent.id == intent_id).values(due=clock.now())
    )


def test_a_share_is_placed_and_handed_on(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, pools=("gold", "lead"))
    intent_id = cloud.share(PlaceShare(hints={"x": "y"}))
    assert cloud.scheduler().perform(intent_id)
    intent, instance = cloud.intent(intent_id), cloud.instance(intent_id)
    assert intent.state == IntentState.OPEN
    assert intent.kind == CreateShare.kind
    assert intent.destination == f"share.{ALPHA}"
    assert intent.payload["hints"] == {"x": "y"}
    assert intent.trace[0]["chosen"] == instance.host
    assert cloud.runtime.doorbell.rung == [(f"share.{ALPHA}", intent_id)]
    share, pool = cloud.share_of(intent_id), cloud.pool(instance.host)
    assert share.host == instance.host
    assert share.availability_zone_id == instance.availability_zone_id is not None
    assert (instance.claimed_gb, pool.claimed_gb) == (10, 10)


def test_ten_shares_of_ten_fill_a_pool_of_a_hundred(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, free_gb=100.0)
    scheduler = cloud.scheduler()
    asked = [cloud.share(PlaceShare()) for _share in range(11)]
    for intent_id in asked:
        scheduler.perform(intent_id)
    states = [cloud.intent(intent_id).state for intent_id in asked]
    assert states == [IntentState.OPEN] * 10 + [IntentState.FAILED]
    assert cloud.pool(f"{ALPHA}#gold").claimed_gb == 100
    assert cloud.messages() == [("001", "009")]
    assert cloud.share_of(asked[-1]).status == Status.ERROR
    assert cloud.intent(asked[-1]).trace[0]["summary"] == "1 pool: 1 too small"


@pytest.mark.parametrize(
    ("columns", "specs", "detail"),
    [
        ({"size": 51}, {}, "009"),
        ({"share_proto": "CIFS"}, {}, "008"),
        ({}, {"snapshot_support": "True"}, "008"),
        ({}, {"availability_zones": "elsewhere"}, "007"),
        ({}, {"replication_type": "dr"}, "008"),
    ],
)
def test_the_user_is_told_which_filter_left_none(cloud, columns, specs, detail):
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    intent_id = cloud.share(PlaceShare(), share_type_id=cloud.type(**specs), **columns)
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).state == IntentState.FAILED
    assert cloud.messages() == [("001", detail)]


def test_a_down_or_disabled_service_gets_nothing(cloud):
    for host, state, status in (
        ("n@down", ServiceState.DOWN, ServiceStatus.ENABLED),
        ("n@off", ServiceState.UP, ServiceStatus.DISABLED),
        ("n@ready", ServiceState.UP, ServiceStatus.ENABLED),
    ):
        cloud.backend(host, state=state, status=status)
        cloud.report(host, free_gb=1.0 if host == "n@ready" else 90.0, total_gb=100.0)
    small, big = cloud.share(PlaceShare(), size=1), cloud.share(PlaceShare(), size=2)
    scheduler = cloud.scheduler()
    scheduler.perform(small)
    scheduler.perform(big)
    assert cloud.instance(small).host == "n@ready#gold"
    assert cloud.intent(big).trace[0]["summary"] == "1 pool: 1 too small"


def test_an_operator_may_try_a_disabled_service(cloud):
    cloud.backend(ALPHA, status=ServiceStatus.DISABLED)
    cloud.backend(BETA)
    cloud.report(ALPHA)
    cloud.report(BETA)
    wanted = cloud.share(PlaceShare(hints={"only_host": f"{ALPHA}#gold"}))
    other = cloud.share(PlaceShare(hints={"only_host": f"{ALPHA}#lead"}))
    usual = cloud.share(PlaceShare())
    for intent_id in (wanted, other, usual):
        cloud.scheduler().perform(intent_id)
    assert cloud.instance(wanted).host == f"{ALPHA}#gold"
    assert cloud.intent(other).state == IntentState.FAILED
    assert cloud.instance(usual).host == f"{BETA}#gold"


def test_hints_keep_shares_together_and_apart(cloud):
    for host in (ALPHA, BETA):
        cloud.backend(host)
        cloud.report(host)
    scheduler = cloud.scheduler()
    first = cloud.share(PlaceShare())
    scheduler.perform(first)
    first_id, home = cloud.intent(first).share_id, cloud.instance(first).host
    near = cloud.share(PlaceShare(hints={"same_host": first_id}))
    far = cloud.share(PlaceShare(), metadata={"__affinity_different_host": f"{first_id}, "})
    nowhere = cloud.share(PlaceShare(hints={"same_host": "no-such-share"}))
    for intent_id in (near, far, nowhere):
        scheduler.perform(intent_id)
    assert cloud.instance(near).host == home
    assert {cloud.instance(far).host, home} == {f"{ALPHA}#gold", f"{BETA}#gold"}
    assert cloud.intent(nowhere).trace[0]["last_filter"] == "AffinityFilter"
    assert cloud.messages() == [("001", "002")]


def test_without_a_report_a_share_waits_and_then_fails(cloud):
    intent_id = cloud.share(PlaceShare())
    scheduler = cloud.scheduler()
    scheduler.perform(intent_id)
    intent = cloud.intent(intent_id)
    assert (intent.state, intent.kind) == (IntentState.OPEN, PlaceShare.kind)
    assert intent.payload["waited_since"] > 0
    assert intent.due is not None
    first = intent.payload["waited_since"]
    make_due(cloud, intent_id)
    scheduler.perform(intent_id)
    assert cloud.intent(intent_id).payload["waited_since"] == first
    cloud.conf.set_override("scheduler_driver_init_wait_time", 0)
    make_due(cloud, intent_id)
    scheduler.perform(intent_id)
    assert cloud.intent(intent_id).state == IntentState.FAILED
    assert cloud.messages() == [("002", "028")]


def test_a_share_that_waited_is_placed_by_the_first_report(cloud):
    intent_id = cloud.share(PlaceShare())
    scheduler = cloud.scheduler()
    scheduler.perform(intent_id)
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    make_due(cloud, intent_id)
    scheduler.perform(intent_id)
    assert cloud.intent(intent_id).kind == CreateShare.kind


def test_back_ends_that_are_all_down_are_waited_for(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    cloud.age_heartbeats(1000)
    intent_id = cloud.share(PlaceShare())
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).kind == PlaceShare.kind
    assert cloud.intent(intent_id).state == IntentState.OPEN


def test_another_pool_is_tried(cloud):
    for host in (ALPHA, BETA):
        cloud.backend(host)
        cloud.report(host)
    scheduler = cloud.scheduler()
    work = PlaceShare(attempted=[f"{ALPHA}#gold"], failures=["it is broken"])
    intent_id = cloud.share(work)
    scheduler.perform(intent_id)
    assert cloud.instance(intent_id).host == f"{BETA}#gold"
    handed = CreateShare.load(cloud.intent(intent_id).payload)
    assert (handed.attempted, handed.failures) == (work.attempted, work.failures)
    intent_id = cloud.share(dataclasses.replace(work, attempted=[f"{ALPHA}#gold", f"{BETA}#gold"]))
    scheduler.perform(intent_id)
    assert cloud.intent(intent_id).state == IntentState.FAILED
    assert cloud.intent(intent_id).trace[-1]["failures"] == ["it is broken"]
    assert cloud.messages() == [("001", "011")]


def test_the_back_end_is_told_which_zone_was_asked_for(cloud):
    for host, zone in ((ALPHA, "one"), (BETA, "two")):
        cloud.backend(host, zone)
        cloud.report(host, zone)
    wanted = cloud.pool(f"{BETA}#gold").availability_zone_id
    asked, free = cloud.share(PlaceShare(), availability_zone_id=wanted), cloud.share(PlaceShare())
    for intent_id in (asked, free):
        cloud.scheduler().perform(intent_id)
    assert cloud.instance(asked).host == f"{BETA}#gold"
    assert cloud.intent(asked).payload["zone_id"] == wanted
    assert cloud.intent(free).payload["zone_id"] is None
    assert cloud.share_of(free).availability_zone_id is not None


def test_attempts_have_an_end(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    intent_id = cloud.share(PlaceShare(attempted=["a@b#c", "d@e#f", "g@h#i"]))
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).state == IntentState.FAILED
    assert cloud.messages() == [("001", "011")]


def extending(cloud, size, **columns):
    return cloud.share(
        CheckExtend(size=size), verb="extend", size=10, host=f"{ALPHA}#gold", **columns
    )


def test_an_extend_claims_what_is_added(cloud):
    cloud.backend(ALPHA)
    cloud.backend(BETA)
    cloud.report(ALPHA, free_gb=5.0)
    cloud.report(BETA)
    intent_id = extending(cloud, 15)
    cloud.scheduler().perform(intent_id)
    intent = cloud.intent(intent_id)
    assert (intent.kind, intent.destination) == (ExtendShare.kind, f"share.{ALPHA}")
    assert intent.payload == {"size": 15, "claimed": 5}
    assert cloud.pool(f"{ALPHA}#gold").claimed_gb == 5
    assert cloud.instance(intent_id).claimed_gb == 5
    assert cloud.share_of(intent_id).status == Status.EXTENDING


def test_an_extend_without_room_leaves_the_share_as_it_was(cloud):
    cloud.backend(ALPHA)
    cloud.backend(BETA)
    cloud.report(ALPHA, free_gb=5.0, reserved_share_extend_percentage=1)
    cloud.report(BETA)
    intent_id = extending(cloud, 15)
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).state == IntentState.FAILED
    assert cloud.share_of(intent_id).status == Status.AVAILABLE
    assert cloud.pool(f"{ALPHA}#gold").claimed_gb == 0
    assert cloud.messages() == [("008", "009")]


def test_an_extend_on_a_disabled_service_goes_on_and_on_a_lost_one_fails(cloud):
    cloud.backend(ALPHA, status=ServiceStatus.DISABLED)
    cloud.report(ALPHA)
    intent_id = extending(cloud, 15)
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).kind == ExtendShare.kind
    cloud.age_heartbeats(1000)
    cloud.conf.set_override("scheduler_driver_init_wait_time", 0)
    intent_id = extending(cloud, 15)
    cloud.scheduler().perform(intent_id)
    assert cloud.messages() == [("008", "002")]
    assert cloud.share_of(intent_id).status == Status.AVAILABLE


def test_an_extend_waits_for_a_service_that_starts_anew(cloud):
    """A05: a gap of some seconds refuses nothing that would be done after it."""
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    cloud.backend(BETA)
    cloud.age_heartbeats(1000)
    cloud.report(BETA)
    intent_id = extending(cloud, 15)
    cloud.scheduler().perform(intent_id)
    waiting = cloud.intent(intent_id)
    assert (waiting.state, waiting.kind) == (IntentState.OPEN, CheckExtend.kind)
    assert waiting.payload["waited_since"] > 0
    cloud.age_heartbeats(0)
    make_due(cloud, intent_id)
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).kind == ExtendShare.kind
    assert cloud.messages() == []


def test_an_extend_of_what_no_back_end_holds_waits_for_nobody(cloud):
    """Its creation failed, and somebody declared it good."""
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    intent_id = cloud.share(CheckExtend(size=15), verb="extend", size=10)
    assert cloud.instance(intent_id).host is None
    cloud.scheduler().perform(intent_id)
    assert cloud.intent(intent_id).state == IntentState.FAILED
    assert cloud.share_of(intent_id).status == Status.AVAILABLE


def test_a_choice_on_an_old_report_is_made_again(cloud, monkeypatch):
    """The pool fills up between the look and the record; the next look sees it."""
    cloud.backend(ALPHA)
    cloud.backend(BETA)
    cloud.report(ALPHA, free_gb=90.0)
    cloud.report(BETA, free_gb=50.0)
    placement, looks = Placement.look, []

    def look_then_lose(self, session, *args):
        seen = placement(self, session, *args)
        looks.append(seen)
        if len(looks) == 1:
            session.execute(
                sa.update(models.PoolReport)
                .where(models.PoolReport.backend == ALPHA)
                .values(free_gb=0.0, report_seq=models.PoolReport.report_seq + 1)
            )
        return seen

    monkeypatch.setattr(Placement, "look", look_then_lose)
    intent_id = cloud.share(PlaceShare())
    cloud.scheduler().perform(intent_id)
    assert len(looks) == 2
    assert cloud.instance(intent_id).host == f"{BETA}#gold"
    assert cloud.pool(f"{ALPHA}#gold").claimed_gb == 0
    assert cloud.intent(intent_id).fence == 2  # claimed once, handed on once


def test_a_claim_of_another_that_leaves_room_disturbs_nobody(cloud, monkeypatch):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, free_gb=50.0)
    placement, looks = Placement.look, []

    def look_then_share(self, session, *args):
        seen = placement(self, session, *args)
        looks.append(seen)
        session.execute(sa.update(models.PoolReport).values(claimed_gb=40))
        return seen

    monkeypatch.setattr(Placement, "look", look_then_share)
    intent_id = cloud.share(PlaceShare())
    cloud.scheduler().perform(intent_id)
    assert len(looks) == 1
    assert cloud.pool(f"{ALPHA}#gold").claimed_gb == 50


def test_two_schedulers_never_promise_more_than_there_is(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, pools=("gold", "lead"), free_gb=45.0)
    asked = [cloud.share(PlaceShare()) for _share in range(12)]
    schedulers = [cloud.scheduler() for _scheduler in range(3)]
    failures = []

    def work(scheduler, ids):
        try:
            for intent_id in ids:
                scheduler.perform(intent_id)
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=(scheduler, asked[index::3]))
        for index, scheduler in enumerate(schedulers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    placed = [each for each in asked if cloud.intent(each).state == IntentState.OPEN]
    assert len(placed) == 8
    for name in ("gold", "lead"):
        assert cloud.pool(f"{ALPHA}#{name}").claimed_gb == 40
    assert len(cloud.messages()) == 4


def test_statements_do_not_grow_with_the_pools(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, pools=[f"p{number}" for number in range(300)])
    scheduler = cloud.scheduler()
    type_id = cloud.type(snapshot_support="False")

    def cost():
        intent_id = cloud.share(PlaceShare(), size=1, share_type_id=type_id)
        del cloud.statements[:]
        scheduler.perform(intent_id)
        text = "\n".join(cloud.statements)
        assert text.count("pool_reports.capabilities") <= 1
        return [line for line in cloud.statements if not line.startswith("BEGIN")]

    first, second = cost(), cost()
    decided = [each for each in second if "pool_reports" in each or "share_metadata" in each]
    assert len(decided) == 3, decided
    assert len(first) - len(second) == 1  # the reports, each of them once
    assert len(second) <= 9, second
    cloud.report(ALPHA, pools=[f"p{number}" for number in range(300)])
    assert len(cost()) == len(first)


def test_capabilities_of_gone_pools_are_forgotten(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, pools=("a", "b", "c"))
    placement = Placement(cloud.conf)
    assert len(cloud.do(placement._states, with_disabled=False)) == 3
    cloud.report(ALPHA, pools=("a",))
    states = cloud.do(placement._states, with_disabled=False)
    assert [state.pool for state in states] == ["a"]
    assert len(placement.pools._known) == 1


def test_a_pool_that_is_withdrawn_while_it_is_read_is_left_out(cloud, monkeypatch):
    cloud.backend(ALPHA)
    cloud.report(ALPHA, pools=("a", "b"))
    placement, reports = Placement(cloud.conf), pools.reports

    def read_after_withdrawal(session, ids):
        session.execute(sa.delete(models.PoolReport).where(models.PoolReport.pool == "a"))
        return reports(session, ids)

    monkeypatch.setattr(pools, "reports", read_after_withdrawal)
    states = cloud.do(placement._states, with_disabled=False)
    assert [state.pool for state in states] == ["b"]


def test_what_is_claimed_and_disabled_is_read_anew(cloud):
    cloud.backend(ALPHA)
    cloud.report(ALPHA)
    placement = Placement(cloud.conf)
    (before,) = cloud.do(placement._states, with_disabled=True)
    cloud.execute(sa.update(models.PoolReport).values(claimed_gb=7))
    cloud.execute(sa.update(models.Service).values(status=ServiceStatus.DISABLED))
    (after,) = cloud.do(placement._states, with_disabled=True)
    assert (before.claimed, before.is_enabled) == (0, True)
    assert (after.claimed, after.is_enabled) == (7, False)
    assert after.capabilities is before.capabilities
    assert cloud.do(placement._states, with_disabled=False) == []


def test_a_wrong_option_keeps_the_scheduler_from_starting():
    conf = load_options(scheduler_default_extend_filters=["NoFilter"])
    with pytest.raises(pipeline.UnknownPluginError):
        Placement(conf)
