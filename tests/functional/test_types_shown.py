"""What tenants see of share types, and who may use them."""

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
    STRANGER,
)
from share_types import IS_PUBLIC, SPECS, made, names

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


# -- access ------------------------------------------------------------------------------------


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
