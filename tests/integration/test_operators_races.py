"""What operators and back ends do by themselves, while users work: on each kind of database."""

from __future__ import annotations

import functools
import random
import threading
import time

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER, PROJECT, running

from fileshare.db import quotas
from fileshare.db.clock import after
from fileshare.db.models import Intent, QuotaUsage, Service, Share, ShareInstance
from fileshare.drivers.dummy.state import SHARES
from fileshare.operations import maintenance
from fileshare.share.ensure import Watch
from fileshare.share.reconciler import Reconciler

ALPHA = f"{HOST}@alpha"
SECONDS = 3.0


@pytest.fixture
def program(any_url, tmp_path):
    with running(tmp_path, any_url, backends=("alpha",)) as made:
        yield made


def answer(program):
    """Perform what was rung next, as a daemon does."""
    if not program.bell.rung:
        time.sleep(0.005)
        return
    destination, intent_id = program.bell.rung.popleft()
    program.consumers[destination].perform(intent_id)


def for_a_while(program, *workers):
    """Run each of *workers* again and again, with daemons that work meanwhile."""
    stop, failures = threading.Event(), []

    def loop(worker):
        try:
            while not stop.is_set():
                worker()
        except BaseException as error:  # noqa: BLE001  (shown by the test)
            failures.append(error)
            stop.set()

    serve = functools.partial(answer, program)
    threads = [threading.Thread(target=loop, args=(each,)) for each in (*workers, serve)]
    for thread in threads:
        thread.start()
    stop.wait(SECONDS)
    stop.set()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    for _ in range(3):
        program.make_due()
        program.poll()


def shares_of(program):
    where = sa.and_(Share.deleted_at.is_(None), Share.status == "available")
    return program.sessions.run(
        lambda session: session.scalars(sa.select(Share.id).where(where)).all()
    )


def book_more(program, size):
    """Gigabytes that are not there."""
    row = sa.update(QuotaUsage).where(
        QuotaUsage.project_id == PROJECT,
        QuotaUsage.scope == "project",
        QuotaUsage.resource == "gigabytes",
    )
    more = row.values(used=QuotaUsage.used + size)
    program.sessions.run(lambda session: session.execute(more))


def test_quotas_are_corrected_while_users_work(program):
    """A sync that meets shares that come, grow and go writes nothing wrong."""
    chance = random.Random(7)
    # A quick machine makes more shares than a project may have by default.
    program.runtime.quota_defaults.update(shares=-1, gigabytes=-1)
    for _ in range(3):
        program.new_share()

    def use():
        ids = shares_of(program)
        what = chance.choice(("create", "extend", "delete"))
        if what == "create" or not ids:
            program.new_share(drain=False)
        elif what == "extend":
            id = chance.choice(ids)
            size = program.show(id)["size"] + 1
            program.act(id, "extend", {"new_size": size})
        elif len(ids) > 2:
            program.delete(f"/shares/{chance.choice(ids)}")

    wrong, spoiled = [], []

    def sync():
        wrong.extend(maintenance.correct_quotas(program.runtime))

    def spoil():
        spoiled.append(5)
        book_more(program, 5)
        time.sleep(0.3)

    for_a_while(program, use, sync, spoil)
    # Maybe no sync has begun after a spoil so far: they take turns as the machine likes.
    spoil()
    sync()
    assert {(item.scope, item.resource) for item in wrong} == {("project", "gigabytes")}
    possible = range(5, sum(spoiled) + 1, 5)
    assert all(item.booked - item.counted in possible for item in wrong)
    assert program.sessions.run(quotas.booked) == program.sessions.run(quotas.recount)
    program.check()


def test_rules_that_change_while_a_back_end_is_looked_after(program):
    """No rule that was denied comes back, none that was granted is lost."""
    share_id = program.new_share()
    driver = program.drivers["alpha"]
    instance_id = program.read_share(share_id).instance.id
    program.conf.set_override("update_shares_status_on_ensure", False)
    gaps = []

    def held():
        return {rule["to"] for rule in driver.state.read(SHARES, instance_id)["rules"]}

    def see():
        """A rule that is shown as active is enforced, if it is still active afterwards."""
        before, enforced = active(program, share_id), held()
        gaps.extend((before & active(program, share_id)) - enforced)

    for_a_while(program, *caretakers(program), changes_of_rules(program, share_id), see)
    assert gaps == []
    assert held() == active(program, share_id)
    assert driver.state.notes("overlaps") == []
    program.check()


def changes_of_rules(program, share_id):
    chance, number = random.Random(3), iter(range(1, 10_000))

    def use():
        rows = program.get(f"/share-access-rules?share_id={share_id}")["access_list"]
        if len(rows) > 3:
            body = {"access_id": chance.choice(rows)["id"]}
            program.act(share_id, "deny_access", body)
            return
        place = next(number)
        to = f"10.0.{place // 250}.{place % 250 + 1}"
        body = {"access_type": "ip", "access_to": to, "access_level": "rw"}
        assert program.act(share_id, "allow_access", body).status == 200

    return use


def caretakers(program):
    """What daemons and operators do for the shares of a back end."""
    driver = program.drivers["alpha"]
    watch = Watch(program.runtime, ALPHA, driver)
    reconciler = Reconciler(program.runtime, ALPHA, driver)

    def restart():
        program.post("/services/ensure-shares", {"host": ALPHA}, as_=ADMIN)
        watch.look()
        time.sleep(0.05)

    def compare():
        reconciler.look()
        time.sleep(0.02)

    return restart, compare


def active(program, share_id):
    rows = program.get(f"/share-access-rules?share_id={share_id}", as_=MEMBER)["access_list"]
    return {row["access_to"] for row in rows if row["state"] == "active"}


def test_two_daemons_that_notice_at_once(program):
    program.new_share()
    start = threading.Barrier(4)
    watches = [Watch(program.runtime, ALPHA, program.drivers["alpha"]) for _ in range(4)]
    noticed = []

    def look(watch):
        start.wait()
        noticed.append(watch.look())

    threads = [threading.Thread(target=look, args=(watch,)) for watch in watches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert True in noticed
    kinds = program.sessions.run(
        lambda session: session.scalars(sa.select(Intent.kind).where(Intent.state == "open")).all()
    )
    assert kinds == ["backend.ensure"]
    program.drain()
    assert [watch.look() for watch in watches] == [False] * 4
    program.check()


def test_another_name_and_a_purge(program):
    """The statements that are written for each server's dialect."""
    kept, gone = program.new_share(metadata={"a": "b"}), program.new_share(metadata={"a": "b"})
    assert program.delete(f"/shares/{gone}").status == 202
    program.drain()

    def age(session):
        session.execute(sa.update(Service).values(state="down", heartbeat_at=after(-1000)))
        for model in (Share, ShareInstance):
            old = sa.update(model).where(model.deleted_at.is_not(None))
            session.execute(old.values(deleted_at=after(-86400 * 40)))

    program.sessions.run(age)
    done = maintenance.rename_backend(program.runtime, ALPHA, "other@place")
    assert (done["shares"], done["share_instances"], done["pool_reports"]) == (2, 2, 1)
    assert program.read_share(kept).instance.host == "other@place#pool"
    backends = maintenance.list_backends(program.runtime, None)
    assert [(item.host, item.load.shares) for item in backends] == [("other@place", 1)]
    removed = maintenance.purge_deleted(program.runtime, 30, lambda done: None)
    assert removed["shares"] == removed["share_instances"] == removed["share_metadata"] == 1
    assert program.show(kept)["metadata"] == {"a": "b"}
    assert maintenance.remove_stale(program.runtime, 60)[0][2].startswith("Shares live on")
