"""Guards across rows, each with one transaction in the middle of the other.

In every test the first transaction has written and not committed when the second one comes; the
second ends, or waits for a lock; then the first commits.  Whoever comes second must be refused, or
see what the first one did.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import rows
import sqlalchemy as sa
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.db import (
    access,
    backends,
    group_types,
    intents,
    pools,
    quotas,
    services,
    share_metadata,
    shares,
    transitions,
    types,
)
from fileshare.db.clock import now
from fileshare.db.intents import LostClaim
from fileshare.db.models import (
    AccessMapping,
    AccessRule,
    AvailabilityZone,
    Member,
    PoolReport,
    Service,
    Share,
    ShareGroupType,
    ShareInstance,
    ShareType,
    new_id,
)
from fileshare.db.pools import Claim
from fileshare.db.query import ALL, Scope
from fileshare.db.session import swap
from fileshare.db.transitions import Settlement, rule_states
from fileshare.domain.hosts import Location
from fileshare.domain.lifecycle import SHARE
from fileshare.domain.quotas import Charge
from fileshare.domain.statuses import Status
from tests.fixtures.databases import KINDS

pytestmark = pytest.mark.parametrize("kind", KINDS)

MINE = Scope("p1")


@pytest.fixture
def interleave(sessions, kind):
    """Run *second* while *first* is written and not committed; both results, or exceptions."""

    def run(first, second):
        with ThreadPoolExecutor(1) as threads:
            with sessions.begin() as session:
                one = first(session)
                future = threads.submit(sessions.run, second)
                rows.until_it_waits(sessions.engine, kind, future)
            other = future.exception()
            return one, other if other is not None else future.result()

    return run


@pytest.fixture
def share_id(sessions):
    with sessions.begin() as session:
        return rows.add_share(session)


def read(sessions, *columns):
    with sessions.begin() as session:
        return session.execute(sa.select(*columns)).all()


def statuses(sessions, share_id):
    with sessions.begin() as session:
        held = transitions.read(session, share_id)
    return held.share.status, held.instance.status


def born(share_type_id):
    """Make a share of a type as a create does: the type is read, then named."""

    def work(session):
        found = types.get(session, MINE, share_type_id)
        share = {"id": new_id(), "project_id": "p1", "size": 1, "share_proto": "NFS"}
        share["share_type_id"] = found.id
        instance = {"id": new_id(), "share_id": share["id"], "share_type_id": found.id}
        transitions.birth(session, share, instance, new_id())
        return share["id"]

    return work


def test_share_is_made_then_its_type_deleted(sessions, interleave):
    with sessions.begin() as session:
        type_id = rows.add_type(session, driver_handles_share_servers="False")
    share_id, refusal = interleave(born(type_id), lambda session: types.delete(session, type_id))
    assert isinstance(refusal, errors.InvalidInput)
    assert read(sessions, Share.id, Share.share_type_id) == [(share_id, type_id)]
    with sessions.begin() as session:
        assert types.specs_of(session, type_id)


def test_type_is_deleted_then_a_share_made_of_it(sessions, interleave):
    with sessions.begin() as session:
        type_id = rows.add_type(session)
    _, refusal = interleave(lambda session: types.delete(session, type_id), born(type_id))
    assert isinstance(refusal, errors.NotFound)
    assert read(sessions, Share.id) == []
    assert read(sessions, ShareType.id) == []


def names(share_type_id):
    """Make a group type of a share type."""
    return lambda session: group_types.create(
        session, name="g", is_public=True, specs={}, share_types=[share_type_id]
    )


def test_group_type_names_a_type_that_is_then_deleted(sessions, interleave):
    with sessions.begin() as session:
        type_id = rows.add_type(session)
    made, refusal = interleave(names(type_id), lambda session: types.delete(session, type_id))
    assert isinstance(refusal, errors.InvalidInput)
    with sessions.begin() as session:
        assert group_types.by_id(session, ALL, made.id).share_types == [type_id]


def test_type_is_deleted_then_named_by_a_group_type(sessions, interleave):
    with sessions.begin() as session:
        type_id = rows.add_type(session)
    _, refusal = interleave(lambda session: types.delete(session, type_id), names(type_id))
    assert isinstance(refusal, errors.NotFound)
    assert read(sessions, ShareGroupType.id) == read(sessions, ShareType.id) == []


def deletes(share_id):
    return lambda session: transitions.begin(session, SHARE["delete"], share_id, new_id(), MINE)


def allows(share_id, intent_id="rules", client="10.0.0.1"):
    def work(session):
        held = rule_states.change(session, share_id, intent_id, allow_error=True)
        rule = AccessRule(
            id=new_id(),
            share_id=share_id,
            access_type="ip",
            access_to=client,
            canonical=client,
            access_level="rw",
        )
        access.add(session, rule, [instance.id for instance in held.instances])
        return rule.id

    return work


def test_share_is_deleted_then_a_rule_added(sessions, interleave, share_id):
    _, refusal = interleave(deletes(share_id), allows(share_id))
    assert isinstance(refusal, errors.Busy)
    assert read(sessions, AccessRule.id) == []
    assert read(sessions, ShareInstance.access_intent_id) == [(None,)]


def test_rule_is_added_then_the_share_deleted(sessions, interleave, share_id):
    rule_id, held = interleave(allows(share_id), deletes(share_id))
    # The delete saw the rule's work, and its end will take the rule along.
    assert held.instance.access_intent_id == "rules"
    assert held.share.status == Status.DELETING
    with sessions.begin() as session:
        shares.drop_children(session, share_id)
    assert (rule_id,) not in read(sessions, AccessRule.id)
    assert read(sessions, AccessMapping.id) == []


def test_the_same_rule_is_added_twice(sessions, interleave, share_id):
    rule_id, refusal = interleave(allows(share_id, "one"), allows(share_id, "two"))
    assert isinstance(refusal, errors.InvalidInput)
    assert read(sessions, AccessRule.id) == [(rule_id,)]


def test_two_rules_are_added_under_one_intent(sessions, interleave, share_id):
    interleave(allows(share_id, "one"), allows(share_id, "two", client="10.0.0.2"))
    assert read(sessions, ShareInstance.access_intent_id, ShareInstance.access_version) == [
        ("one", 2)
    ]
    assert len(read(sessions, AccessMapping.id)) == 2


def extends(share_id, intent_id):
    return lambda session: transitions.begin(session, SHARE["extend"], share_id, intent_id, MINE)


@pytest.mark.parametrize("verb", ["extend", "shrink", "delete"])
def test_one_verb_at_a_time(sessions, interleave, share_id, verb):
    def second(session):
        transitions.begin(session, SHARE[verb], share_id, "two", MINE)

    held, refusal = interleave(extends(share_id, "one"), second)
    assert held.share.status == Status.EXTENDING
    assert isinstance(refusal, errors.WrongStatus)
    assert read(sessions, Share.status, Share.intent_id) == [(Status.EXTENDING, "one")]
    assert read(sessions, ShareInstance.status) == [(Status.EXTENDING,)]


def test_the_size_is_read_after_the_swap(sessions, interleave, share_id):
    """A verb that waited for another one's end decides on what that one left."""
    with sessions.begin() as session:
        extends(share_id, "one")(session)
        intent = promise(session, share_id, "one")

    def settles(session):
        grown = Settlement(share={"size": 5})
        return transitions.settle(session, intent, Status.AVAILABLE, grown)

    _, held = interleave(settles, extends(share_id, "two"))
    if isinstance(held, errors.WrongStatus):  # it did not wait, and saw the verb before its end
        held = sessions.run(extends(share_id, "two"))
    assert held.share.size == 5
    assert held.share.intent_id == "two"


def promise(session, share_id, intent_id):
    return intents.write(
        session,
        id=intent_id,
        kind="share.extend",
        event=SHARE["extend"].event,
        resource_type="share",
        resource_id=share_id,
        destination="here",
    )


def test_worker_settles_then_an_administrator_resets(sessions, interleave, share_id):
    with sessions.begin() as session:
        extends(share_id, "one")(session)
        intent = promise(session, share_id, "one")
    _, held = interleave(
        lambda session: transitions.settle(session, intent, Status.AVAILABLE, Settlement()),
        lambda session: transitions.reset(session, share_id, Status.ERROR, ALL),
    )
    assert held.share.status == Status.ERROR
    assert statuses(sessions, share_id) == (Status.ERROR, Status.ERROR)


def test_an_administrator_resets_then_the_worker_settles(sessions, interleave, share_id):
    with sessions.begin() as session:
        extends(share_id, "one")(session)
        intent = promise(session, share_id, "one")
    _, lost = interleave(
        lambda session: transitions.reset(session, share_id, Status.ERROR, ALL),
        lambda session: transitions.settle(session, intent, Status.AVAILABLE, Settlement()),
    )
    assert isinstance(lost, LostClaim)
    assert statuses(sessions, share_id) == (Status.ERROR, Status.ERROR)


def test_two_intents_for_one_resource(sessions, interleave, share_id):
    _, refusal = interleave(
        lambda session: promise(session, share_id, "one"),
        lambda session: promise(session, share_id, "two"),
    )
    assert isinstance(refusal, db_exception.DBDuplicateEntry)


def test_claim_of_what_is_claimed(sessions, interleave, share_id):
    with sessions.begin() as session:
        promise(session, share_id, "one")
    mine, other = interleave(
        lambda session: intents.claim(session, "one", "w1", 60),
        lambda session: intents.claim(session, "one", "w2", 60),
    )
    assert mine.owner == "w1"
    assert other is None


def test_a_claim_is_lost_while_its_end_is_written(sessions, interleave, share_id):
    with sessions.begin() as session:
        promise(session, share_id, "one")
    with sessions.begin() as session:
        intent = intents.claim(session, "one", "w1", 60)
    session.expunge_all()
    _, lost = interleave(
        lambda session: intents.supersede(session, "share", share_id, "reset"),
        lambda session: intents.close(session, intent, "done"),
    )
    assert isinstance(lost, LostClaim)


def test_the_last_of_a_quota(sessions, interleave):
    charge = Charge("p1", "u1", None, {"shares": 1, "gigabytes": 2})
    limits = {"shares": 1, "gigabytes": 100}
    _, refusal = interleave(
        lambda session: quotas.charge(session, charge, limits),
        lambda session: quotas.charge(session, charge, limits),
    )
    assert isinstance(refusal, errors.OverQuota)
    with sessions.begin() as session:
        assert quotas.booked(session, "p1") == {
            ("p1", scope, name): amount
            for scope in ("project", "user:u1")
            for name, amount in (("shares", 1), ("gigabytes", 2))
        }


def set_metadata(session, share_id, pairs):
    old = share_metadata.hold(session, share_id)
    share_metadata.change(session, share_id, old, {**old, **pairs})


def test_metadata_of_one_share_is_set_twice(sessions, interleave, share_id):
    interleave(
        lambda session: set_metadata(session, share_id, {"a": "1", "b": "1"}),
        lambda session: set_metadata(session, share_id, {"b": "2", "c": "2"}),
    )
    with sessions.begin() as session:
        assert share_metadata.of(session, share_id) == {"a": "1", "b": "2", "c": "2"}


def test_specs_of_one_type_are_set_twice(sessions, interleave):
    with sessions.begin() as session:
        type_id = rows.add_type(session)

    def sets(specs):
        def work(session):
            types.lock(session, type_id)
            types.set_specs(session, type_id, specs)

        return work

    interleave(sets({"a": "1", "b": "1"}), sets({"b": "2", "c": "2"}))
    with sessions.begin() as session:
        assert types.specs_of(session, type_id) == {"a": "1", "b": "2", "c": "2"}


def test_two_daemons_open_one_service(sessions, interleave):
    def joins(process):
        identity = services.Identity("fileshare-share", "n@b", "t", "nova", "n", process)
        return lambda session: services.join(session, identity, 60)

    one, two = interleave(joins("1"), joins("2"))
    assert sorted(read(sessions, Member.id)) == sorted([(one,), (two,)])
    assert len(read(sessions, Service.id)) == 1
    assert read(sessions, AvailabilityZone.name) == [("nova",)]


@pytest.fixture
def unplaced(sessions):
    """A share that is to be placed, on the one pool of a back end whose daemons have gone."""

    def write(session):
        name = {"host": rows.HOST, "backend": OLD.backend_host, "pool": "pool1"}
        report = {**name, "capabilities": {}, "reported_at": now()}
        session.execute(sa.insert(PoolReport).values(report))
        return rows.add_share(session, status=Status.CREATING, host=None)

    return sessions.run(write)


OLD, NEW = Location("node", "backend1", None), Location("other", "place", None)


def place(share_id, report):
    """What a scheduler writes that has read *report*."""

    def write(session):
        for row in (Share.id, ShareInstance.share_id):
            here = sa.update(row.class_).where(row == share_id).values(host=report.host)
            assert swap(session, here)
        return pools.claim(session, Claim(report.id, report.report_seq, 9, 1, None))

    return write


def rename(session):
    return backends.rename(session, OLD, NEW, 60)


def test_a_placement_while_its_back_end_gets_another_name(sessions, interleave, unplaced):
    """The share goes by the new name, too: no daemon answers to the old one any more."""
    report = sessions.run(lambda session: session.scalars(sa.select(PoolReport)).one())
    claimed, done = interleave(place(unplaced, report), rename)
    assert claimed
    assert (done["shares"], done["share_instances"], done["pool_reports"]) == (1, 1, 1)
    held = sessions.run(lambda session: transitions.read(session, unplaced))
    assert held.share.host == held.instance.host == "other@place#pool1"


def test_a_placement_after_its_back_end_got_another_name(sessions, interleave, unplaced):
    """It is decided again: what was read of the pool before has the old name."""
    report = sessions.run(lambda session: session.scalars(sa.select(PoolReport)).one())
    done, claimed = interleave(rename, place(unplaced, report))
    assert done["pool_reports"] == 1
    assert claimed is False
