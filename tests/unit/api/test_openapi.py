from __future__ import annotations

import pytest
import toy
from openapi_spec_validator import OpenAPIV31SpecValidator

from fileshare.api.microversions import MAX, VERSIONS
from fileshare.api.openapi import document
from fileshare.api.policy import all_operations

TOY_OPERATIONS = [operation for resource in toy.RESOURCES for operation in resource]


def errors(found):
    return [str(error) for error in OpenAPIV31SpecValidator(found).iter_errors()]


@pytest.mark.parametrize("version", ["2.0", "2.6", "2.7", "2.45", "2.84", "2.99"])
def test_documents_are_valid(version):
    assert errors(document(TOY_OPERATIONS, VERSIONS[version])) == []
    assert errors(document(all_operations(), VERSIONS[version])) == []


def test_every_operation_of_the_version_is_there():
    found = document(TOY_OPERATIONS)
    ids = {entry["operationId"] for path in found["paths"].values() for entry in path.values()}
    served = {
        op.id.partition(".action.")[0] + (".action" if op.actions else "")
        for op in TOY_OPERATIONS
        if MAX in op.span and op.path != "/"
    }
    assert ids == served


def test_bodies_follow_the_version():
    def fields(version):
        create = document(TOY_OPERATIONS, VERSIONS[version])["paths"]["/toys"]["post"]
        schema = create["requestBody"]["content"]["application/json"]["schema"]
        return schema["properties"]["toy"]["properties"]

    assert "group_id" not in fields("2.30")
    assert "group_id" in fields("2.31")
    assert fields("2.83")["mount_point_name"] == {"not": {}}
    assert fields("2.84")["mount_point_name"] == {"type": "string"}


def test_actions_are_one_operation_with_several_bodies():
    action = document(TOY_OPERATIONS, VERSIONS["2.6"])["paths"]["/toys/{id}/action"]["post"]
    bodies = action["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert {next(iter(body["properties"])) for body in bodies} == {"os-extend", "break_it", "gone"}
    assert "toy:extend" in action["x-openstack-policies"]


def test_answers_follow_the_version():
    def answer(version):
        shown = document(TOY_OPERATIONS, VERSIONS[version])["paths"]["/toys/detail"]["get"]
        return shown["responses"]["200"]["content"]["application/json"]["schema"]["properties"]

    assert set(answer("2.99")) == {"toys", "toys_links", "count"}
    assert answer("2.5")["toys"]["items"]["properties"]["share_type"] == {"type": "string"}
    assert "minLength" in answer("2.6")["toys"]["items"]["properties"]["share_type"]
