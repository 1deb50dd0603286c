"""The generated OpenAPI documents, by schemathesis: what is promised is what is answered.

Requests come from the documents, good ones and bad ones, to objects that are there and to none.
No answer is an error of the server; its status, headers, type and body are declared.

SCHEMATHESIS_EXAMPLES says how many requests of each kind an operation gets (a handful, where it
is not set); the requests of a number are the same in every run.
"""

from __future__ import annotations

import functools
import json
import os

import pytest
import schemathesis
import things_at_hand
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from inprocess import ADMIN, HOST, MEMBER
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from fileshare.api.microversions import VERSIONS
from fileshare.api.openapi import document
from fileshare.api.policy import all_operations

LONG = os.environ.get("SCHEMATHESIS_EXAMPLES")
EXAMPLES = int(LONG or 3)
pytestmark = pytest.mark.timeout(7200 if LONG else 600)

# The first; the last at which actions list rules; the first with locks of rules; the newest.
MINORS = ("2.0", "2.44", "2.82", "2.99")
PERSONAS = {"admin": ADMIN, "member": MEMBER}
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]

bounded = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with things_at_hand.lasting_program(tmp_path_factory.mktemp("schemathesis")) as made:
        yield made


@pytest.fixture(scope="module")
def things(program):
    return things_at_hand.Things(program)


# What a document cannot say: the fields that name objects, and values that fit together.
REFERENCES = {
    "access_id": "share-access-rules",
    "export_location_id": "export",
    "resource_id": "shares",
    "share_id": "shares",
    "share_type_id": "types",
}
GOOD = {
    "binary": "manila-share",
    "extra_specs": {"driver_handles_share_servers": "False"},
    "host": f"{HOST}@alpha",
    "share_proto": "NFS",
    "share_type": "default",
    "share_types": ["default"],
    "status": "available",
}
STRAY = {"availability_zone", "scheduler_hints", "share_group_id", "share_network_id"}
STRAY |= {"mount_point_name", "snapshot_id", "volume_type"}


@functools.cache
def operations(version):
    """The operations of the document of a version, as schemathesis reads them.

    Without the headers that are always sent: else most bad requests are bad in those.
    """
    promised = json.loads(json.dumps(document(all_operations(), VERSIONS[version])))
    del promised["security"]
    for path in promised["paths"].values():
        for operation in path.values():
            parameters = operation["parameters"]
            operation["parameters"] = [found for found in parameters if found["in"] != "header"]
    schema = schemathesis.openapi.from_dict(promised)
    return [found.ok() for found in schema.get_all_operations()]


def modes(operation):
    """Good requests, and bad ones where there is something to get wrong."""
    can_be_bad = bool(operation.query) or bool(operation.body)
    return [mode for mode in GenerationMode if mode.is_positive or can_be_bad]


def lead(case, ids, good):
    """Let a request lead to objects that are there; with *good*, let it fit together."""
    variables = things_at_hand.values_of(case.operation.path, ids)
    case.path_parameters = variables
    for place in (case.query, *_objects(case.body)):
        for name in REFERENCES.keys() & place.keys():
            place[name] = ids[REFERENCES[name]]
        if good:
            for name in GOOD.keys() & place.keys():
                if isinstance(GOOD[name], dict) or not isinstance(place[name], dict):
                    place[name] = GOOD[name]
            for name in STRAY & place.keys():
                del place[name]
    if good and len(variables) > 1 and case.operation.path.endswith("}"):
        *_, innermost = _objects(case.body) or [{}]
        innermost.clear()
        innermost["k"] = "v"


def _objects(body):
    """The objects of a body: itself, and what it holds."""
    if not isinstance(body, dict):
        return []
    return [body, *(found for found in body.values() if isinstance(found, dict))]


def checked(case, answer):
    """The checks for an answer; what may be empty, and is, has no schema."""
    declared = case.operation.definition.raw["responses"].get(str(answer.status_code), {})
    may_be_empty = declared.get("x-openstack-may-be-empty", False)
    return CHECKS[:-1] if may_be_empty and not answer.content else CHECKS


def exercise(program, ids, operation, version, token, mode):
    headers = {
        "X-OpenStack-Manila-API-Version": version,
        "X-OpenStack-Manila-API-Experimental": "true",
        "X-Auth-Token": token,
    }

    @bounded
    @given(case=operation.as_strategy(generation_mode=mode), known=st.integers(0, 4))
    def ask(case, known):
        if known:
            lead(case, ids, good=known > 2)
        answer = case.call(app=program.app, headers=headers)
        case.validate_response(answer, checks=checked(case, answer))

    ask()


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("version", MINORS)
def test_what_is_promised_is_answered(program, things, version, persona):
    for operation in operations(version):
        for mode in modes(operation):
            exercise(program, things.all(), operation, version, PERSONAS[persona], mode)
