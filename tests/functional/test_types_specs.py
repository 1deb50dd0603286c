"""Extra specs of share types over HTTP."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, LATEST, NOBODY
from share_types import SPECS, made


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


def test_a_spec_may_be_sent_as_a_number(api):
    """The official test plug-in sends sizes so."""
    specs = {"driver_handles_share_servers": False, "provisioning:min_share_size": 2}
    new = {"share_type": {"name": "sized", "extra_specs": specs}}
    answer = api.post("/types", new, as_=ADMIN)
    assert answer.status == 200, answer.body
    assert answer["share_type"]["extra_specs"]["provisioning:min_share_size"] == "2"
