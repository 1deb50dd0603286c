"""Quota sets and quota classes over HTTP, and that no charge passes them."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, LATEST, MEMBER, NOBODY, OTHER_PROJECT, PROJECT, READER, STRANGER

from fileshare import errors
from fileshare.db import quotas
from fileshare.domain.quotas import RESOURCES, Charge

DEFAULTS = {resource.name: resource.default for resource in RESOURCES}
MOST = 2**31 - 1
FIRST = {"shares", "gigabytes", "snapshots", "snapshot_gigabytes", "share_networks"}
NOT_OF_TYPES = {"share_networks", "share_groups", "share_group_snapshots"}


def show(api, query="", *, project=PROJECT, as_=ADMIN, version=LATEST):
    return api.get(f"/quota-sets/{project}{query}", as_=as_, version=version)


def put(api, limits, query="", *, project=PROJECT, as_=ADMIN, version=LATEST):
    path = f"/quota-sets/{project}{query}"
    return api.put(path, {"quota_set": limits}, as_=as_, version=version)


def detail(api, query="", as_=ADMIN):
    return show(api, f"/detail{query}", as_=as_)["quota_set"]


def book(program, amounts, *, user="alice", type_id=None, project=PROJECT):
    """What an operation would charge, without its resource."""
    wanted = Charge(project, user, type_id, amounts)
    defaults = program.runtime.quota_defaults
    program.sessions.run(lambda session: quotas.charge(session, wanted, defaults))


# -- show ----------------------------------------------------------------------------------------


def test_show_and_defaults(api):
    expected = {"id": PROJECT, **DEFAULTS}
    assert show(api).body == {"quota_set": expected}
    assert show(api, "/defaults").body == {"quota_set": expected}
    assert show(api, "?user_id=alice").body == {"quota_set": expected}


@pytest.mark.parametrize(
    ("version", "more"),
    [
        ("2.7", set()),
        ("2.39", set()),
        ("2.40", {"share_groups", "share_group_snapshots"}),
        ("2.53", {"share_replicas", "replica_gigabytes"}),
        ("2.62", {"per_share_gigabytes"}),
        ("2.80", {"backups", "backup_gigabytes"}),
        ("2.90", {"encryption_keys"}),
    ],
)
def test_quotas_by_version(api, version, more):
    shown = set(show(api, version=version)["quota_set"])
    assert FIRST | more | {"id"} <= shown
    before = f"2.{int(version[2:]) - 1}"
    if more:
        assert not more & set(show(api, version=before)["quota_set"])


def test_old_paths(api):
    path = f"/os-quota-sets/{PROJECT}"
    body = {"quota_set": {"shares": 3}}
    assert set(api.get(path, as_=ADMIN, version="2.6")["quota_set"]) == FIRST | {"id"}
    assert api.get(f"{path}/defaults", as_=ADMIN, version="2.6")["quota_set"]["shares"] == 50
    assert api.put(path, body, as_=ADMIN, version="2.6")["quota_set"]["shares"] == 3
    assert api.delete(path, as_=ADMIN, version="2.6").status == 202
    assert api.get(path, as_=ADMIN, version="2.7").status == 404
    assert show(api, version="2.6").status == 404
    assert show(api, "/detail", version="2.24").status == 404
    assert api.get("/os-quota-class-sets/default", as_=ADMIN, version="2.6").status == 200
    body = {"quota_class_set": {"shares": 3}}
    answer = api.put("/os-quota-class-sets/default", body, as_=ADMIN, version="2.6")
    assert (answer.status, answer["quota_class_set"]["shares"]) == (200, 3)


def test_who_sees_which_project(api):
    for as_ in (MEMBER, READER):
        for query in ("", "/detail", "?user_id=bob", "/defaults"):
            assert show(api, query, as_=as_).status == 200
    for query in ("", "/detail", "?user_id=bob"):
        answer = show(api, query, as_=STRANGER)
        assert (answer.status, "forbidden" in answer.body) == (403, True)
    assert show(api, "/defaults", as_=STRANGER).status == 200
    assert show(api, project=OTHER_PROJECT, as_=ADMIN).status == 200


def test_only_administrators_change_quotas(api):
    assert put(api, {"shares": 3}, as_=MEMBER).status == 403
    assert api.delete(f"/quota-sets/{PROJECT}", as_=MEMBER).status == 403
    assert show(api)["quota_set"]["shares"] == 50
    # What is too new for the version is told to everybody.
    assert put(api, {"backups": 3}, version="2.79", as_=MEMBER).status == 400


def test_a_user_or_a_type(program, api):
    type_id = program.share_type("gold").id
    assert show(api, f"?user_id=a&share_type={type_id}").status == 400
    assert show(api, f"?share_type={NOBODY}").status == 404
    assert show(api, "?share_type=gold", version="2.39").status == 200
    assert show(api, "?share_type=gold", version="2.38").status == 400
    for call in (show, detail, put):
        if call is put:
            answer = put(api, {"shares": 5}, f"?user_id=a&share_type={type_id}")
            assert answer.status == 400
            assert put(api, {"shares": 5}, f"?share_type={NOBODY}").status == 404
    assert api.delete(f"/quota-sets/{PROJECT}?share_type={NOBODY}", as_=ADMIN).status == 404
    path = f"/quota-sets/{PROJECT}?share_type=gold&user_id=a"
    assert api.delete(path, as_=ADMIN).status == 400


def test_private_types_are_hidden(program, api):
    id = program.share_type("secret").id
    body = {"share_type": {"share_type_access:is_public": False}}
    assert api.put(f"/types/{id}", body, as_=ADMIN).status == 200
    assert show(api, "?share_type=secret", as_=MEMBER).status == 404
    assert show(api, "?share_type=secret", as_=ADMIN).status == 200


# -- update --------------------------------------------------------------------------------------


def test_update_a_project(api):
    answer = put(api, {"shares": 7, "gigabytes": "70", "snapshots": -1, "tenant_id": "x"})
    expected = {**DEFAULTS, "shares": 7, "gigabytes": 70, "snapshots": -1}
    assert (answer.status, answer.body) == (200, {"quota_set": expected})
    assert show(api)["quota_set"] == {"id": PROJECT, **expected}
    assert show(api, project=OTHER_PROJECT)["quota_set"] == {"id": OTHER_PROJECT, **DEFAULTS}
    assert put(api, {"shares": 8, "gigabytes": None})["quota_set"]["gigabytes"] == 70
    assert show(api)["quota_set"]["shares"] == 8


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"force": True},
        {"shares": None},
        {"no_such": 1},
        {"shares": 3, "no_such": 1},
        {"shares": "x"},
        {"shares": ""},
        {"shares": 1.5},
        {"shares": True},
        {"shares": [1]},
        {"shares": -2},
        {"shares": "-2"},
        {"shares": MOST + 1},
        {"shares": str(MOST + 1)},
        {"shares": 3, "force": "perhaps"},
    ],
)
def test_update_refuses(api, limits):
    answer = put(api, limits)
    assert (answer.status, "badRequest" in answer.body) == (400, True)
    assert show(api)["quota_set"] == {"id": PROJECT, **DEFAULTS}


def test_update_needs_its_wrapper(api):
    for body in ({}, {"quota_set": None}, {"quota_set": []}, None):
        assert api.put(f"/quota-sets/{PROJECT}", body, as_=ADMIN).status == 400


def test_the_largest_limit(api):
    assert put(api, {"shares": MOST})["quota_set"]["shares"] == MOST


@pytest.mark.parametrize(
    ("quota", "since"),
    [
        ("share_groups", 40),
        ("share_group_snapshots", 40),
        ("share_replicas", 53),
        ("replica_gigabytes", 53),
        ("per_share_gigabytes", 62),
        ("backups", 80),
        ("backup_gigabytes", 80),
        ("encryption_keys", 90),
    ],
)
def test_a_quota_that_is_too_new(api, quota, since):
    assert put(api, {quota: 5}, version=f"2.{since - 1}").status == 400
    assert put(api, {quota: 5}, version=f"2.{since}")["quota_set"][quota] == 5


def test_a_limit_below_the_usage(program, api):
    book(program, {"shares": 3, "gigabytes": 30})
    assert put(api, {"shares": 2}).status == 400
    assert put(api, {"gigabytes": 29, "shares": 40}).status == 400
    assert show(api)["quota_set"]["shares"] == 50  # all or nothing
    assert put(api, {"shares": 3, "gigabytes": 30}).status == 200
    assert put(api, {"shares": -1}).status == 200
    assert put(api, {"shares": 2, "force": True}).status == 200
    assert detail(api)["shares"] == {"limit": 2, "in_use": 3, "reserved": 0}
    with pytest.raises(errors.OverQuota):
        book(program, {"shares": 1})
    book(program, {"gigabytes": -1})
    assert put(api, {"shares": 1, "force": "true"}).status == 200


def test_a_user_s_limit_stays_within_the_project_s(program, api):
    assert put(api, {"shares": 10}).status == 200
    assert put(api, {"shares": 11}, "?user_id=alice").status == 400
    assert put(api, {"shares": -1}, "?user_id=alice").status == 400
    assert put(api, {"shares": 11, "force": True}, "?user_id=alice").status == 200
    assert put(api, {"shares": 6}, "?user_id=alice")["quota_set"]["shares"] == 6
    assert put(api, {"shares": 3}, "?user_id=bob").status == 200
    assert show(api, "?user_id=alice")["quota_set"]["shares"] == 6
    assert show(api, "?user_id=carol")["quota_set"]["shares"] == 10
    assert show(api)["quota_set"]["shares"] == 10
    # The users' limits add up.
    assert put(api, {"shares": 8}).status == 400
    assert put(api, {"shares": 9}).status == 200
    assert put(api, {"shares": 8, "force": True}).status == 200
    book(program, {"shares": 2}, user="bob")
    assert put(api, {"shares": 1}, "?user_id=bob").status == 400
    assert put(api, {"shares": 2}, "?user_id=bob").status == 200
    # Without a limit in the project a user may have none either.
    assert put(api, {"shares": -1}).status == 200
    assert put(api, {"shares": -1}, "?user_id=alice").status == 200


def test_a_user_s_limit_holds(program, api):
    assert put(api, {"shares": 2}, "?user_id=alice").status == 200
    book(program, {"shares": 2}, user="alice")
    with pytest.raises(errors.OverQuota) as refused:
        book(program, {"shares": 1}, user="alice")
    assert (refused.value.facts["used"], refused.value.facts["limit"]) == (2, 2)
    book(program, {"shares": 3}, user="bob")
    assert detail(api, "?user_id=alice")["shares"] == {"limit": 2, "in_use": 2, "reserved": 0}
    assert detail(api, "?user_id=bob")["shares"] == {"limit": 50, "in_use": 3, "reserved": 0}
    assert detail(api)["shares"] == {"limit": 50, "in_use": 5, "reserved": 0}


def test_a_type_s_limit(program, api):
    id = program.share_type("gold").id
    for quota in NOT_OF_TYPES:
        assert put(api, {quota: 1}, f"?share_type={id}").status == 400
    answer = put(api, {"shares": 2, "gigabytes": 20}, "?share_type=gold")
    assert answer.status == 200
    expected = {k: v for k, v in DEFAULTS.items() if k not in NOT_OF_TYPES}
    assert answer["quota_set"] == {**expected, "shares": 2, "gigabytes": 20}
    shown = show(api, f"?share_type={id}", as_=MEMBER)["quota_set"]
    assert shown == {"id": PROJECT, **expected, "shares": 2, "gigabytes": 20}
    assert put(api, {"shares": 51}, "?share_type=gold").status == 400
    # What types may have says nothing of what the project must have.
    assert put(api, {"shares": 1}).status == 200
    assert put(api, {"shares": 50}).status == 200
    book(program, {"shares": 2}, type_id=id)
    with pytest.raises(errors.OverQuota):
        book(program, {"shares": 1}, type_id=id)
    book(program, {"shares": 1})
    assert detail(api, "?share_type=gold")["shares"] == {"limit": 2, "in_use": 2, "reserved": 0}
    assert put(api, {"shares": 1}, "?share_type=gold").status == 400
    assert NOT_OF_TYPES.isdisjoint(detail(api, "?share_type=gold"))


def test_detail(program, api):
    book(program, {"shares": 1, "gigabytes": 5})
    shown = detail(api, as_=MEMBER)
    assert shown.pop("id") == PROJECT
    assert {name: quota["limit"] for name, quota in shown.items()} == DEFAULTS
    in_use = {name: quota["in_use"] for name, quota in shown.items() if quota["in_use"]}
    assert in_use == {"shares": 1, "gigabytes": 5}


def test_unfinished_work_is_reserved(api):
    api.new_share(size=2, drain=False)
    for query in ("", "?user_id=alice", "?share_type=default"):
        shown = detail(api, query)
        assert shown["shares"] == {"limit": 50, "in_use": 0, "reserved": 1}
        assert shown["gigabytes"] == {"limit": 1000, "in_use": 0, "reserved": 2}
    # Nor may a limit go below what is reserved.
    assert put(api, {"shares": 0}).status == 400
    api.drain()
    for query in ("", "?user_id=alice", "?share_type=default"):
        shown = detail(api, query)
        assert shown["shares"] == {"limit": 50, "in_use": 1, "reserved": 0}
        assert shown["gigabytes"] == {"limit": 1000, "in_use": 2, "reserved": 0}


def test_a_limit_stops_shares(api):
    assert put(api, {"shares": 1, "gigabytes": 5}).status == 200
    first = api.new_share(size=2)
    body = {"share": {"share_proto": "NFS", "size": 1, "share_type": "default"}}
    answer = api.post("/shares", body)
    assert (answer.status, answer.headers["Retry-After"]) == (413, "0")
    assert "ShareLimitExceeded" in answer["overLimit"]["message"]
    assert put(api, {"shares": 2}).status == 200
    body["share"]["size"] = 4
    answer = api.post("/shares", body)
    assert answer.status == 413
    assert "exceed" in answer["overLimit"]["message"]
    assert put(api, {"per_share_gigabytes": 1}).status == 200
    body["share"]["size"] = 2
    assert api.post("/shares", body).status == 413
    assert api.delete(f"/shares/{first}").status == 202
    api.drain()
    assert detail(api)["shares"] == {"limit": 2, "in_use": 0, "reserved": 0}


# -- delete --------------------------------------------------------------------------------------


def test_delete(program, api):
    program.share_type("gold")
    queries = ("", "?user_id=alice", "?share_type=gold")
    for query in queries:
        assert put(api, {"shares": 5}, query).status == 200

    def limits():
        return [show(api, query)["quota_set"]["shares"] for query in queries]

    assert limits() == [5, 5, 5]
    assert put(api, {"shares": 9}).status == 200
    assert api.delete(f"/quota-sets/{PROJECT}?user_id=alice", as_=ADMIN).status == 202
    assert limits() == [9, 9, 5]
    assert put(api, {"shares": 4}, "?user_id=alice").status == 200
    answer = api.delete(f"/quota-sets/{PROJECT}", as_=ADMIN)
    assert (answer.status, answer.body) == (202, None)
    assert limits() == [50, 50, 50]
    assert api.delete(f"/quota-sets/{PROJECT}", as_=ADMIN).status == 202
    path = f"/quota-sets/{PROJECT}?share_type=gold"
    assert api.delete(path, as_=ADMIN, version="2.38").status == 400


def test_usage_outlives_its_limits(program, api):
    book(program, {"shares": 2})
    assert put(api, {"shares": 5}).status == 200
    assert api.delete(f"/quota-sets/{PROJECT}", as_=ADMIN).status == 202
    assert detail(api)["shares"] == {"limit": 50, "in_use": 2, "reserved": 0}


# -- classes -------------------------------------------------------------------------------------


def put_class(api, limits, name="default", **kw):
    path = f"/quota-class-sets/{name}"
    return api.put(path, {"quota_class_set": limits}, **{"as_": ADMIN, **kw})


def test_class_limits_are_everybody_s_defaults(program, api):
    path = "/quota-class-sets/default"
    assert api.get(path, as_=ADMIN).body == {"quota_class_set": {"id": "default", **DEFAULTS}}
    answer = put_class(api, {"shares": 2, "unknown": 3})
    assert (answer.status, answer.body) == (200, {"quota_class_set": {**DEFAULTS, "shares": 2}})
    assert api.get(path, as_=ADMIN)["quota_class_set"]["shares"] == 2
    assert show(api)["quota_set"]["shares"] == 2
    assert show(api, "/defaults")["quota_set"]["shares"] == 2
    assert show(api, "?user_id=alice")["quota_set"]["shares"] == 2
    book(program, {"shares": 2})
    with pytest.raises(errors.OverQuota):
        book(program, {"shares": 1})
    assert put(api, {"shares": 3}).status == 200
    book(program, {"shares": 1})


def test_other_classes(api):
    path = "/quota-class-sets/gold"
    assert api.get(path, as_=ADMIN).body == {"quota_class_set": {"id": "gold", **DEFAULTS}}
    assert put_class(api, {"shares": 2}, "gold").status == 200
    assert api.get(path, as_=ADMIN)["quota_class_set"]["shares"] == 2
    assert show(api)["quota_set"]["shares"] == 50
    assert put_class(api, {}, "gold")["quota_class_set"]["shares"] == 2


def test_classes_are_the_administrators(api):
    for name in ("default", "gold"):
        assert api.get(f"/quota-class-sets/{name}", as_=MEMBER).status == 403
        assert put_class(api, {"shares": 1}, name, as_=MEMBER).status == 403


@pytest.mark.parametrize("value", ["x", None, 1.5, [], MOST + 1, -2])
def test_classes_refuse(api, value):
    assert put_class(api, {"shares": value}).status == 400
    assert show(api)["quota_set"]["shares"] == 50


def test_a_class_needs_its_wrapper(api):
    for body in ({}, {"quota_class_set": None}, None):
        assert api.put("/quota-class-sets/default", body, as_=ADMIN).status == 400


def test_class_quotas_by_version(api):
    # Of groups a limit is taken at every version, and shown from theirs on.
    answer = put_class(api, {"share_groups": 3, "backups": 3}, version="2.39")
    assert answer.status == 200
    assert "share_groups" not in answer["quota_class_set"]
    shown = api.get("/quota-class-sets/default", as_=ADMIN)["quota_class_set"]
    assert (shown["share_groups"], shown["backups"]) == (3, DEFAULTS["backups"])


def test_names_that_no_column_holds(api):
    long = "x" * 250
    assert put_class(api, {"shares": 1}, long).status == 400
    assert put(api, {"shares": 1}, f"?user_id={long}").status == 400
    assert put(api, {"shares": 1}, project="a" * 250).status == 400
    # On MariaDB texts that differ in blanks at the end are one.
    assert put(api, {"shares": 1}, "?user_id=alice%20").status == 400
    assert show(api, project="class:default").status == 400
