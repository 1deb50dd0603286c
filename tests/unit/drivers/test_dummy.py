"""What the dummy driver can do beyond the contract: be slow, fail, count."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fileshare import errors
from fileshare.drivers.dummy import state
from fileshare.drivers.dummy.faults import CONTROL
from fileshare.drivers.dummy.state import SHARES
from fileshare.drivers.model import AccessChange, AccessRule
from tests.fixtures.backends import backend_conf, new_share, started


@pytest.fixture
def make(tmp_path):
    def driver(**options):
        return started(backend_conf("dummy", dummy_state_path=str(tmp_path), **options))

    return driver


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("create", errors.DriverError),
        ("*", errors.DriverError),
        ("create error=busy", errors.BackendBusy),
        ("create error=differently", errors.ShareExistsDifferently),
        ("create share=wanted", errors.DriverError),
    ],
)
def test_failures_on_demand(make, fault, error):
    driver = make()
    control(driver, fail=[fault])
    share = new_share(name="wanted")
    with pytest.raises(error):
        driver.create(share)
    control(driver, fail=[])
    assert share.id not in driver.instances()
    assert driver.create(share)


def test_a_failure_for_another_share_or_operation_does_not_strike(make):
    driver = make(dummy_driver_fail=["create share=other", "delete", "create@0.0"])
    assert driver.create(new_share(name="wanted"))


def test_a_failure_after_the_work_leaves_it_done(make):
    driver = make(dummy_driver_fail=["create when=after times=1"])
    share = new_share()
    with pytest.raises(errors.DriverError):
        driver.create(share)
    assert share.id in driver.instances()
    assert driver.create(share)


def test_a_failure_strikes_so_often_over_all_processes(make):
    fail = ["create times=2"]
    share = new_share()
    for _ in range(2):
        with pytest.raises(errors.DriverError):
            make(dummy_driver_fail=fail).create(share)
    assert make(dummy_driver_fail=fail).create(share)


def test_one_access_rule_fails_alone(make):
    driver = make(dummy_driver_fail=["apply_access access_to=10.0.0.5"])
    share = new_share()
    driver.create(share)
    rules = (AccessRule("1", "ip", "10.0.0.5", "rw"), AccessRule("2", "ip", "10.0.0.6", "rw"))
    result = driver.apply_access(share, AccessChange(rules))
    assert set(result.rules) == {"1"}
    assert "10.0.0.5" in result.rules["1"].error
    assert [rule["to"] for rule in driver.state.read(SHARES, share.id)["rules"]] == ["10.0.0.6"]


def test_control_file_breaks_and_heals(make):
    driver = make()
    control(driver, fail=["check"])
    with pytest.raises(errors.DriverError):
        driver.check()
    (driver.state.root / CONTROL).unlink()
    driver.check()


def test_a_cephx_rule_gets_a_key(make):
    driver = make()
    share = new_share(protocol="CEPHFS")
    driver.create(share)
    change = AccessChange((AccessRule("1", "cephx", "alice", "rw"),))
    assert driver.apply_access(share, change).rules["1"].key


def test_thick_pool_takes_what_fits_under_concurrency(make):
    driver = make(dummy_pools=["thick:10"])
    with ThreadPoolExecutor(8) as threads:
        done = list(threads.map(lambda _: created(driver), range(20)))
    assert sum(done) == 10
    assert driver.pools()[0].free == 0


def test_thick_pool_refuses_growth_that_does_not_fit(make):
    driver = make(dummy_pools=["thick:3"])
    share = new_share(2)
    driver.create(share)
    with pytest.raises(errors.DriverError, match="no room"):
        driver.extend(share, 4)
    driver.extend(share, 3)
    assert driver.pools()[0].free == 0


def test_pools_count_what_is_promised(make):
    driver = make(dummy_pools=["one:10:thin", "two:20:thin"])
    driver.create(new_share(4, pool="two"))
    driver.create(new_share(3))
    assert [(pool.provisioned, pool.free) for pool in driver.pools()] == [(3, 7), (4, 16)]


def test_unknown_pool_is_refused(make):
    with pytest.raises(errors.DriverError):
        make().create(new_share(pool="nowhere"))


def test_overlapping_calls_on_one_share_are_recorded(make):
    driver = make()
    share = new_share()
    assert driver.state.notes("overlaps") == []
    inside, leave = threading.Event(), threading.Event()

    def first():
        with driver.state.hold("create", share.id):
            inside.set()
            assert leave.wait(10)

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(first)
        assert inside.wait(10)
        assert driver.state.in_flight() == {share.id: "create"}
        two = threads.submit(driver.create, share)
        while not driver.state.notes("overlaps"):
            assert not two.done()
        leave.set()
        one.result()
        two.result()
    assert [note["id"] for note in driver.state.notes("overlaps")] == [share.id]
    assert driver.state.in_flight() == {}


def test_calls_are_recorded_when_asked_for(make):
    driver = make(dummy_record_calls=True, dummy_driver_delay=["create:0.02", "0.0"])
    share = new_share()
    driver.create(share)
    driver.delete(share)
    create, delete = driver.state.notes("calls")
    assert (create["operation"], delete["operation"]) == ("create", "delete")
    assert create["end"] - create["start"] >= 0.02
    assert [note["operation"] for note in driver.state.notes("begun")] == ["create", "delete"]
    made, removed = driver.state.notes("records")
    assert made["record"]["size"] == share.size
    assert (removed["id"], removed["record"]) == (share.id, None)


def test_a_process_killed_on_demand_leaves_nothing_locked(make):
    driver = make(dummy_driver_fail=["create error=kill times=1"])
    share = new_share()
    process = multiprocessing.get_context("fork").Process(target=driver.create, args=(share,))
    process.start()
    process.join(20)
    assert process.exitcode == -signal.SIGKILL
    assert driver.state.in_flight() == {share.id: "create"}
    assert driver.create(share)
    assert driver.state.notes("overlaps") == []


def created(driver) -> bool:
    try:
        driver.create(new_share())
    except errors.DriverError:
        return False
    return True


def control(driver, **orders) -> None:
    new = driver.state.root / "control.new"
    new.write_text(json.dumps(orders))
    new.replace(driver.state.root / CONTROL)


def test_what_a_walk_over_all_records_reads(make, monkeypatch):
    """Only what is new or was written since; and nothing that has gone is kept."""
    monkeypatch.setattr(state, "_SETTLED", 3600.0)  # this test takes less, wherever it runs
    driver = make()
    kept, changed, gone = shares = [new_share() for _ in range(3)]
    for share in shares:
        driver.create(share)
        age(driver, share)
    assert len(list(driver.state.all(SHARES))) == 3
    driver.extend(changed, changed.size + 1)
    driver.delete(gone)
    read = []
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path.stem) or real(path))
    expected = {kept.id: kept.size, changed.id: changed.size + 1}
    assert driver.instances() == expected
    assert read == [changed.id]
    # What was written just now may be written again without another time.
    assert driver.instances() == expected
    assert read == [changed.id] * 2


def age(driver, share):
    """Let the record of a share be of long ago."""
    os.utime(driver.state.root / SHARES / f"{share.id}.json", (1e9, 1e9))
