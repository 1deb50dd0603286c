"""Share types over HTTP: what administrators keep."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER, NOBODY, PROJECT
from share_types import IS_PUBLIC, IS_PUBLIC_ONCE, SPECS, made, make, names

from fileshare.db import models
from fileshare.domain.quotas import type_scope
from fileshare.domain.statuses import Status


def a_share_of(program, type_id, **values):
    """A share that no back end knows of."""
    id = models.new_id()
    row = {"id": id, "project_id": PROJECT, "size": 1, "share_proto": "NFS", **values}
    program.write(
        sa.insert(models.Share).values(
            status=Status.AVAILABLE, share_type_id=type_id, is_charged=False, **row
        )
    )
    return id


@pytest.fixture
def told(program):
    """What is announced to whoever listens."""
    return program.listen()


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


# -- update ------------------------------------------------------------------------------------


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


# -- delete ------------------------------------------------------------------------------------


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
    program.write(gone.values(deleted_at=models.Share.created_at))
    assert api.delete(f"/types/{id}", as_=ADMIN).status == 202


def test_a_type_that_a_replica_uses_stays(program, api):
    id = made(api)
    share_id = a_share_of(program, made(api, "silver"))
    row = {"share_id": share_id, "status": Status.AVAILABLE, "share_type_id": id}
    program.write(sa.insert(models.ShareInstance).values(id=models.new_id(), **row))
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


# -- announcements -----------------------------------------------------------------------------


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
