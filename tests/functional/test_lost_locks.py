"""A process that was stopped in a call, and lost its lock to others, spoils nothing afterwards.

The lock is taken away while the driver brings back an instance; what others do then is done.
"""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, running

from fileshare.db.models import ExportLocation
from fileshare.drivers.dummy.state import SHARES
from fileshare.share.ensure import Watch
from fileshare.share.reconciler import Reconciler

ALPHA = f"{HOST}@alpha"
RULE = {"access_type": "ip", "access_to": "10.0.0.1", "access_level": "rw"}


@pytest.fixture
def alpha(tmp_path):
    with running(tmp_path, backends=("alpha",)) as made:
        yield made


def by_the_clock(program):
    Reconciler(program.runtime, ALPHA, program.drivers["alpha"]).look()


def by_a_walk(program):
    program.conf.set_override("update_shares_status_on_ensure", False)
    Watch(program.runtime, ALPHA, program.drivers["alpha"]).look()
    program.drain()


each = pytest.mark.parametrize("bring_back", [by_the_clock, by_a_walk])


def stop_in_ensure(program, others):
    """While the driver is asked, the lock of the instance is lost and *others* act."""
    driver, lost = program.drivers["alpha"], []
    real = driver.ensure

    def ensure(ref):
        found = real(ref)
        if not lost:
            lost.append(ref.id)
            lock = program.runtime.locks._locks[f"instance-{ref.id}"]
            lock.release()
            others()
            assert lock.acquire(timeout=5)
        return found

    driver.ensure = ensure
    return lost


@each
def test_a_rule_that_was_revoked_meanwhile_is_not_granted_again(alpha, bring_back):
    share_id = alpha.new_share()
    rule = alpha.act(share_id, "allow_access", RULE)["access"]["id"]
    alpha.drain()
    id = alpha.read_share(share_id).instance.id

    def others():
        assert alpha.act(share_id, "deny_access", {"access_id": rule}).status == 202
        alpha.drain()
        assert alpha.drivers["alpha"].state.read(SHARES, id)["rules"] == []

    lost = stop_in_ensure(alpha, others)
    bring_back(alpha)
    assert lost == [id]
    assert alpha.drivers["alpha"].state.read(SHARES, id)["rules"] == []


@each
def test_what_was_deleted_meanwhile_gets_no_exports(alpha, bring_back):
    share_id = alpha.new_share()
    alpha.write(sa.delete(ExportLocation))

    def others():
        assert alpha.act(share_id, "force_delete", as_=ADMIN).status == 202
        alpha.drain()

    lost = stop_in_ensure(alpha, others)
    bring_back(alpha)
    assert len(lost) == 1
    assert alpha.count(ExportLocation) == 0
    alpha.check()
