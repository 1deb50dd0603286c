"""Whatever is sent, the answer is the caller's fault or a result, never a failure of ours."""

from __future__ import annotations

from urllib.parse import urlencode

import toy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toy import UUID_1

NAMES = "toy metadata extend os-extend restore break_it gone size name new_size proto is_public"
MORE = "group_id mount_point_name force target id options"
KEYS = st.sampled_from([*NAMES.split(), *MORE.split(), ""])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=300)
    | st.sampled_from([UUID_1, "true", "NFS", "1", "-1", "{'a': 'b'}"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
TARGETS = st.sampled_from(
    [
        ("POST", "/v2/toys"),
        ("POST", f"/v2/toys/{UUID_1}/action"),
        ("POST", f"/v2/toys/{UUID_1}/metadata"),
        ("PUT", f"/v2/toys/{UUID_1}/metadata/name"),
        ("PUT", "/v2/shelves/1"),
        ("DELETE", "/v2/toys/absent"),
    ]
)
MINORS = st.integers(0, 99)
PARAMETERS = st.sampled_from(
    [
        "name",
        "name~",
        "host",
        "all_tenants",
        "metadata",
        "with_count",
        "limit",
        "offset",
        "sort_dir",
        "id",
    ]
)

RUNTIME = toy.make_runtime()
ASK = toy.Client(RUNTIME, token="admin:a1")
relaxed = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))


@relaxed
@given(
    TARGETS,
    VALUES | st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=4), max_size=1),
    MINORS,
)
def test_bodies(target, body, minor):
    RUNTIME.toys.clear()
    RUNTIME.toys[UUID_1] = toy.Toy(UUID_1)
    answer = ASK(*target, body, version=f"2.{minor}")
    assert answer.status_int in {200, 202, 400, 404, 422}, answer.body


@relaxed
@given(st.binary(max_size=60), st.sampled_from(["application/json", "text/plain"]))
def test_bytes(data, kind):
    request = toy.webob.Request.blank("/v2/toys", method="POST", body=data, content_type=kind)
    request.headers["X-Auth-Token"] = "admin:a1"
    assert request.get_response(ASK.application).status_int in {400, 422}


@relaxed
@given(
    st.sampled_from(["/v2/toys", "/v2/toys/detail", "/v2/shelves"]),
    st.lists(st.tuples(PARAMETERS, st.text(max_size=40) | st.integers().map(str)), max_size=4),
    MINORS,
)
def test_queries(path, query, minor):
    pairs = [(name, text.encode("utf-8", "surrogatepass")) for name, text in query]
    answer = ASK("GET", f"{path}?{urlencode(pairs)}", version=f"2.{minor}")
    assert answer.status_int in {200, 400, 404}, answer.body


@relaxed
@given(st.text(max_size=30), st.sampled_from(["GET", "POST", "PUT", "DELETE"]))
def test_paths(path, method):
    request = toy.webob.Request.blank("/", method=method)
    request.environ["PATH_INFO"] = "/v2/" + path.encode("utf-8", "surrogatepass").decode("latin-1")
    request.headers["X-Auth-Token"] = "admin:a1"
    assert request.get_response(ASK.application).status_int in {200, 400, 404}
