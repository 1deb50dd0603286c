"""Resource locks over HTTP: who may place, see and lift them, and what they keep."""

from __future__ import annotations

import threading

import pytest
from inprocess import ADMIN, MEMBER, NOBODY, OTHER_PROJECT, PROJECT, READER, STRANGER

NEIGHBOUR = f"bob:{PROJECT}:member"
SERVICE = f"nova:{OTHER_PROJECT}:service"


def lock(api, resource_id, as_=MEMBER, **values):
    body = {"resource_id": resource_id, "resource_type": "share", **values}
    return api.post("/resource-locks", {"resource_lock": body}, as_=as_)


def locked(api, resource_id, as_=MEMBER, **values):
    answer = lock(api, resource_id, as_, **values)
    assert answer.status == 200, answer.body
    return answer["resource_lock"]


def listed(api, query="", as_=MEMBER):
    return [item["id"] for item in api.get(f"/resource-locks{query}", as_=as_)["resource_locks"]]


def grant(api, share_id, as_=MEMBER, **values):
    wanted = {"access_type": "ip", "access_to": "10.0.0.5", **values}
    answer = api.act(share_id, "allow_access", wanted, as_=as_)
    assert answer.status == 200, answer.body
    return answer["access"]["id"]


def test_a_lock_is_shown_as_it_was_made(api):
    share = api.new_share()
    made = locked(api, share, lock_reason="payroll")
    assert made == api.get(f"/resource-locks/{made['id']}")["resource_lock"]
    expected = {
        "user_id": "alice",
        "project_id": PROJECT,
        "lock_context": "user",
        "resource_type": "share",
        "resource_id": share,
        "resource_action": "delete",
        "lock_reason": "payroll",
        "updated_at": None,
    }
    assert {key: made[key] for key in expected} == expected
    assert made["links"][0]["href"].endswith(f"/v2/resource-locks/{made['id']}")


def test_defaults_are_a_share_and_its_deletion(api):
    share = api.new_share()
    answer = api.post("/resource-locks", {"resource_lock": {"resource_id": share}})
    made = answer["resource_lock"]
    assert (made["resource_type"], made["resource_action"]) == ("share", "delete")
    nulls = {"resource_type": None, "resource_action": None, "lock_reason": None}
    assert lock(api, share, **nulls).status == 200


@pytest.mark.parametrize(
    "values",
    [
        {"resource_action": "show"},
        {"resource_action": "extend"},
        {"resource_type": "snapshot"},
        {"lock_reason": "x" * 1024},
        {"lock_reason": 7},
        {"resource_id": "no-uuid"},
        {"resource_id": NOBODY},
        {"resource_id": NOBODY, "resource_type": "access_rule"},
        {"lock_context": "admin"},
    ],
    ids=str,
)
def test_bad_locks_are_refused(api, values):
    share = api.new_share()
    assert lock(api, **{"resource_id": share, **values}).status == 400
    assert listed(api) == []


def test_locks_come_with_their_microversion(api):
    assert api.get("/resource-locks", version="2.80").status == 404
    assert api.get("/resource-locks", version="2.81").status == 200


@pytest.mark.parametrize(
    ("remove", "status"),
    [
        (lambda api, share: api.delete(f"/shares/{share}"), 403),
        (lambda api, share: api.delete(f"/shares/{share}", as_=ADMIN), 403),
        (lambda api, share: api.act(share, "force_delete", as_=ADMIN), 400),
    ],
    ids=["delete", "delete by an administrator", "force_delete"],
)
def test_a_locked_share_stays(api, remove, status):
    share = api.new_share()
    made = locked(api, share)
    refused = remove(api, share)
    assert refused.status == status
    assert "lock" in str(refused.body)
    api.drain()
    assert api.show(share)["status"] == "available"
    assert api.act(share, "extend", {"new_size": 2}).status == 202
    api.drain()
    assert api.delete(f"/resource-locks/{made['id']}").status == 204
    assert remove(api, share).status == 202
    api.drain()
    assert api.get(f"/shares/{share}").status == 404
    api.check()


def test_it_is_too_late_for_a_lock_on_a_share_that_goes(api):
    share = api.new_share()
    assert api.delete(f"/shares/{share}").status == 202
    assert lock(api, share).status == 409
    api.drain()
    assert lock(api, share).status == 400


def test_a_share_is_either_locked_or_deleted(api):
    """Of a lock and a deletion at the same moment one wins, and the other is told."""
    for _ in range(10):
        share = api.new_share()
        answers, gate = {}, threading.Barrier(2)

        def race(name, call, answers=answers, gate=gate):
            gate.wait()
            answers[name] = call().status

        threads = [
            threading.Thread(target=race, args=("lock", lambda share=share: lock(api, share))),
            threading.Thread(
                target=race, args=("delete", lambda share=share: api.delete(f"/shares/{share}"))
            ),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers in ({"lock": 200, "delete": 403}, {"lock": 409, "delete": 202})
    api.drain()
    api.check()


def test_an_access_rule_is_locked_against_deletion(api):
    share = api.new_share()
    rule = grant(api, share)
    made = locked(api, rule, resource_type="access_rule")
    assert api.act(share, "deny_access", {"access_id": rule}).status == 403
    assert api.delete(f"/resource-locks/{made['id']}").status == 204
    assert api.act(share, "deny_access", {"access_id": rule}).status == 202
    late = lock(api, rule, resource_type="access_rule")
    assert late.status == 409
    hide = {"resource_type": "access_rule", "resource_action": "show"}
    assert lock(api, rule, **hide).status == 409


def test_a_rule_in_error_is_not_locked_against_deletion(api):
    share = api.new_share()
    rule = grant(api, share, access_type="cert", access_to="client")
    api.drain()
    assert api.get(f"/share-access-rules/{rule}")["access"]["state"] == "error"
    assert lock(api, rule, resource_type="access_rule").status == 409
    hide = {"resource_type": "access_rule", "resource_action": "show"}
    assert lock(api, rule, **hide).status == 200


def test_a_rule_is_hidden_once(api):
    share = api.new_share()
    rule = grant(api, share)
    hide = {"resource_type": "access_rule", "resource_action": "show"}
    locked(api, rule, **hide)
    assert lock(api, rule, **hide).status == 409
    other = locked(api, rule, resource_type="access_rule")
    change = {"resource_lock": {"resource_action": "show"}}
    assert api.put(f"/resource-locks/{other['id']}", change).status == 400


def test_changes(api):
    share = api.new_share()
    id = locked(api, share, lock_reason="one")["id"]
    path = f"/resource-locks/{id}"
    changed = api.put(path, {"resource_lock": {"lock_reason": "two"}})
    assert (changed.status, changed["resource_lock"]["lock_reason"]) == (200, "two")
    assert changed["resource_lock"]["updated_at"] is not None
    assert api.put(path, {"resource_lock": {"lock_reason": None}}).status == 200
    assert api.get(path)["resource_lock"]["lock_reason"] is None
    for wrong in (
        {"resource_action": "show"},
        {"resource_id": share},
        {"lock_reason": "x" * 1024},
    ):
        assert api.put(path, {"resource_lock": wrong}).status == 400
    assert api.put(f"/resource-locks/{NOBODY}", {"resource_lock": {}}).status == 404


def test_the_action_of_a_rule_s_lock_changes(api):
    share = api.new_share()
    rule = grant(api, share)
    path = f"/resource-locks/{locked(api, rule, resource_type='access_rule')['id']}"
    assert api.put(path, {"resource_lock": {"resource_action": "show"}}).status == 200
    assert api.get(f"/share-access-rules/{rule}", as_=NEIGHBOUR)["access"]["access_to"] == "******"
    assert api.put(path, {"resource_lock": {"resource_action": "delete"}}).status == 200
    assert api.act(share, "deny_access", {"access_id": rule}).status == 403


@pytest.mark.parametrize(
    ("owner", "context"), [(MEMBER, "user"), (ADMIN, "admin"), (SERVICE, "service")]
)
@pytest.mark.parametrize("caller", [MEMBER, NEIGHBOUR, READER, ADMIN, SERVICE, STRANGER])
def test_who_may_touch_whose_lock(api, owner, context, caller):
    """A user its own; a service also users'; an administrator everybody's."""
    share = api.new_share()
    made = locked(api, share, owner)
    assert made["lock_context"] == context
    rank = {ADMIN: 2, SERVICE: 1}.get(caller, 0)
    needed = {"admin": 2, "service": 1, "user": 0}[context]
    owns = caller == owner
    if rank == 0 and not owns:
        seen = made["project_id"] == caller.split(":")[1]
        expected = 403 if seen else 404
    else:
        expected = 200 if rank >= needed else 403
    path = f"/resource-locks/{made['id']}"
    change = {"resource_lock": {"lock_reason": "mine"}}
    assert api.put(path, change, as_=caller).status == expected
    expected = 204 if expected == 200 else expected
    assert api.delete(path, as_=caller).status == expected


def test_who_may_place_a_lock(api):
    share = api.new_share()
    assert lock(api, share, READER).status == 403
    assert lock(api, share, NEIGHBOUR).status == 200
    hidden, missing = lock(api, share, STRANGER), lock(api, NOBODY, STRANGER)
    assert (hidden.status, missing.status) == (400, 400)
    assert str(hidden.body).replace(share, "ID") == str(missing.body).replace(NOBODY, "ID")


def test_a_public_share_is_seen_and_not_locked_by_others(api):
    share = api.new_share(is_public=True, as_=ADMIN)
    assert lock(api, share, STRANGER).status == 403


def test_another_project_s_lock_is_not_there(api):
    made = locked(api, api.new_share())
    hidden = api.get(f"/resource-locks/{made['id']}", as_=STRANGER)
    missing = api.get(f"/resource-locks/{NOBODY}", as_=STRANGER)
    assert (hidden.status, missing.status) == (404, 404)
    assert str(hidden.body).replace(made["id"], "ID") == str(missing.body).replace(NOBODY, "ID")
    for caller in (READER, ADMIN, SERVICE):
        assert api.get(f"/resource-locks/{made['id']}", as_=caller).status == 200


def test_lists_hold_the_project_s_locks(api):
    share = api.new_share()
    mine, admins = locked(api, share), locked(api, share, ADMIN)
    assert listed(api) == [mine["id"]]
    assert listed(api, as_=STRANGER) == []
    assert listed(api, "?all_projects=true") == [mine["id"]]
    assert set(listed(api, "?all_projects=true", ADMIN)) == {mine["id"], admins["id"]}
    assert set(listed(api, "?all_projects=1", SERVICE)) == {mine["id"], admins["id"]}
    assert listed(api, f"?project_id={PROJECT}", ADMIN) == [mine["id"]]
    assert listed(api, f"?project_id={PROJECT}") == [mine["id"]]
    assert api.get(f"/resource-locks?project_id={PROJECT}", as_=STRANGER).status == 403
    assert api.get("/resource-locks?all_projects=perhaps", as_=ADMIN).status == 400


def test_filters(api):
    share, other = api.new_share(), api.new_share()
    rule = grant(api, share)
    first = locked(api, share, lock_reason="used by 50%_off")
    second = locked(api, other, NEIGHBOUR)
    third = locked(api, rule, resource_type="access_rule", lock_reason="used by nobody")
    fourth = locked(api, rule, resource_type="access_rule", resource_action="show")
    all_ = [item["id"] for item in (first, second, third, fourth)]
    for query, expected in {
        "resource_type=access_rule": all_[2:],
        "resource_action=show": all_[3:],
        f"resource_id={share}": all_[:1],
        "user_id=bob": all_[1:2],
        "lock_context=user": all_,
        "lock_context=admin": [],
        "lock_reason=used by nobody": all_[2:3],
        "lock_reason~=used": [all_[0], all_[2]],
        "lock_reason~=50%25_": all_[:1],
        "lock_reason~=_": all_[:1],
        f"created_since={third['created_at']}": all_[2:],
        f"created_before={second['created_at']}": all_[:2],
        f"resource_id={rule}&resource_action=delete": all_[2:3],
    }.items():
        assert listed(api, f"?sort_dir=asc&{query}") == expected, query
    for wrong in ("resource_type=snapshot", "resource_action=x", "lock_context=longer-than-10"):
        assert api.get(f"/resource-locks?{wrong}").status == 400
    assert api.get("/resource-locks?created_since=yesterday").status == 400


def test_pages(api):
    share = api.new_share()
    made = [locked(api, share, lock_reason=str(number))["id"] for number in range(5)]
    assert listed(api) == made[::-1]
    assert listed(api, "?sort_dir=asc&limit=2&offset=1") == made[1:3]
    assert listed(api, "?sort_key=lock_reason&sort_dir=asc") == made
    assert listed(api, "?limit=0") == []
    page = api.get("/resource-locks?limit=2&sort_dir=asc&with_count=true")
    assert (page["count"], [item["id"] for item in page["resource_locks"]]) == (5, made[:2])
    link = page["resource_locks_links"][0]["href"].partition("/v2")[2]
    assert [item["id"] for item in api.get(link)["resource_locks"]] == made[2:4]
    for wrong in (
        "limit=-1",
        "limit=x",
        "limit=2147483648",
        "limit=+1",
        "offset=-1",
        "sort_key=__class__",
    ):
        assert api.get(f"/resource-locks?{wrong}").status == 400
    empty = api.get("/resource-locks?with_count=true", as_=STRANGER)
    assert "count" not in empty.body


def test_no_lock_outlives_what_it_locks(api):
    share = api.new_share()
    rule = grant(api, share)
    api.drain()
    locked(api, rule, resource_type="access_rule")
    locked(api, rule, NEIGHBOUR, resource_type="access_rule", resource_action="show")
    assert api.delete(f"/shares/{share}").status == 202
    api.drain()
    assert listed(api, "?all_projects=true", ADMIN) == []
    api.check()


def test_a_share_no_back_end_ever_held_is_kept_too(api):
    share = api.new_share(drain=False)
    locked(api, share)
    assert api.act(share, "reset_status", {"status": "error"}, as_=ADMIN).status == 202
    assert api.delete(f"/shares/{share}").status == 403
