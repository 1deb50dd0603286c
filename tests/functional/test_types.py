"""Share types over HTTP: what administrators keep, and what tenants see of it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, ADMIN_PROJECT, LATEST, MEMBER, OTHER_PROJECT, PROJECT, STRANGER

from fileshare.db import models
from fileshare.domain.quotas import type_scope
from fileshare.domain.statuses import Status

NOBODY = "ffffffff-ffff-4fff-8fff-ffffffffffff"
SPECS = {"driver_handles_share_servers": "False"}
IS_PUBLIC = "share_type_access:is_public"
IS_PUBLIC_ONCE = "os-share-type-access:is_public"


@pytest.fixture
def told(program):
    """What is announced to whoever listens."""
    return program.listen()


def make(api, name="gold", version=LATEST, **body):
    body = {"name": name, "extra_specs": SPECS, **body}
    return api.post("/types", {"share_type": body}, as_=ADMIN, version=version)


def made(api, name="gold", **body):
    answer = make(api, name, **body)
    assert answer.status == 200, answer.body
    return answer["share_type"]["id"]


def names(answer):
    assert answer.status == 200, answer.body
    assert answer["share_types"] == answer["volume_types"]
    return {found["name"] for found in answer["share_types"]}


def a_share_of(program, type_id, **values):
    """A share that no back end knows of."""
    id = models.new_id()
    row = {"id": id, "project_id": PROJECT, "size": 1, "share_proto": "NFS", **values}
    program.sessions.run(
        lambda session: session.execute(
            sa.insert(models.Share).values(
                status=Status.AVAILABLE, share_type_id=type_id, is_charged=False, **row
            )
        )
    )
    return id


# -- create and show ---------------------------------------------------------------------------


def test_create_and_show(api):
    answer = make(api, description="fast", extra_specs={**SPECS, "qos": True})
    found = answer["share_type"]
    assert answer.status == 200
    assert found == {
        "id": found["id"],
        "name": "gold",
        "extra_specs": {**SPECS, "qos": "True"},
        "required_extra_specs": SPECS,
        "description": "fast",
        "is_default": False,
        IS_PUBLIC: True,
    }
    assert answer["volume_type"] == found
    assert api.get(f"/types/{found['id']}", as_=ADMIN).body == answer.body


@pytest.mark.parametrize(
    ("version", "absent", "present"),
    [
        ("2.6", {"description", "is_default", IS_PUBLIC}, {IS_PUBLIC_ONCE}),
        ("2.7", {"description", "is_default", IS_PUBLIC_ONCE}, {IS_PUBLIC}),
        ("2.41", {"is_default", IS_PUBLIC_ONCE}, {"description", IS_PUBLIC}),
        ("2.46", {IS_PUBLIC_ONCE}, {"description", "is_default", IS_PUBLIC}),
    ],
)
def test_fields_by_version(api, version, absent, present):
    id = made(api)
    keys = set(api.get(f"/types/{id}", as_=ADMIN, version=version)["share_type"])
    assert present <= keys
    assert not absent & keys


@pytest.mark.parametrize(("version", "set_"), [("2.23", True), ("2.24", False)])
def test_snapshot_support_is_set_for_old_clients(api, version, set_):
    specs = make(api, version=version)["share_type"]["extra_specs"]
    assert specs == ({**SPECS, "snapshot_support": "True"} if set_ else SPECS)
    given = {**SPECS, "snapshot_support": "False"}
    found = make(api, "silver", version=version, extra_specs=given)
    assert found["share_type"]["extra_specs"] == given


def test_volume_type_is_taken_for_share_type(api):
    body = {"volume_type": {"name": "old", "extra_specs": SPECS, IS_PUBLIC_ONCE: False}}
    answer = api.post("/types", body, as_=ADMIN, version="2.0")
    assert answer.status == 200
    assert answer["share_type"][IS_PUBLIC_ONCE] is False
    body = {"volume_type": {"name": "older"}}
    path = f"/types/{answer['share_type']['id']}"
    assert api.put(path, body, as_=ADMIN)["volume_type"]["name"] == "older"


def test_the_older_name_of_the_flag_counts_at_every_version(api):
    answer = make(api, **{IS_PUBLIC_ONCE: "no"})
    assert answer["share_type"][IS_PUBLIC] is False
    answer = make(api, "silver", **{IS_PUBLIC_ONCE: True, IS_PUBLIC: False})
    assert answer["share_type"][IS_PUBLIC] is True


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": "x" * 256},
        {"name": None},
        {"name": ["x"]},
        {"description": "x" * 256},
        {"extra_specs": {}},
        {"extra_specs": {"driver_handles_share_servers": "perhaps"}},
        {"extra_specs": {"driver_handles_share_servers": "<is> True"}},
        {"extra_specs": {**SPECS, "snapshot_support": "perhaps"}},
        {"extra_specs": {**SPECS, "create_share_from_snapshot_support": "x"}},
        {"extra_specs": {**SPECS, "replication_type": "sometimes"}},
        {"extra_specs": {**SPECS, "provisioning:max_share_size": "0"}},
        {"extra_specs": {**SPECS, "provisioning:min_share_size": "much"}},
        {"extra_specs": {**SPECS, "provisioning:max_share_extend_size": "-1"}},
        {
            "extra_specs": {
                **SPECS,
                "provisioning:min_share_size": "9",
                "provisioning:max_share_size": "8",
            }
        },
        {"extra_specs": {**SPECS, "availability_zones": "a,,b"}},
        {"extra_specs": {**SPECS, "k": ""}},
        {"extra_specs": {**SPECS, "k": "x" * 256}},
        {"extra_specs": {**SPECS, "k": {"nested": "x"}}},
        {"extra_specs": {**SPECS, "": "x"}},
        {"extra_specs": "text"},
        {IS_PUBLIC: "perhaps"},
    ],
)
def test_create_refuses(api, body):
    answer = make(api, **body)
    assert (answer.status, "badRequest" in answer.body) == (400, True)
    assert names(api.get("/types?is_public=all", as_=ADMIN)) == {"default"}


def test_create_needs_wrapper_name_and_specs(api):
    for body in ({"type": {}}, {"share_type": []}, {"share_type": {"name": "x"}}, None):
        assert api.post("/types", body, as_=ADMIN).status == 400
    assert api.post("/types", {"share_type": {"extra_specs": SPECS}}, as_=ADMIN).status == 400


def test_description_before_its_version(api):
    assert make(api, version="2.40", description="x").status == 400
    assert make(api, version="2.41", description="x").status == 200


def test_names_are_taken_once(api):
    made(api)
    answer = make(api)
    assert (answer.status, "conflictingRequest" in answer.body) == (409, True)


def test_zones_are_kept_without_blanks(api):
    specs = {**SPECS, "availability_zones": " a , b"}
    assert make(api, extra_specs=specs)["share_type"]["extra_specs"]["availability_zones"] == "a,b"


def test_only_administrators_keep_types(api):
    id = made(api)
    body = {"share_type": {"name": "x", "extra_specs": SPECS}}
    assert api.post("/types", body, as_=MEMBER).status == 403
    assert api.put(f"/types/{id}", {"share_type": {"name": "x"}}, as_=MEMBER).status == 403
    assert api.delete(f"/types/{id}", as_=MEMBER).status == 403
    assert api.get(f"/types/{id}/share_type_access", as_=MEMBER).status == 403
    for path in (f"/types/{id}/extra_specs", f"/types/{id}/extra_specs/k"):
        assert api.get(path, as_=MEMBER).status == 403
    assert api.post(f"/types/{id}/extra_specs", {"extra_specs": {}}, as_=MEMBER).status == 403
    assert api.put(f"/types/{id}/extra_specs/k", {"k": "v"}, as_=MEMBER).status == 403
    assert api.delete(f"/types/{id}/extra_specs/k", as_=MEMBER).status == 403
    for action in ("addProjectAccess", "removeProjectAccess"):
        body = {action: {"project": PROJECT}}
        assert api.post(f"/types/{id}/action", body, as_=MEMBER).status == 403


def test_unknown_types(api):
    assert api.get(f"/types/{NOBODY}", as_=ADMIN).status == 404
    assert api.get("/types/default").status == 404  # no type is configured as the default
    assert api.put(f"/types/{NOBODY}", {"share_type": {"name": "x"}}, as_=ADMIN).status == 404
    assert api.delete(f"/types/{NOBODY}", as_=ADMIN).status == 404
    assert api.get("/types/detail", as_=ADMIN).status == 404


# -- what tenants see ---------------------------------------------------------------------------

SECRETS = {
    **SPECS,
    "share_backend_name": "ALPHA",
    "capabilities:secret": "<is> True",
    "snapshot_support": "True",
    "mount_point_name_support": "<is> False",
    "availability_zones": "a,b",
    "replication_type": "dr",
    "provisioning:max_share_size": "10",
}
SHOWN = {
    key: value
    for key, value in SECRETS.items()
    if key not in {"share_backend_name", "capabilities:secret"}
}


@pytest.mark.parametrize(
    ("version", "unset"),
    [
        ("2.23", set()),
        (
            "2.24",
            {
                "create_share_from_snapshot_support",
                "revert_to_snapshot_support",
                "mount_snapshot_support",
            },
        ),
        (
            "2.99",
            {
                "create_share_from_snapshot_support",
                "revert_to_snapshot_support",
                "mount_snapshot_support",
                "snapshot_inherit_share_access_support",
            },
        ),
    ],
)
def test_tenants_see_what_is_theirs_to_know(api, version, unset):
    id = made(api, extra_specs=SECRETS)
    found = api.get(f"/types/{id}", version=version)["share_type"]
    assert found["extra_specs"] == SHOWN | dict.fromkeys(unset, False)
    assert found["required_extra_specs"] == SPECS
    [listed] = [t for t in api.get("/types", version=version)["share_types"] if t["id"] == id]
    assert listed == found
    assert api.get(f"/types/{id}", as_=ADMIN)["share_type"]["extra_specs"] == SECRETS


def test_private_types_are_hidden(api):
    id = made(api, **{IS_PUBLIC: False})
    assert api.get(f"/types/{id}", as_=MEMBER).status == 404
    assert names(api.get("/types", as_=MEMBER)) == {"default"}
    give = {"addProjectAccess": {"project": PROJECT}}
    answer = api.post(f"/types/{id}/action", give, as_=ADMIN)
    assert (answer.status, answer.body) == (202, None)
    assert api.get(f"/types/{id}", as_=MEMBER)["share_type"][IS_PUBLIC] is False
    assert names(api.get("/types", as_=MEMBER)) == {"default", "gold"}
    assert names(api.get("/types", as_=STRANGER)) == {"default"}
    take = {"removeProjectAccess": {"project": PROJECT}}
    assert api.post(f"/types/{id}/action", take, as_=ADMIN).status == 202
    assert api.get(f"/types/{id}", as_=MEMBER).status == 404


def test_administrators_choose_by_openness(api):
    made(api, "secret", **{IS_PUBLIC: False})
    own = made(api, "own", **{IS_PUBLIC: False})
    give = {"addProjectAccess": {"project": ADMIN_PROJECT}}
    assert api.post(f"/types/{own}/action", give, as_=ADMIN).status == 202

    def listed(query, as_=ADMIN):
        return names(api.get(f"/types{query}", as_=as_))

    assert listed("") == listed("?is_public=True") == {"default", "own"}
    assert listed("?is_public=false") == {"secret", "own"}
    assert listed("?is_public=ALL") == {"default", "secret", "own"}
    assert listed("?is_public=all", MEMBER) == listed("?is_public=false", MEMBER) == {"default"}
    assert api.get("/types?is_public=perhaps", as_=ADMIN).status == 400
    assert api.get("/types?is_public=perhaps", as_=MEMBER).status == 200


def test_types_by_specs(api):
    made(api, "here", extra_specs={**SPECS, "availability_zones": "a,b", "x": "1"})
    made(api, "there", extra_specs={**SPECS, "availability_zones": "c", "x": "1"})

    def listed(specs, **kw):
        return api.get(f"/types?extra_specs={specs}", **kw)

    assert names(listed("{'x':'1'}")) == {"here", "there"}
    assert names(listed("{'x':'1','y':'2'}")) == set()
    # A type that is kept to no zones has them all.
    assert names(listed("{'availability_zones':'b,a'}")) == {"here", "default"}
    assert names(listed("{'availability_zones':'a,c'}")) == {"default"}
    assert names(listed("{'driver_handles_share_servers':False}")) == {"here", "there", "default"}
    assert listed("nonsense").status == 400
    assert listed("['x']").status == 400
    assert listed("{'x':'1'}", version="2.42").status == 400


def test_default(program, api):
    program.conf.set_override("default_share_type", "gold")
    assert api.get("/types/default").status == 404
    id = made(api)
    found = api.get("/types/default")["share_type"]
    assert (found["id"], found["is_default"]) == (id, True)
    assert api.get(f"/types/{id}")["share_type"]["is_default"] is True
    assert [t["name"] for t in api.get("/types")["share_types"] if t["is_default"]] == ["gold"]
    api.put(f"/types/{id}", {"share_type": {IS_PUBLIC: False}}, as_=ADMIN)
    assert api.get("/types/default").status == 404
    assert api.get("/types/default", as_=ADMIN).status == 200


# -- update -------------------------------------------------------------------------------------


def test_update(api):
    id = made(api, description="old")
    body = {"name": "n2", IS_PUBLIC: False, "description": "d"}
    answer = api.put(f"/types/{id}", {"share_type": body}, as_=ADMIN)
    assert answer.status == 200
    assert answer["share_type"] == answer["volume_type"]
    for key, value in body.items():
        assert answer["share_type"][key] == value
    assert answer["share_type"]["extra_specs"] == SPECS
    answer = api.put(f"/types/{id}", {"share_type": {"description": ""}}, as_=ADMIN)
    assert answer["share_type"]["description"] is None
    assert answer["share_type"]["name"] == "n2"
    answer = api.put(f"/types/{id}", {"share_type": {"name": "n2"}}, as_=ADMIN)
    assert answer.status == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": None},
        {"name": "  "},
        {"name": ""},
        {"name": "x" * 256},
        {"description": "x" * 256},
        {IS_PUBLIC: "perhaps"},
        {"unknown": 1},
    ],
)
def test_update_refuses(api, body):
    id = made(api)
    before = api.get(f"/types/{id}", as_=ADMIN).body
    assert api.put(f"/types/{id}", {"share_type": body}, as_=ADMIN).status == 400
    assert api.get(f"/types/{id}", as_=ADMIN).body == before


def test_update_does_not_take_another_name(api):
    id = made(api)
    answer = api.put(f"/types/{id}", {"share_type": {"name": "default"}}, as_=ADMIN)
    assert answer.status == 409
    assert api.put(f"/types/{id}", {"type": {"name": "x"}}, as_=ADMIN).status == 400
    old = api.put(f"/types/{id}", {"share_type": {"name": "x"}}, as_=ADMIN, version="2.49")
    assert old.status == 404


# -- access -------------------------------------------------------------------------------------


def test_access_list(api):
    id = made(api, **{IS_PUBLIC: False})
    for project in (OTHER_PROJECT, PROJECT.replace("-", "")):
        give = {"addProjectAccess": {"project": project}}
        assert api.post(f"/types/{id}/action", give, as_=ADMIN).status == 202
        assert api.post(f"/types/{id}/action", give, as_=ADMIN).status == 409
    for path in ("share_type_access", "os-share-type-access"):
        for version in ("2.0", "2.6", LATEST):
            answer = api.get(f"/types/{id}/{path}", as_=ADMIN, version=version)
            assert answer["share_type_access"] == [
                {"share_type_id": id, "project_id": PROJECT.replace("-", "")},
                {"share_type_id": id, "project_id": OTHER_PROJECT},
            ]


def test_access_refuses(api):
    private = made(api, **{IS_PUBLIC: False})
    public = made(api, "public")
    for action, absent in (("addProjectAccess", 202), ("removeProjectAccess", 404)):
        body = {action: {"project": PROJECT}}
        assert api.post(f"/types/{private}/action", body, as_=ADMIN).status == absent
        assert api.post(f"/types/{public}/action", body, as_=ADMIN).status == 409
        assert api.post(f"/types/{NOBODY}/action", body, as_=ADMIN).status == 404
        for wrong in ({"project": "x"}, {"project": None}, {}, None, "x"):
            answer = api.post(f"/types/{private}/action", {action: wrong}, as_=ADMIN)
            assert answer.status == 400
        api.post(
            f"/types/{private}/action", {"removeProjectAccess": {"project": PROJECT}}, as_=ADMIN
        )
    assert api.get(f"/types/{public}/share_type_access", as_=ADMIN).status == 404
    assert api.get(f"/types/{NOBODY}/share_type_access", as_=ADMIN).status == 404


# -- extra specs --------------------------------------------------------------------------------


def test_extra_specs(api):
    id = made(api)
    path = f"/types/{id}/extra_specs"
    given = {"a.b:c-d_e": "1", "flag": True, "availability_zones": "x, y"}
    answer = api.post(path, {"extra_specs": given}, as_=ADMIN)
    assert (answer.status, answer.body) == (200, {"extra_specs": given})
    kept = {**SPECS, "a.b:c-d_e": "1", "flag": "True", "availability_zones": "x,y"}
    assert api.get(path, as_=ADMIN).body == {"extra_specs": kept}
    assert api.get(f"{path}/flag", as_=ADMIN).body == {"flag": "True"}
    answer = api.put(f"{path}/flag", {"flag": "False"}, as_=ADMIN)
    assert (answer.status, answer.body) == (200, {"flag": "False"})
    assert api.delete(f"{path}/a.b:c-d_e", as_=ADMIN).status == 202
    assert api.delete(f"{path}/a.b:c-d_e", as_=ADMIN).status == 404
    del kept["a.b:c-d_e"]
    assert api.get(path, as_=ADMIN)["extra_specs"] == {**kept, "flag": "False"}


@pytest.mark.parametrize(
    "given",
    [
        {"a b": "x"},
        {"": "x"},
        {"x" * 256: "x"},
        {"k": ""},
        {"k": "x" * 256},
        {"k": 1},
        {"k": {"a": "b"}},
        {"driver_handles_share_servers": "x"},
        {"snapshot_support": "x"},
        {"provisioning:min_share_size": "x"},
    ],
)
def test_extra_specs_refuse(api, given):
    id = made(api)
    path = f"/types/{id}/extra_specs"
    assert api.post(path, {"extra_specs": {"fine": "x", **given}}, as_=ADMIN).status == 400
    assert api.get(path, as_=ADMIN)["extra_specs"] == SPECS
    [key] = given
    if key and " " not in key:
        assert api.put(f"{path}/{key}", given, as_=ADMIN).status == 400


def test_sizes_that_no_share_could_have(api):
    id = made(api)
    path = f"/types/{id}/extra_specs"
    assert api.put(f"{path}/provisioning:min_share_size", {"provisioning:min_share_size": "5"}, as_=ADMIN).status == 200  # fmt: skip
    assert api.put(f"{path}/provisioning:max_share_size", {"provisioning:max_share_size": "4"}, as_=ADMIN).status == 400  # fmt: skip
    assert "provisioning:max_share_size" not in api.get(path, as_=ADMIN)["extra_specs"]


def test_one_extra_spec_is_one(api):
    path = f"/types/{made(api)}/extra_specs/k"
    for body in ({}, {"other": "x"}, {"k": "x", "other": "x"}, [], None):
        assert api.put(path, body, as_=ADMIN).status == 400
    assert api.get(path, as_=ADMIN).status == 404


def test_extra_specs_of_no_type(api):
    path = f"/types/{NOBODY}/extra_specs"
    assert api.get(path, as_=ADMIN).status == 404
    assert api.get(f"{path}/k", as_=ADMIN).status == 404
    assert api.post(path, {"extra_specs": {"k": "v"}}, as_=ADMIN).status == 404
    assert api.put(f"{path}/k", {"k": "v"}, as_=ADMIN).status == 404
    assert api.delete(f"{path}/k", as_=ADMIN).status == 404
    assert api.post(path, {"specs": {}}, as_=ADMIN).status == 400


def test_specs_that_stay(api):
    path = f"/types/{made(api, extra_specs={**SPECS, 'snapshot_support': 'True'})}/extra_specs"
    for version in ("2.23", LATEST):
        answer = api.delete(f"{path}/driver_handles_share_servers", as_=ADMIN, version=version)
        assert (answer.status, "forbidden" in answer.body) == (403, True)
    assert api.delete(f"{path}/snapshot_support", as_=ADMIN, version="2.23").status == 403
    assert api.delete(f"{path}/snapshot_support", as_=ADMIN, version="2.24").status == 202


# -- delete -------------------------------------------------------------------------------------


def test_delete(api):
    id = made(api)
    answer = api.delete(f"/types/{id}", as_=ADMIN)
    assert (answer.status, answer.body) == (202, None)
    assert api.get(f"/types/{id}", as_=ADMIN).status == 404
    assert api.get(f"/types/{id}/extra_specs", as_=ADMIN).status == 404


def test_a_type_in_use_stays(program, api):
    id = made(api)
    share_id = a_share_of(program, id)
    answer = api.delete(f"/types/{id}", as_=ADMIN)
    assert (answer.status, "badRequest" in answer.body) == (400, True)
    gone = sa.update(models.Share).where(models.Share.id == share_id)
    program.sessions.run(
        lambda session: session.execute(gone.values(deleted_at=models.Share.created_at))
    )
    assert api.delete(f"/types/{id}", as_=ADMIN).status == 202


def test_a_type_that_a_replica_uses_stays(program, api):
    id = made(api)
    share_id = a_share_of(program, made(api, "silver"))
    row = {"share_id": share_id, "status": Status.AVAILABLE, "share_type_id": id}
    program.sessions.run(
        lambda session: session.execute(
            sa.insert(models.ShareInstance).values(id=models.new_id(), **row)
        )
    )
    assert api.delete(f"/types/{id}", as_=ADMIN).status == 400


def test_nothing_of_a_type_remains(program, api):
    id = made(api, **{IS_PUBLIC: False})
    give = {"addProjectAccess": {"project": PROJECT}}
    assert api.post(f"/types/{id}/action", give, as_=ADMIN).status == 202
    path = f"/quota-sets/{PROJECT}?share_type={id}"
    body = {"quota_set": {"shares": 3}}
    assert api.put(path, body, as_=ADMIN).status == 200
    assert api.delete(f"/types/{id}", as_=ADMIN).status == 202
    for model in (models.QuotaLimit, models.QuotaUsage):
        rows = sa.select(model.scope).where(model.scope == type_scope(id))
        assert program.sessions.run(lambda session, rows=rows: session.scalars(rows).all()) == []
    again = made(api, **{IS_PUBLIC: False})
    assert again != id
    path = f"/quota-sets/{PROJECT}/detail?share_type={again}"
    shares = api.get(path, as_=ADMIN)["quota_set"]["shares"]
    assert shares == {"limit": 50, "in_use": 0, "reserved": 0}
    assert api.get(f"/types/{again}/share_type_access", as_=ADMIN)["share_type_access"] == []


# -- announcements ------------------------------------------------------------------------------


def test_changes_are_announced(told, api):
    id = made(api)
    api.put(f"/types/{id}", {"share_type": {"description": "d"}}, as_=ADMIN)
    api.post(f"/types/{id}/extra_specs", {"extra_specs": {"k": "v"}}, as_=ADMIN)
    api.put(f"/types/{id}/extra_specs/k", {"k": "w"}, as_=ADMIN)
    api.delete(f"/types/{id}/extra_specs/k", as_=ADMIN)
    api.delete(f"/types/{id}", as_=ADMIN)
    assert {notice.publisher for notice in told} == {"shareType.node", "shareTypeExtraSpecs.node"}
    assert [notice.event for notice in told] == [
        "share_type.create",
        "share_type.update",
        "share_type_extra_specs.create",
        "share_type_extra_specs.update",
        "share_type_extra_specs.delete",
        "share_type.delete",
    ]
    assert {notice.priority for notice in told} == {"info"}
    assert told[1].payload["share_types"]["description"] == "d"


def test_refusals_are_announced(told, api):
    id = made(api)
    assert make(api, "default").status == 409
    assert api.put(f"/types/{id}", {"share_type": {"name": "default"}}, as_=ADMIN).status == 409
    body = {"extra_specs": {"no spaces": "x"}}
    assert api.post(f"/types/{id}/extra_specs", body, as_=ADMIN).status == 400
    assert api.delete(f"/types/{id}/extra_specs/absent", as_=ADMIN).status == 404
    assert api.delete(f"/types/{NOBODY}", as_=ADMIN).status == 404
    failures = told[1:]
    assert [notice.event for notice in failures] == [
        "share_type.create",
        "share_type.update",
        "share_type_extra_specs.create",
        "share_type_extra_specs.delete",
        "share_type.delete",
    ]
    assert {notice.priority for notice in failures} == {"error"}
    assert failures[0].payload["name"] == "default"
    assert all(notice.payload["error"] for notice in failures)


def test_a_spec_may_be_sent_as_a_number(api):
    """The official test plug-in sends sizes so."""
    specs = {"driver_handles_share_servers": False, "provisioning:min_share_size": 2}
    new = {"share_type": {"name": "sized", "extra_specs": specs}}
    answer = api.post("/types", new, as_=ADMIN)
    assert answer.status == 200, answer.body
    assert answer["share_type"]["extra_specs"]["provisioning:min_share_size"] == "2"
