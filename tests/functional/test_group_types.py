"""Share group types over HTTP: what they hold, who sees them, and their specs."""

from __future__ import annotations

import pytest
from inprocess import (
    ADMIN,
    ADMIN_PROJECT,
    LATEST,
    MEMBER,
    NOBODY,
    OTHER_PROJECT,
    PROJECT,
    READER,
    STRANGER,
)
from share_types import made

ROOT = "/share-group-types"
EXPERIMENTAL = {"X-OpenStack-Manila-API-Experimental": "true"}
GIVE = {"addProjectAccess": {"project": PROJECT}}
TAKE = {"removeProjectAccess": {"project": PROJECT}}


def make(api, name="many", **body):
    body = {"name": name, "share_types": ["default"], **body}
    return api.post(ROOT, {"share_group_type": body}, as_=ADMIN)


def path(api, name="many", **body):
    """The path of a new group type."""
    answer = make(api, name, **body)
    assert answer.status == 200, answer.body
    return f"{ROOT}/{answer['share_group_type']['id']}"


def names(answer):
    assert answer.status == 200, answer.body
    return {found["name"] for found in answer["share_group_types"]}


@pytest.fixture
def told(program):
    """What is announced to whoever listens."""
    return program.listen()


# -- create, show, list, delete ----------------------------------------------------------------


def test_create_and_show(api):
    gold = made(api)
    answer = make(api, share_types=["gold", gold], group_specs={"a:b": "c"}, is_public="no")
    found = answer["share_group_type"]
    assert found == {
        "id": found["id"],
        "name": "many",
        "is_public": False,
        "group_specs": {"a:b": "c"},
        "share_types": [gold],
        "is_default": False,
    }
    assert api.get(f"{ROOT}/{found['id']}", as_=ADMIN).body == answer.body
    assert api.get(f"{ROOT}?is_public=all", as_=ADMIN)["share_group_types"] == [found]


def test_share_types_by_id_and_name(api):
    gold, silver = made(api), made(api, "silver")
    shown = api.get(path(api, share_types=[silver, "gold"]))["share_group_type"]
    assert shown["share_types"] == sorted([gold, silver])
    assert (shown["group_specs"], shown["is_public"]) == ({}, True)
    bare = api.get(path(api, "bare", group_specs=None))["share_group_type"]
    assert bare["group_specs"] == {}


@pytest.mark.parametrize(
    ("version", "headers", "status"),
    [
        ("2.30", EXPERIMENTAL, 404),
        ("2.31", {}, 404),
        ("2.31", EXPERIMENTAL, 200),
        ("2.54", {}, 404),
        ("2.54", EXPERIMENTAL, 200),
        ("2.55", {}, 200),
    ],
)
def test_an_experiment_until_2_55(api, version, headers, status):
    one = path(api, group_specs={"k": "v"}, is_public=False)
    for place in (ROOT, one, f"{one}/access", f"{one}/group-specs", f"{one}/group-specs/k"):
        answer = api.get(place, as_=ADMIN, version=version, headers=headers)
        assert answer.status == status, (place, answer.body)
    shown = api.get(one, as_=ADMIN, version=version, headers=headers)
    assert (shown.status == 200 and "is_default" in shown["share_group_type"]) is (
        status == 200 and version != "2.31"
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": ""}, 400),
        ({"name": None}, 400),
        ({"name": "x" * 256}, 400),
        ({"share_types": []}, 400),
        ({"share_types": None}, 400),
        ({"share_types": "default"}, 400),
        ({"share_types": [1]}, 400),
        ({"share_types": ["default", "absent"]}, 404),
        ({"share_types": [NOBODY]}, 404),
        ({"group_specs": "text"}, 400),
        ({"group_specs": {"k": 1}}, 400),
        ({"group_specs": {"k": ""}}, 400),
        ({"group_specs": {"k": "x" * 256}}, 400),
        ({"group_specs": {"": "x"}}, 400),
        ({"is_public": "perhaps"}, 400),
    ],
)
def test_create_refuses(api, body, status):
    assert make(api, **body).status == status
    assert names(api.get(f"{ROOT}?is_public=all", as_=ADMIN)) == set()


def test_create_needs_wrapper_name_and_share_types(api):
    for body in (None, {}, {"share_group_type": []}, {"group_type": {}}):
        assert api.post(ROOT, body, as_=ADMIN).status == 400
    for body in ({"name": "x"}, {"share_types": ["default"]}):
        assert api.post(ROOT, {"share_group_type": body}, as_=ADMIN).status == 400


def test_a_name_is_taken_once(api):
    one = path(api)
    assert make(api).status == 409
    assert api.delete(one, as_=ADMIN).status == 204
    assert make(api).status == 200


def test_delete(api):
    one = path(api, group_specs={"k": "v"}, is_public=False)
    api.post(f"{one}/action", GIVE, as_=ADMIN)
    answer = api.delete(one, as_=ADMIN)
    assert (answer.status, answer.body) == (204, None)
    assert api.get(one, as_=ADMIN).status == 404
    assert api.delete(one, as_=ADMIN).status == 404
    again = path(api, is_public=False)
    assert api.get(f"{again}/access", as_=ADMIN)["share_group_type_access"] == []
    assert api.get(f"{again}/group-specs", as_=ADMIN)["group_specs"] == {}


def test_a_share_type_that_a_group_type_names_stays(api):
    gold = made(api)
    one = path(api, share_types=["default", gold])
    answer = api.delete(f"/types/{gold}", as_=ADMIN)
    assert (answer.status, "badRequest" in answer.body) == (400, True)
    assert gold in api.get(one)["share_group_type"]["share_types"]
    assert api.delete(one, as_=ADMIN).status == 204
    assert api.delete(f"/types/{gold}", as_=ADMIN).status == 202


def test_only_administrators_keep_them(api):
    one = path(api, group_specs={"k": "v"})
    body = {"share_group_type": {"name": "x", "share_types": ["default"]}}
    for token in (MEMBER, READER):
        assert api.get(one, as_=token)["share_group_type"]["group_specs"] == {"k": "v"}
        assert names(api.get(ROOT, as_=token)) == {"many"}
        assert api.post(ROOT, body, as_=token).status == 403
        assert api.delete(one, as_=token).status == 403
        assert api.get(f"{one}/access", as_=token).status == 403
        assert api.get(f"{one}/group-specs", as_=token).status == 403
        assert api.post(f"{one}/group-specs", {"group_specs": {}}, as_=token).status == 403
        assert api.get(f"{one}/group-specs/k", as_=token).status == 403
        assert api.put(f"{one}/group-specs/k", {"k": "v"}, as_=token).status == 403
        assert api.delete(f"{one}/group-specs/k", as_=token).status == 403
        assert api.post(f"{one}/action", GIVE, as_=token).status == 403
        assert api.post(f"{one}/action", TAKE, as_=token).status == 403


def test_default(program, api):
    assert api.get(f"{ROOT}/default").status == 404
    program.conf.set_override("default_share_group_type", "many")
    assert api.get(f"{ROOT}/default").status == 404
    one = path(api)
    path(api, "few")
    found = api.get(f"{ROOT}/default")["share_group_type"]
    assert (f"{ROOT}/{found['id']}", found["is_default"]) == (one, True)
    listed = api.get(ROOT)["share_group_types"]
    assert {row["name"]: row["is_default"] for row in listed} == {"many": True, "few": False}


# -- lists and access --------------------------------------------------------------------------


def test_administrators_choose_by_openness(api):
    path(api)
    path(api, "secret", is_public=False)
    own = path(api, "own", is_public=False)
    give = {"addProjectAccess": {"project": ADMIN_PROJECT}}
    assert api.post(f"{own}/action", give, as_=ADMIN).status == 202

    def listed(query, as_=ADMIN):
        return names(api.get(f"{ROOT}{query}", as_=as_))

    assert listed("") == listed("?is_public=true") == {"many", "own"}
    assert listed("?is_public=false") == {"secret", "own"}
    assert listed("?is_public=all") == {"many", "secret", "own"}
    assert listed("?is_public=all", MEMBER) == listed("?is_public=false", MEMBER) == {"many"}
    assert api.get(f"{ROOT}?is_public=perhaps", as_=ADMIN).status == 400


def test_lists_by_specs(api):
    path(api, "both", group_specs={"a": "1", "b": "2"})
    path(api, "one", group_specs={"a": "1"})
    path(api, "none")

    def listed(specs, **kw):
        return api.get(f"{ROOT}?group_specs={specs}", **kw)

    assert names(listed("{'a':'1'}")) == {"both", "one"}
    assert names(listed("{'a':'1','b':'2'}")) == {"both"}
    assert names(listed("{'a':'2'}")) == set()
    assert names(listed("{}")) == {"both", "one", "none"}
    assert listed("nonsense").status == 400
    assert listed("{'a':'1'}", version="2.65").status == 400


def test_access(api):
    one = path(api, is_public=False)
    assert api.get(one, as_=MEMBER).status == 404
    answer = api.post(f"{one}/action", GIVE, as_=ADMIN)
    assert (answer.status, answer.body) == (202, None)
    assert api.post(f"{one}/action", GIVE, as_=ADMIN).status == 409
    assert api.get(one, as_=MEMBER)["share_group_type"]["is_public"] is False
    assert names(api.get(ROOT, as_=MEMBER)) == {"many"}
    assert api.get(one, as_=STRANGER).status == 404
    assert names(api.get(ROOT, as_=STRANGER)) == set()
    other = {"addProjectAccess": {"project": OTHER_PROJECT}}
    assert api.post(f"{one}/action", other, as_=ADMIN).status == 202
    id = one.rpartition("/")[2]
    given = [
        {"share_group_type_id": id, "project_id": p} for p in sorted([PROJECT, OTHER_PROJECT])
    ]
    assert api.get(f"{one}/access", as_=ADMIN)["share_group_type_access"] == given
    assert api.post(f"{one}/action", TAKE, as_=ADMIN).status == 202
    assert api.post(f"{one}/action", TAKE, as_=ADMIN).status == 404
    assert api.get(one, as_=MEMBER).status == 404


def test_access_refuses(api):
    private, public = path(api, "private", is_public=False), path(api)
    for body in (GIVE, TAKE):
        assert api.post(f"{public}/action", body, as_=ADMIN).status == 409
        assert api.post(f"{ROOT}/{NOBODY}/action", body, as_=ADMIN).status == 404
        [action] = body
        for wrong in ({"project": "x"}, {"project": None}, {}, None, "x"):
            answer = api.post(f"{private}/action", {action: wrong}, as_=ADMIN)
            assert answer.status == 400
    assert api.get(f"{public}/access", as_=ADMIN).status == 404
    assert api.get(f"{ROOT}/{NOBODY}/access", as_=ADMIN).status == 404


# -- specs -------------------------------------------------------------------------------------


def test_specs(api):
    specs = f"{path(api, group_specs={'k': 'v'})}/group-specs"
    given = {"a.b:c-d_e": "1", "flag": True}
    answer = api.post(specs, {"group_specs": given}, as_=ADMIN)
    assert (answer.status, answer.body) == (200, {"group_specs": given})
    kept = {"k": "v", "a.b:c-d_e": "1", "flag": "True"}
    assert api.get(specs, as_=ADMIN).body == {"group_specs": kept}
    assert api.get(f"{specs}/flag", as_=ADMIN).body == {"flag": "True"}
    answer = api.put(f"{specs}/flag", {"flag": "False"}, as_=ADMIN)
    assert (answer.status, answer.body) == (200, {"flag": "False"})
    answer = api.delete(f"{specs}/k", as_=ADMIN)
    assert (answer.status, answer.body) == (204, None)
    assert api.delete(f"{specs}/k", as_=ADMIN).status == 404
    assert api.get(f"{specs}/k", as_=ADMIN).status == 404
    assert api.get(specs, as_=ADMIN)["group_specs"] == {"a.b:c-d_e": "1", "flag": "False"}


@pytest.mark.parametrize(
    "given", [{"a b": "x"}, {"": "x"}, {"x" * 256: "x"}, {"k": ""}, {"k": "x" * 256}, {"k": 1}]
)
def test_specs_refuse(api, given):
    specs = f"{path(api)}/group-specs"
    assert api.post(specs, {"group_specs": {"fine": "x", **given}}, as_=ADMIN).status == 400
    assert api.post(specs, given, as_=ADMIN).status == 400
    assert api.get(specs, as_=ADMIN)["group_specs"] == {}
    [key] = given
    if key and " " not in key:
        assert api.put(f"{specs}/{key}", given, as_=ADMIN).status == 400


def test_one_spec_is_one(api):
    spec = f"{path(api)}/group-specs/k"
    for body in ({}, {"other": "x"}, {"k": "x", "other": "x"}, [], None):
        assert api.put(spec, body, as_=ADMIN).status == 400
    assert api.get(spec, as_=ADMIN).status == 404


def test_what_is_not_there(api):
    one = f"{ROOT}/{NOBODY}"
    specs = f"{one}/group-specs"
    for place in (one, f"{ROOT}/detail", specs, f"{specs}/k"):
        assert api.get(place, as_=ADMIN, version=LATEST).status == 404
    assert api.post(specs, {"group_specs": {"k": "v"}}, as_=ADMIN).status == 404
    assert api.put(f"{specs}/k", {"k": "v"}, as_=ADMIN).status == 404
    assert api.delete(f"{specs}/k", as_=ADMIN).status == 404


# -- announcements -----------------------------------------------------------------------------


def test_changes_are_announced(told, api):
    one = path(api, is_public=False)
    api.post(f"{one}/group-specs", {"group_specs": {"k": "v"}}, as_=ADMIN)
    api.put(f"{one}/group-specs/k", {"k": "w"}, as_=ADMIN)
    api.delete(f"{one}/group-specs/k", as_=ADMIN)
    api.post(f"{one}/action", GIVE, as_=ADMIN)
    api.post(f"{one}/action", TAKE, as_=ADMIN)
    api.delete(one, as_=ADMIN)
    assert [(notice.event, notice.publisher) for notice in told] == [
        ("share_group_type.create", "shareGroupType.node"),
        ("share_group_type_specs.create", "shareGroupTypeSpecs.node"),
        ("share_group_type_specs.update", "shareGroupTypeSpecs.node"),
        ("share_group_type_specs.delete", "shareGroupTypeSpecs.node"),
        ("share_group_type_access.add", "api.node"),
        ("share_group_type_access.remove", "api.node"),
        ("share_group_type.delete", "shareGroupType.node"),
    ]
    assert {notice.priority for notice in told} == {"info"}


def test_refusals_are_announced(told, api):
    one = path(api)
    assert make(api).status == 409
    assert api.delete(f"{one}/group-specs/absent", as_=ADMIN).status == 404
    assert api.delete(f"{ROOT}/{NOBODY}", as_=ADMIN).status == 404
    assert [(notice.event, notice.priority) for notice in told[1:]] == [
        ("share_group_type.create", "error"),
        ("share_group_type_specs.delete", "error"),
        ("share_group_type.delete", "error"),
    ]
