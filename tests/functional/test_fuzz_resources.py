"""Whatever is sent to the real resources, the answer is the caller's fault or a result."""

from __future__ import annotations

import copy
import os
import urllib.parse

import examples
import pytest
import things_at_hand
import webob
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from inprocess import ADMIN, MEMBER
from things_at_hand import path_of, version_of

from fileshare.api import policy
from fileshare.api.fields import present

pytestmark = pytest.mark.timeout(1800 if os.environ.get("FUZZ_EXAMPLES") else 300)
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "250"))

# The latest, and three from before: without metadata of exports, without locks, and the first.
MINORS = ("2.99", "2.80", "2.40", "2.0")
OPERATIONS = [op for op in policy.all_operations() if op.path not in {"/", "/v2/"}]
BY_ID = {op.id: op for op in OPERATIONS}
WITH_BODY = [op.id for op in OPERATIONS if op.body is not None]
WITH_QUERY = [op.id for op in OPERATIONS if op.method == "GET"]

relaxed = settings(
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)

NASTY = [
    None,
    True,
    0,
    -1,
    1,
    1.5,
    2**31,
    2**63,
    10**40,
    "",
    " ",
    "x" * 256,
    "x" * 70_000,
    "\x00",
    "a\nb",
    "\ud800",
    "é",
    "😀" * 255,
    "../../etc/passwd",
    "%s%n",
    "' OR 1=1 --",
    "<is> True",
    "1e3",
    "٣",
    "0x10",
    "true",
    "None",
    "2026-01-01T00:00:00",
    "9999-12-31T23:59:59-12:00",
    "0001-01-01T00:00:00+12:00",
    "ffffffff-ffff-4fff-8fff-ffffffffffff",
    "::1",
    "10.0.0.0/33",
    "{'a': 'b'}",
    "[]",
    "available",
    [],
    {},
    [[]],
    {"": ""},
    {"k": None},
    {"k": {"k": {}}},
]
LEAVES = (
    st.sampled_from(NASTY)
    | st.integers()
    | st.text(max_size=40)
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = (
    LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=9), LEAVES)
).map(copy.deepcopy)
TEXTS = st.sampled_from([value for value in NASTY if isinstance(value, str)]) | st.text(
    max_size=40
)
SEGMENTS = st.sampled_from(["x", "%00", "%ff", "..", "a%2Fb", "%F0%9F%98%80", "k", "x" * 300])
BYTES = st.sampled_from(["%ff%fe", "%00", "%C3%28", "%ED%A0%80", "+", "%", "%zz", "%F0%9F%98%80"])


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with things_at_hand.lasting_program(tmp_path_factory.mktemp("fuzz")) as made:
        yield made


@pytest.fixture(scope="module")
def things(program):
    return things_at_hand.Things(program)


def check(answer, *about):
    assert answer.status < 500, (answer.status, answer.body, *about)


@relaxed
@given(data=st.data())
def test_bodies(program, things, data):
    operation = BY_ID[data.draw(st.sampled_from(WITH_BODY))]
    version = version_of(operation, data.draw(st.sampled_from(MINORS)))
    fields = [field.name for field in present(operation.body.fields, version)]
    names = st.sampled_from([*fields, "stray", ""])
    variables = dict.fromkeys(operation.variables, "k")
    body = examples.body(operation, version, variables)
    inner = body
    if isinstance(body, dict) and operation.body.key is not None:
        (key,) = body
        if data.draw(st.integers(0, 9)) == 0:
            body = {key: data.draw(VALUES)}
        inner = body[key]
    if isinstance(inner, dict):
        inner.update(data.draw(st.dictionaries(names, VALUES, max_size=3)))
    elif data.draw(st.booleans()):
        body = data.draw(VALUES)
    path = path_of(
        operation, things(), data.draw(st.dictionaries(st.just(1), SEGMENTS, max_size=1))
    )
    answer = program.ask(
        operation.method,
        path,
        body,
        version=str(version),
        as_=data.draw(st.sampled_from([ADMIN, MEMBER])),
        headers={"X-OpenStack-Manila-API-Experimental": "true"},
    )
    check(answer, operation.id, str(version), body)


@relaxed
@given(data=st.data())
def test_queries(program, things, data):
    operation = BY_ID[data.draw(st.sampled_from(WITH_QUERY))]
    version = version_of(operation, data.draw(st.sampled_from(MINORS)))
    fields = [field.name for field in present(operation.query.fields, version)]
    names = st.sampled_from([*fields, "stray", "limit", "sort_key"])
    pairs = data.draw(st.lists(st.tuples(names, TEXTS | BYTES), max_size=4))
    query = "&".join(
        f"{name}={text if text.startswith('%') else quoted(text)}" for name, text in pairs
    )
    path = path_of(
        operation, things(), data.draw(st.dictionaries(st.just(0), SEGMENTS, max_size=1))
    )
    as_ = data.draw(st.sampled_from([ADMIN, MEMBER]))
    answer = program.get(f"{path}?{query}", version=str(version), as_=as_)
    check(answer, operation.id, str(version), query)


# Each parser has texts of its own that it cannot read, and tells so in its own way.
UNREADABLE = [
    "0001-01-01T00:00:00+12:00",
    "9999-12-31T23:59:59-12:00",
    "a{99999999999999999999}",
    '{"a": "\\ud800"}',
    "{'a': '\\ud800'}",
    '{"\\ud800": "a"}',
    "{'a': 1j}",
    "{'a': {1, 'b'}}",
    "[" * 3000,
]
WITH_FIELDS = [id for id in WITH_QUERY if BY_ID[id].query.fields]


@pytest.mark.parametrize("id", WITH_FIELDS)
def test_each_parameter_of_each_query(program, things, id):
    operation = BY_ID[id]
    path = path_of(operation, things(), {})
    for field in operation.query.fields:
        for text in UNREADABLE:
            query = f"{quoted(field.name)}={quoted(text)}"
            version = str(min(operation.span.last, field.span.last))
            check(program.get(f"{path}?{query}", version=version, as_=ADMIN), id, query)


def test_a_literal_holds_no_more_than_a_body(program):
    for text in ('{"a": "\\u0000"}', "{'a': '\\x00'}", '{"a": "\\ud800"}'):
        assert program.get(f"/shares?metadata={quoted(text)}").status == 400


def quoted(text):
    return urllib.parse.quote(text.encode("utf-8", "surrogatepass"))


@relaxed
@given(data=st.data())
def test_paths(program, things, data):
    operation = BY_ID[data.draw(st.sampled_from(list(BY_ID)))]
    version = version_of(operation, data.draw(st.sampled_from(MINORS)))
    path = path_of(operation, things(), data.draw(st.dictionaries(st.integers(0, 1), SEGMENTS)))
    tail = data.draw(st.sampled_from(["", "/", "//", ".json", "/x", "?", "#", "%"]))
    method = data.draw(st.sampled_from(["GET", "PUT", "POST", "PATCH", "HEAD", "OPTIONS"]))
    as_ = data.draw(st.sampled_from([ADMIN, MEMBER]))
    answer = program.ask(method, f"{path}{tail}", version=str(version), as_=as_)
    check(answer, method, path, str(version))


@relaxed
@given(
    data=st.binary(max_size=200) | st.sampled_from([b"[" * 100_000, b'{"a":' * 5000, b"\xff\xfe"]),
    kind=st.sampled_from(["application/json", "text/plain", "application/json; charset=latin-1"]),
    id=st.sampled_from(WITH_BODY),
)
def test_bytes(program, things, data, kind, id):
    operation = BY_ID[id]
    version = operation.span.last
    request = webob.Request.blank(
        f"/v2{path_of(operation, things(), {})}", method=operation.method
    )
    request.headers["X-OpenStack-Manila-API-Version"] = str(version)
    request.headers["X-Auth-Token"] = ADMIN
    request.body, request.content_type = data, kind
    assert request.get_response(program.app).status_int < 500


@pytest.mark.parametrize("header", ["X-OpenStack-Manila-API-Version", "X-OpenStack-Request-Id"])
@relaxed
@given(text=st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=40))
def test_headers(program, header, text):
    check(program.get("/shares", headers={header: text}), header, text)


def test_nothing_of_it_upset_the_books(program, things):
    """Run after the others: what they did is done, and all is where it belongs."""
    program.drain()
    for _turn in range(3):
        program.make_due()
        program.poll()
    program.books()
