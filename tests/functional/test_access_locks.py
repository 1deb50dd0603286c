"""Access rules that are hidden or kept by locks."""

from __future__ import annotations

import pytest
from granting import (
    NEIGHBOUR,
    SERVICE,
    ask,
    backend_of,
    deny,
    grant,
    order,
    rules,
    show,
    together,
    update,
)
from inprocess import ADMIN, ADMIN_PROJECT, MEMBER, OTHER_PROJECT, READER

from fileshare.share.retries import retry_access

ALL_LOCKS = {"lock_visibility": True, "lock_deletion": True, "lock_reason": "nova"}
BOSS = f"root:{ADMIN_PROJECT}:admin"


def locks(api, resource_id, as_=ADMIN):
    path = f"/resource-locks?all_projects=true&resource_id={resource_id}"
    return api.get(path, as_=as_)["resource_locks"]


def test_a_rule_is_made_with_its_locks(api, share):
    rule = grant(api, share, as_=SERVICE, **ALL_LOCKS)
    found = {(lock["resource_type"], lock["resource_action"]) for lock in locks(api, rule)}
    assert found == {("access_rule", "show"), ("access_rule", "delete")}
    (kept,) = locks(api, share)
    assert (kept["resource_type"], kept["resource_action"]) == ("share", "delete")
    for lock in [*locks(api, rule), kept]:
        assert (lock["user_id"], lock["lock_context"]) == ("nova", "service")
        assert lock["lock_reason"] == "nova"
    assert api.delete(f"/shares/{share}").status == 403


def test_locks_come_with_their_microversion(api, share):
    rule = grant(api, share, version="2.81", **ALL_LOCKS)
    assert locks(api, rule) == []
    assert show(api, rule, NEIGHBOUR)["access_to"] == "10.0.0.5"


def test_a_grant_that_fails_leaves_no_lock(api, share):
    rule = grant(api, share)
    assert ask(api, share, **ALL_LOCKS).status == 400
    assert (locks(api, share), locks(api, rule)) == ([], [])
    api.act(share, "reset_status", {"status": "error_deleting"}, as_=ADMIN)
    assert ask(api, share, "10.0.0.6", lock_deletion=True).status == 400
    assert locks(api, share) == []
    assert len(rules(api, share)) == 1


@pytest.mark.parametrize("owner", [MEMBER, SERVICE, ADMIN, f"nova:{OTHER_PROJECT}:admin,service"])
@pytest.mark.parametrize("reader", [MEMBER, NEIGHBOUR, READER, SERVICE, ADMIN, BOSS])
def test_a_hidden_rule_is_read_by_its_keeper_and_those_above(cephfs, owner, reader):
    """C015: a lock that another project's user placed hides the rule as well."""
    api = cephfs
    share = api.new_share(share_proto="CEPHFS")
    rule = grant(api, share, "alice", "cephx", as_=owner, **ALL_LOCKS)
    api.drain()
    open_ = owner == reader or reader in {SERVICE, ADMIN, BOSS}
    expected = ("alice", "dummy-key-of-alice") if open_ else ("******", "******")
    for version in ("2.45", "2.99"):
        (listed,) = rules(api, share, as_=reader, version=version)
        shown = show(api, rule, reader, version)
        for found in (listed, shown):
            assert (found["access_to"], found["access_key"]) == expected
    (old,) = api.act(share, "access_list", as_=reader, version="2.44")["access_list"]
    assert (old["access_to"], old["access_key"]) == expected
    if reader != READER:
        assert update(api, rule, "ro", reader)["access"]["access_to"] == expected[0]


def test_a_hidden_rule_is_not_found_by_its_secrets(cephfs):
    api = cephfs
    share = api.new_share(share_proto="CEPHFS")
    rule = grant(api, share, "alice", "cephx", as_=SERVICE, lock_visibility=True)
    api.drain()
    for query in ("&access_type=cephx&access_to=alice", "&access_key=dummy-key-of-alice"):
        assert rules(api, share, query, as_=NEIGHBOUR) == []
        assert [found["id"] for found in rules(api, share, query, as_=SERVICE)] == [rule]
    for query in ("&access_type=cephx", f"&id={rule}", "&access_level=rw"):
        (found,) = rules(api, share, query, as_=NEIGHBOUR)
        assert found["access_to"] == "******"
    hidden = "&access_type=cephx&access_to=******"
    assert rules(api, share, hidden, as_=NEIGHBOUR) == []


def test_a_message_about_a_hidden_rule_keeps_its_secret(api, share):
    order(api, share, "apply_access access_to=10.0.0.5")
    rule = grant(api, share, as_=SERVICE, lock_visibility=True)
    api.drain()
    (message,) = api.messages(share)
    assert rule in message.reason
    assert "10.0.0.5" not in message.reason


def test_a_hidden_rule_stays_hidden_until_it_is_gone(api, share):
    rule = grant(api, share, as_=SERVICE, **ALL_LOCKS)
    api.drain()
    order(api, share, "apply_access")
    assert deny(api, share, rule, SERVICE, unrestrict=True).status == 202
    assert show(api, rule, NEIGHBOUR)["access_to"] == "******"
    api.drain()
    assert show(api, rule, NEIGHBOUR)["access_to"] == "******"
    order(api, share)
    retry_access(api.runtime, f"node@{backend_of(api, share)}")
    api.drain()
    assert api.get(f"/share-access-rules/{rule}").status == 404
    assert locks(api, rule) == []


@pytest.mark.parametrize(
    ("owner", "caller", "status"),
    [
        (MEMBER, MEMBER, 202),
        (MEMBER, NEIGHBOUR, 403),
        (MEMBER, SERVICE, 202),
        (MEMBER, ADMIN, 202),
        (SERVICE, MEMBER, 403),
        (SERVICE, SERVICE, 202),
        (SERVICE, ADMIN, 202),
        (ADMIN, MEMBER, 403),
        (ADMIN, SERVICE, 403),
        (ADMIN, ADMIN, 202),
    ],
)
def test_who_may_deny_a_locked_rule(api, share, owner, caller, status):
    """C015: the project's own member is refused where a service placed the lock."""
    rule = grant(api, share, as_=owner, **ALL_LOCKS)
    api.drain()
    assert deny(api, share, rule, caller).status == 403
    assert deny(api, share, rule, caller, unrestrict=False).status == 403
    assert show(api, rule, ADMIN)["state"] == "active"
    assert deny(api, share, rule, caller, unrestrict=True).status == status
    if status == 403:
        assert len(locks(api, rule)) == 2
        assert len(locks(api, share)) == 1
        return
    assert api.delete(f"/shares/{share}").status == 202
    api.drain()
    assert api.get("/resource-locks?all_projects=true", as_=ADMIN)["resource_locks"] == []
    api.check()


def test_a_rule_that_is_hidden_only_may_be_denied(api, share):
    rule = grant(api, share, as_=SERVICE, lock_visibility=True)
    assert deny(api, share, rule).status == 202
    api.drain()
    assert locks(api, rule) == []


def test_the_first_of_two_rules_leaves_the_other_s_locks(api, share):
    """C016: each rule keeps the share for itself, and with the last one nothing is left."""
    one = grant(api, share, "10.0.0.1", as_=SERVICE, **ALL_LOCKS)
    two = grant(api, share, "10.0.0.2", as_=SERVICE, **ALL_LOCKS)
    api.drain()
    assert deny(api, share, one, SERVICE, unrestrict=True).status == 202
    api.drain()
    assert (len(locks(api, two)), len(locks(api, share))) == (2, 1)
    assert api.delete(f"/shares/{share}").status == 403
    assert deny(api, share, two, SERVICE, unrestrict=True).status == 202
    api.drain()
    assert api.delete(f"/shares/{share}").status == 202
    assert api.get("/resource-locks?all_projects=true", as_=ADMIN)["resource_locks"] == []


def test_a_lock_against_a_denial_at_once(api, share):
    """Of a lock on a rule and its denial one wins, and the other is told."""
    for number in range(6):
        rule = grant(api, share, f"10.0.0.{number}")
        body = {"resource_id": rule, "resource_type": "access_rule"}
        lock, denial = together(
            lambda body=body: api.post("/resource-locks", {"resource_lock": body}),
            lambda rule=rule: deny(api, share, rule),
        )
        assert (lock.status, denial.status) in {(200, 403), (409, 202)}


def test_a_locked_share_is_not_put_into_the_bin_nor_locked_there(api, share):
    rule = grant(api, share, lock_deletion=True)
    api.drain()
    assert api.act(share, "soft_delete").status == 403
    assert deny(api, share, rule, unrestrict=True).status == 202
    api.drain()
    kept = grant(api, share, "10.0.0.6")
    api.drain()
    assert api.act(share, "soft_delete").status == 202
    assert ask(api, share, "10.0.0.7").status == 403
    assert deny(api, share, kept).status == 403
    assert api.post("/resource-locks", {"resource_lock": {"resource_id": share}}).status == 409
