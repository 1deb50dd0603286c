"""Access rules over HTTP: what may be written in one, and how they are changed and listed."""

from __future__ import annotations

import pytest
from granting import (
    Calls,
    ask,
    backend_of,
    deny,
    enforced,
    grant,
    rules,
    show,
    states,
    together,
    update,
)
from inprocess import ADMIN, NOBODY, READER, STRANGER
from queries import assert_queries

IP = {"access_type": "ip", "access_to": "10.0.0.5", "access_level": "rw"}


@pytest.mark.parametrize(
    ("access_type", "access_to"),
    [
        ("ip", "10.0.0.1"),
        ("ip", " 10.0.0.1 "),
        ("ip", "10.0.0.0/24"),
        ("ip", "10.0.0.0/255.255.255.0"),
        ("ip", "0.0.0.0/0"),
        ("ip", "::/0"),
        ("ip", "2001:db8::1"),
        ("ip", "2001:DB8:0:0::/64"),
        ("user", "alice"),
        ("user", "CORP\\alice$"),
        ("user", "ålice"),
        ("user", "x" * 255),
        ("cert", "client.example.org"),
        ("cert", "x" * 64),
        ("cephx", "alice"),
        ("cephx", "alice bob"),
    ],
)
def test_good_rules(api, share, access_type, access_to):
    answer = ask(api, share, access_to, access_type)
    assert answer.status == 200, answer.body
    rule = answer["access"]
    assert (rule["access_to"], rule["access_level"]) == (access_to.strip(), "rw")
    assert (rule["state"], rule["share_id"], rule["metadata"]) == ("queued_to_apply", share, {})


@pytest.mark.parametrize(
    ("access_type", "access_to"),
    [
        ("ip", ""),
        ("ip", "1.2.3.256"),
        ("ip", "1.2.3"),
        ("ip", "1.1.1.-"),
        ("ip", "1.2.3.4/33"),
        ("ip", "1.2.3.4/-1"),
        ("ip", "1.2.3.4/"),
        ("ip", "1.2.3.1|23"),
        ("ip", "1.2.3.*"),
        ("ip", "010.0.0.1"),
        ("ip", "10.0.0.1/24"),
        ("ip", "10.0.0.0/0.0.0.255"),
        ("ip", "10.0.0.1 10.0.0.2"),
        ("ip", "10.0.0.1\n10.0.0.2"),
        ("ip", "fe80::1%eth0"),
        ("ip", "2001:db8::/129"),
        ("ip", "2001:db8::1/64"),
        ("ip", "example.org"),
        ("user", "abc"),
        ("user", "x" * 256),
        ("user", "alice\nbob"),
        ("user", "../alice"),
        ("user", "alice*"),
        ("cert", ""),
        ("cert", "   "),
        ("cert", "x" * 65),
        ("cert", "a\tb"),
        ("cephx", ""),
        ("cephx", "client.alice"),
        ("cephx", "ålice"),
        ("cephx", "x" * 256),
        ("host", "10.0.0.1"),
    ],
)
def test_bad_rules(api, share, access_type, access_to):
    assert ask(api, share, access_to, access_type).status == 400
    assert rules(api, share) == []
    assert api.show(share)["access_rules_status"] == "active"


@pytest.mark.parametrize(
    "body",
    [
        {"access_type": "ip"},
        {"access_to": "10.0.0.1"},
        {**IP, "access_level": "rwx"},
        {**IP, "access_to": 7},
        {**IP, "metadata": {"k": ""}},
        {**IP, "metadata": {"": "v"}},
        {**IP, "metadata": {"k": "x" * 1024}},
        {**IP, "lock_reason": "no lock"},
        {**IP, "lock_visibility": True, "lock_reason": "x" * 1024},
        {**IP, "lock_deletion": "perhaps"},
    ],
    ids=str,
)
def test_bad_bodies(api, share, body):
    assert api.act(share, "allow_access", body).status == 400
    assert rules(api, share) == []


def test_types_and_families_come_with_their_microversions(api, share):
    assert ask(api, share, "alice", "cephx", version="2.12").status == 400
    assert ask(api, share, "alice", "cephx", version="2.13").status == 200
    assert ask(api, share, "2001:db8::1", version="2.37").status == 400
    assert ask(api, share, "2001:db8::1", version="2.38").status == 200


@pytest.mark.parametrize(
    ("access_type", "one", "two"),
    [
        ("ip", "10.0.0.1", "10.0.0.1/32"),
        ("ip", "10.0.0.0/24", "10.0.0.0/255.255.255.0"),
        ("ip", "2001:db8::1", "2001:0DB8:0:0:0:0:0:1/128"),
        ("ip", "0.0.0.0/0", "0.0.0.0/0.0.0.0"),
        ("user", "alice", " alice "),
        ("user", "\N{LATIN SMALL LETTER A WITH RING ABOVE}lice", "a\N{COMBINING RING ABOVE}lice"),
    ],
)
def test_two_spellings_of_one_client_are_one_rule(api, share, access_type, one, two):
    grant(api, share, one, access_type)
    again = ask(api, share, two, access_type, access_level="ro")
    assert again.status == 400, again.body
    assert len(rules(api, share)) == 1
    other = api.new_share()
    grant(api, other, one, access_type)


def test_drivers_are_told_clean_spellings(api, share):
    grant(api, share, "10.1.0.0/255.255.0.0")
    grant(api, share, "10.0.0.1/32")
    api.drain()
    assert enforced(api, share) == {("10.1.0.0/16", "rw"), ("10.0.0.1", "rw")}
    assert set(states(api, share)) == {"10.1.0.0/255.255.0.0", "10.0.0.1/32"}


def test_denials_of_what_is_not_there(api, share):
    other = api.new_share()
    rule = grant(api, other)
    assert deny(api, share, rule).status == 404
    assert deny(api, share, NOBODY).status == 404
    assert deny(api, NOBODY, rule).status == 404
    assert deny(api, other, rule, STRANGER).status == 404
    assert deny(api, other, rule, READER).status == 403
    assert api.act(share, "deny_access", {}).status == 400
    assert api.act(share, "deny_access", {"access_id": {"x": 1}}).status == 400
    assert api.act(share, "deny_access", {"access_id": "x"}).status == 404


def test_a_share_that_is_busy_takes_no_change_of_its_rules(api, share):
    rule = grant(api, share)
    api.drain()
    api.act(share, "extend", {"new_size": 2})
    assert ask(api, share, "10.0.0.9").status == 400
    assert deny(api, share, rule).status == 400
    assert update(api, rule, "ro").status == 400
    api.drain()
    assert ask(api, share, "10.0.0.9").status == 200


def test_a_share_in_error_takes_changes_since_2_74(api, share):
    api.act(share, "reset_status", {"status": "error"}, as_=ADMIN)
    assert ask(api, share, version="2.73").status == 400
    assert ask(api, share, version="2.74").status == 200


def test_a_public_share_s_rules_are_its_project_s(api):
    share = api.new_share(is_public=True, as_=ADMIN)
    rule = grant(api, share, as_=ADMIN)
    assert api.get(f"/shares/{share}", as_=STRANGER).status == 200
    path = f"/share-access-rules/{rule}"
    assert api.get(f"/share-access-rules?share_id={share}", as_=STRANGER).status == 403
    assert api.get(path, as_=STRANGER).status == 404
    assert ask(api, share, "10.0.0.9", as_=STRANGER).status == 403
    assert deny(api, share, rule, STRANGER).status == 403
    assert update(api, rule, "ro", STRANGER).status == 404
    pairs = {"metadata": {"k": "v"}}
    assert api.put(f"{path}/metadata", pairs, as_=STRANGER).status == 404
    assert api.delete(f"{path}/metadata/k", as_=STRANGER).status == 404
    assert show(api, rule, ADMIN)["metadata"] == {}


def test_metadata(api, share):
    rule = grant(api, share, metadata={"one": "1"})
    path = f"/share-access-rules/{rule}/metadata"
    answer = api.put(path, {"metadata": {"two": "2"}})
    assert (answer.status, answer["metadata"]) == (200, {"two": "2"})
    assert show(api, rule)["metadata"] == {"one": "1", "two": "2"}
    assert api.delete(f"{path}/one").status == 200
    assert api.delete(f"{path}/one").status == 404
    assert show(api, rule)["metadata"] == {"two": "2"}
    for wrong in ({"metadata": {"k": ""}}, {"metadata": {"k" * 256: "v"}}, {"metadata": 1}, {}):
        assert api.put(path, wrong).status == 400
    assert api.put(f"/share-access-rules/{NOBODY}/metadata", {"metadata": {}}).status == 404
    assert api.put(path, {"metadata": {"k": "v"}}, as_=READER).status == 403
    assert api.put(path, {"metadata": {"k": "v"}}, as_=STRANGER).status == 404


def test_metadata_written_at_once_is_all_kept(api, share):
    rule = grant(api, share)
    path = f"/share-access-rules/{rule}/metadata"
    pairs = {f"key{number}": "v" for number in range(8)}
    together(
        *(lambda key=key: api.put(path, {"metadata": {key: "v"}}) for key in pairs),
    )
    assert show(api, rule)["metadata"] == pairs


def test_lists_are_filtered(api, share):
    one = grant(api, share, "10.0.0.1", metadata={"k": "v", "l": "w"})
    two = grant(api, share, "10.0.0.2", access_level="ro")
    three = grant(api, share, "alice", "user")
    for query, expected in {
        "": [one, two, three],
        "&access_type=user": [three],
        "&access_level=ro": [two],
        "&access_type=ip&access_to=10.0.0.1": [one],
        "&metadata={'k':'v'}": [one],
        "&metadata={'k':'w'}": [],
        f"&id={two}": [two],
        "&access_key=secret": [],
    }.items():
        assert [rule["id"] for rule in rules(api, share, query)] == expected, query
    path = f"/share-access-rules?share_id={share}"
    for wrong in ("&access_to=10.0.0.1", "&access_type=x", "&access_level=x", "&metadata=x"):
        assert api.get(path + wrong).status == 400, wrong
    for fine in ("&access_to=10.0.0.1", "&access_type=x", "&access_level=x"):
        assert api.get(path + fine, version="2.81").status == 200, fine
    assert api.get("/share-access-rules").status == 400
    assert api.get(f"/share-access-rules?share_id={NOBODY}").status == 400
    assert api.get(path, as_=STRANGER).status == 400


def test_a_list_costs_the_same_whatever_its_length(api, share):
    for number in range(12):
        grant(api, share, f"10.0.0.{number}")
    with assert_queries(api.sessions.engine, 2):
        assert len(rules(api, share)) == 12
    rule = rules(api, share)[0]["id"]
    with assert_queries(api.sessions.engine, 1):
        show(api, rule)


@pytest.mark.parametrize(
    ("version", "action"), [("2.6", "os-access_list"), ("2.7", "access_list")]
)
def test_older_versions_list_by_an_action(api, share, version, action):
    grant(api, share)
    (rule,) = api.act(share, action, version=version)["access_list"]
    assert set(rule) == {"id", "access_type", "access_to", "access_level", "state"}
    assert rule["state"] == "new"
    api.drain()
    (rule,) = api.act(share, action, version=version)["access_list"]
    assert rule["state"] == "active"
    assert api.act(share, "access_list", version="2.45").status == 404


def test_a_key_of_the_back_end_is_shown(cephfs):
    api = cephfs
    share = api.new_share(share_proto="CEPHFS")
    rule = grant(api, share, "alice", "cephx")
    api.drain()
    assert show(api, rule)["access_key"] == "dummy-key-of-alice"
    (old,) = api.act(share, "access_list", version="2.20")["access_list"]
    assert "access_key" not in old


def test_what_a_grant_and_a_denial_cost(api, share):
    with assert_queries(api.sessions.engine, 20):
        rule = grant(api, share)
        api.drain()
    assert show(api, rule)["state"] == "active"
    with assert_queries(api.sessions.engine, 20):
        deny(api, share, rule)
        api.drain()
    assert api.get(f"/share-access-rules/{rule}").status == 404


def test_a_level_changes_without_a_gap(api, share, monkeypatch):
    """C011: the rule is in every set that the back end is told, and never taken away."""
    rule = grant(api, share)
    api.drain()
    calls = Calls(api.drivers[backend_of(api, share)], monkeypatch)
    for level in ("ro", "rw"):
        answer = update(api, rule, level)
        assert (answer.status, answer["access"]["access_level"]) == (200, level)
        assert answer["access"]["state"] == "queued_to_update"
        assert answer["access"]["updated_at"] is not None
        api.drain()
        assert show(api, rule)["state"] == "active"
        assert enforced(api, share) == {("10.0.0.5", level)}
    told = [(change.added, change.removed, len(change.changed)) for change in calls.changes]
    assert told == [((), (), 1)] * 2
    assert all(rule in {item.id for item in change.rules} for change in calls.changes)


def test_the_same_level_again_changes_nothing(api, share, monkeypatch):
    rule = grant(api, share)
    api.drain()
    calls = Calls(api.drivers[backend_of(api, share)], monkeypatch)
    assert update(api, rule, "rw")["access"]["state"] == "active"
    api.drain()
    assert calls.changes == []


@pytest.mark.parametrize("body", [{}, {"access_level": "x"}, {"access_level": None}])
def test_bad_levels(api, share, body):
    rule = grant(api, share)
    path = f"/share-access-rules/{rule}"
    assert api.put(path, {"update_access": body}).status == 400
    assert api.put(path, body).status == 400
    assert update(api, NOBODY, "ro").status == 404
    good = {"update_access": {"access_level": "ro"}}
    assert api.put(path, good, version="2.87").status == 404
    assert update(api, rule, "ro", STRANGER).status == 404
    assert update(api, rule, "ro", READER).status == 403


def test_a_level_that_changes_while_the_back_end_works_is_applied_too(api, share, monkeypatch):
    rule = grant(api, share)
    api.drain()
    driver = api.drivers[backend_of(api, share)]
    real, seen = driver.apply_access, []

    def apply_access(ref, change):
        result = real(ref, change)
        seen.append(show(api, rule)["state"])
        if len(seen) == 1:
            update(api, rule, "rw")
        return result

    update(api, rule, "ro")
    monkeypatch.setattr(driver, "apply_access", apply_access)
    api.drain()
    assert seen == ["queued_to_update", "queued_to_update"]
    assert enforced(api, share) == {("10.0.0.5", "rw")}
    assert show(api, rule)["state"] == "active"
    api.check()


def test_a_rule_that_goes_takes_no_level(api, share):
    rule = grant(api, share)
    deny(api, share, rule)
    assert update(api, rule, "ro").status == 400
