"""What differs between a back end and the database is found, repaired and counted."""

from __future__ import annotations

import dataclasses
import json
import threading

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST

from fileshare.context import service_context
from fileshare.db.models import ExportLocation, Service, ShareInstance
from fileshare.drivers.dummy.state import SHARES
from fileshare.drivers.model import ShareRef
from fileshare.operations import maintenance
from fileshare.share import findings
from fileshare.share.reconciler import Reconciler, lock_of
from fileshare.share.service import ShareDaemon

ALPHA = f"{HOST}@alpha"


@pytest.fixture
def alpha(program):
    """A program whose shares are all on one back end."""
    body = {"host": f"{HOST}@beta", "binary": "manila-share"}
    assert program.put("/services/disable", body, as_=ADMIN).status == 200
    return program


@pytest.fixture
def driver(alpha):
    return alpha.drivers["alpha"]


@pytest.fixture
def reconciler(alpha, driver):
    return Reconciler(alpha.runtime, ALPHA, driver)


def instance_of(program, share_id):
    return program.read_share(share_id).instance.id


def edit(driver, id, **changes):
    driver.state.write(SHARES, id, {**driver.state.read(SHARES, id), **changes})


def brief(found):
    return [(finding.what, finding.instance_id, finding.repaired) for finding in found]


def fail(driver, *faults):
    (driver.state.root / "control.json").write_text(json.dumps({"fail": list(faults)}))


def allow(program, share_id, to):
    body = {"access_type": "ip", "access_to": to, "access_level": "rw"}
    assert program.act(share_id, "allow_access", body).status == 200
    program.drain()


def test_nothing_to_do(alpha, reconciler):
    share_id = alpha.new_share()
    allow(alpha, share_id, "10.0.0.1")
    assert reconciler.look() == []
    alpha.check()


def test_a_lost_rule(alpha, driver, reconciler):
    share_id = alpha.new_share()
    allow(alpha, share_id, "10.0.0.1")
    id = instance_of(alpha, share_id)
    edit(driver, id, rules=[])
    assert brief(reconciler.look()) == [(findings.RULES, id, True)]
    assert [rule["to"] for rule in driver.state.read(SHARES, id)["rules"]] == ["10.0.0.1"]
    assert reconciler.look() == []
    assert reconciler.repairs.get(findings.RULES) == 1
    assert reconciler.repairs.found(findings.SIZE) == 0


def test_a_rule_of_nobody_is_taken_away(alpha, driver, reconciler):
    id = instance_of(alpha, alpha.new_share())
    edit(driver, id, rules=[{"id": "x", "type": "ip", "to": "6.6.6.6", "level": "rw"}])
    assert brief(reconciler.look()) == [(findings.RULES, id, True)]
    assert driver.state.read(SHARES, id)["rules"] == []


def test_a_lost_export(alpha, reconciler):
    share_id = alpha.new_share()
    id = instance_of(alpha, share_id)
    before = alpha.get(f"/shares/{share_id}/export_locations", as_=ADMIN)["export_locations"]

    alpha.write(sa.delete(ExportLocation).where(ExportLocation.id == before[0]["id"]))
    assert brief(reconciler.look()) == [(findings.EXPORTS, id, True)]
    after = alpha.get(f"/shares/{share_id}/export_locations", as_=ADMIN)["export_locations"]
    assert {row["path"] for row in after} == {row["path"] for row in before}
    assert before[1]["id"] in {row["id"] for row in after}


def test_what_an_administrator_prefers_stays(alpha, reconciler):
    share_id = alpha.new_share()
    rows = alpha.get(f"/shares/{share_id}/export_locations", as_=ADMIN)["export_locations"]
    first = next(row for row in rows if row["preferred"])
    path = f"/shares/{share_id}/export_locations/{first['id']}/metadata"
    assert alpha.post(path, {"metadata": {"preferred": "False"}}, as_=ADMIN).status == 200
    assert reconciler.look() == []
    rows = alpha.get(f"/shares/{share_id}/export_locations", as_=ADMIN)["export_locations"]
    assert not any(row["preferred"] for row in rows)


def test_a_missing_share(alpha, driver, reconciler):
    lost, other = alpha.new_share(), alpha.new_share()
    id = instance_of(alpha, lost)
    driver.state.remove(SHARES, id)
    assert brief(reconciler.look()) == [(findings.MISSING, id, False)]
    assert (alpha.show(lost)["status"], alpha.show(other)["status"]) == ("error", "available")
    assert [message.action_id for message in alpha.messages(lost)] == ["005"]
    assert reconciler.look() == []


def test_a_share_that_the_driver_finds_again(alpha, driver, reconciler):
    share_id = alpha.new_share()
    driver.instances = dict
    assert reconciler.look() == []
    assert alpha.show(share_id)["status"] == "available"


def test_a_broken_back_end_loses_nothing(alpha, driver, reconciler):
    share_id = alpha.new_share()
    driver.state.remove(SHARES, instance_of(alpha, share_id))
    fail(driver, "check")
    assert reconciler.look() == []
    assert alpha.show(share_id)["status"] == "available"


@pytest.mark.parametrize(("size", "repaired"), [(1, True), (5, False)])
def test_another_size(alpha, driver, reconciler, size, repaired):
    """A share that is too small grows; one that is too large may hold data of that size."""
    share_id = alpha.new_share(size=3)
    id = instance_of(alpha, share_id)
    edit(driver, id, size=size)
    assert brief(reconciler.look()) == [(findings.SIZE, id, repaired)]
    assert driver.instances()[id] == (3 if repaired else 5)
    assert alpha.show(share_id)["size"] == 3


def leave_over(alpha, driver, size=2):
    """An instance that the database does not know."""
    ref = ShareRef("99999999-9999-4999-8999-999999999999", "s", size, "NFS", "p")
    driver.create(ref)
    return ref.id


def test_a_left_over_is_told_of_and_stays(alpha, driver, reconciler):
    id = leave_over(alpha, driver)
    for _ in range(2):
        assert brief(reconciler.look()) == [(findings.LEFT_OVER, id, False)]
    assert id in driver.instances()


def test_a_left_over_goes_where_that_is_wanted(alpha, driver, reconciler):
    id = leave_over(alpha, driver)
    alpha.conf.set_override("reconcile_remove_left_overs", True)
    assert brief(reconciler.look()) == [(findings.LEFT_OVER, id, True)]
    assert driver.instances() == {}
    assert reconciler.repairs.get(findings.LEFT_OVER) == 1


def test_what_a_forced_deletion_left(alpha, driver, reconciler):
    share_id = alpha.new_share()
    id = instance_of(alpha, share_id)
    fail(driver, "delete")
    assert alpha.act(share_id, "force_delete", as_=ADMIN).status == 202
    alpha.drain()
    fail(driver)
    (finding,) = reconciler.look()
    assert (finding.what, finding.instance_id) == (findings.LEFT_OVER, id)
    assert finding.share_id == share_id
    alpha.conf.set_override("reconcile_remove_left_overs", True)
    assert brief(reconciler.look()) == [(findings.LEFT_OVER, id, True)]
    alpha.check()


def test_what_lives_elsewhere_is_never_removed(alpha, driver, reconciler):
    share_id = alpha.new_share()
    id = instance_of(alpha, share_id)
    alpha.write(
        sa.update(ShareInstance).where(ShareInstance.id == id).values(host="node@beta#pool")
    )
    alpha.conf.set_override("reconcile_remove_left_overs", True)
    assert brief(reconciler.look()) == [(findings.ELSEWHERE, id, False)]
    assert id in driver.instances()


def test_a_share_in_work_is_never_touched(alpha, driver, reconciler):
    """Neither one that is being made, nor one that grows, nor one that goes."""
    alpha.conf.set_override("reconcile_remove_left_overs", True)
    grows, goes = alpha.new_share(), alpha.new_share()
    born = alpha.new_share(drain=False)
    bell = list(alpha.bell.rung)
    alpha.bell.rung.clear()
    alpha.consumers["scheduler"].perform(bell[0][1])
    # As if the worker had been killed right after the driver's call.
    driver.create(ShareRef(instance_of(alpha, born), born, 1, "NFS", "p"))
    edit(driver, instance_of(alpha, grows), size=4)
    assert alpha.act(grows, "extend", {"new_size": 4}).status == 202
    assert alpha.delete(f"/shares/{goes}").status == 202
    driver.state.remove(SHARES, instance_of(alpha, goes))
    assert reconciler.look() == []
    alpha.make_due()
    alpha.poll()
    alpha.check()


def test_what_changes_while_the_back_end_is_asked(alpha, driver, reconciler):
    """A share that was made between two looks is no left over, one that grew has its size."""
    share_id = alpha.new_share()
    old = driver.instances()
    answers = [{**old, "77777777-7777-4777-8777-777777777777": 1, instance_of(alpha, share_id): 9}]
    real = driver.instances
    driver.instances = lambda: answers.pop() if answers else real()
    alpha.conf.set_override("reconcile_remove_left_overs", True)
    assert reconciler.look() == []


def test_small_batches_take_turns(alpha, driver, reconciler):
    alpha.conf.set_override("reconcile_batch", 2)
    ids = sorted(instance_of(alpha, alpha.new_share()) for _ in range(5))
    seen = []
    real = driver.ensure
    driver.ensure = lambda ref: seen.append(ref.id) or real(ref)
    for place in (0, 2, 4, 0):
        reconciler.look()
        assert seen == ids[place : place + 2]
        seen.clear()


def test_one_share_that_is_busy_does_not_keep_the_others(alpha, driver, reconciler):
    ids = sorted(instance_of(alpha, alpha.new_share()) for _ in range(3))
    fail(driver, f"ensure share={ids[0]} error=busy")
    edit(driver, ids[2], rules=[{"id": "x", "type": "ip", "to": "6.6.6.6", "level": "rw"}])
    assert brief(reconciler.look()) == [(findings.RULES, ids[2], True)]


# -- for an operator -----------------------------------------------------------------------


def ask(alpha, **kw):
    intent_id = maintenance.reconcile(alpha.runtime, service_context(), ALPHA, **kw)
    alpha.drain()
    return maintenance.result(alpha.runtime, service_context(), intent_id)


def test_an_operator_only_asks(alpha, driver):
    share_id = alpha.new_share(size=3)
    lost = alpha.new_share()
    edit(driver, instance_of(alpha, share_id), size=2)
    driver.state.remove(SHARES, instance_of(alpha, lost))
    left = leave_over(alpha, driver)
    result = ask(alpha, repair=False)
    assert result.state == "done"
    assert sorted((row["what"], row["repaired"]) for row in result.findings) == [
        ("left_over", False),
        ("missing", False),
        ("size", False),
    ]
    assert alpha.show(lost)["status"] == "available"
    assert left in driver.instances()


def test_an_operator_repairs(alpha, driver):
    large, small, lost, ruled = (alpha.new_share(size=3) for _ in range(4))
    edit(driver, instance_of(alpha, large), size=4)
    edit(driver, instance_of(alpha, small), size=2)
    edit(driver, instance_of(alpha, ruled), rules=[{"id": "x"}])
    driver.state.remove(SHARES, instance_of(alpha, lost))
    leave_over(alpha, driver)
    result = ask(alpha, repair=True)
    assert sorted((row["what"], row["repaired"]) for row in result.findings) == [
        ("left_over", True),
        ("missing", False),
        ("rules", True),
        ("size", True),
        ("size", True),
    ]
    assert ask(alpha, repair=True).findings == []
    assert alpha.on_backends() == {instance_of(alpha, id): 3 for id in (large, small, ruled)}


def test_data_is_never_lost_for_a_size(alpha, driver):
    share_id = alpha.new_share()
    edit(driver, instance_of(alpha, share_id), size=9, used=8)
    (row,) = ask(alpha, repair=True).findings
    assert (row["what"], row["repaired"]) == ("size", False)
    assert driver.instances()[instance_of(alpha, share_id)] == 9


def test_only_one_compares(alpha):
    alpha.runtime.locks.patience = 0.2
    with alpha.runtime.locks.lock(lock_of(ALPHA)):
        intent_id = maintenance.reconcile(alpha.runtime, service_context(), ALPHA, repair=False)
        alpha.drain()
        assert maintenance.result(alpha.runtime, service_context(), intent_id).state == "open"
    alpha.make_due()
    alpha.poll()
    assert maintenance.result(alpha.runtime, service_context(), intent_id).state == "done"


# -- the daemon ----------------------------------------------------------------------------


def test_a_back_end_that_stops_working_is_down_until_it_works_again(alpha, driver):
    daemon = ShareDaemon(alpha.runtime, "beta", "test")
    member = "no heartbeat yet"
    daemon.check()
    daemon.daemon.heartbeat()
    member = daemon.daemon._member
    assert member is not None
    (daemon.driver.state.root / "control.json").write_text(json.dumps({"fail": ["check"]}))

    def age():
        alpha.write(sa.update(Service).where(Service.host == daemon.host).values(report_count=0))

    def beats():
        return alpha.scalar(sa.select(Service.report_count).where(Service.host == daemon.host))

    daemon.check()
    assert "Told to fail at check" in daemon.reason
    age()
    daemon.daemon.heartbeat()
    assert beats() == 0
    (daemon.driver.state.root / "control.json").unlink()
    daemon.check()
    assert daemon.reason is None
    daemon.daemon.heartbeat()
    assert beats() == 1


def test_a_daemon_ensures_and_compares_by_itself(alpha):
    """Real threads and timers: a changed back end, then lost rules."""
    share_id = alpha.new_share()
    allow(alpha, share_id, "10.0.0.1")
    alpha.conf.set_override("reconcile_interval", 1)
    alpha.conf.set_override("poll_interval", 0.1, "intents")
    daemon = ShareDaemon(alpha.runtime, "alpha", "test")
    id = instance_of(alpha, share_id)
    edit(daemon.driver, id, rules=[])
    counted, done = daemon.reconciler.look, threading.Event()

    def look(alive):
        counted(alive)
        done.set()

    daemon.daemon.periodics = [
        dataclasses.replace(task, action=look) if task.name == "reconcile" else task
        for task in daemon.daemon.periodics
    ]
    daemon.start()
    try:
        assert done.wait(30)
    finally:
        daemon.stop()
    assert [rule["to"] for rule in daemon.driver.state.read(SHARES, id)["rules"]] == ["10.0.0.1"]
