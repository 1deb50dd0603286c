"""What was met with in the field: links, pages, and the ids of requests.

Each docstring begins with the number of the report.
"""

from __future__ import annotations

import logging
import re
import urllib.parse

import examples
import pytest
import things_at_hand
import webob
from inprocess import ADMIN, MEMBER, NOBODY, PROJECT
from oslo_context import context
from test_field_reports import GOOD, LISTS, create, report

from fileshare.api import wsgi
from fileshare.api.policy import all_operations
from fileshare.api.resource import Many
from fileshare.db.session import Sessions

# -- pages -------------------------------------------------------------------------------------


def follow(api, path, key, links, as_=MEMBER):
    """The ids of a list, page by page of one, by its own links."""
    found, app = [], api.app
    for _page in range(20):
        answer = api.get(path, as_=as_)
        assert answer.status == 200, (path, answer.body)
        found += [row["id"] for row in answer[key]]
        following = [link for link in answer.body.get(links, []) if link["rel"] == "next"]
        if not following:
            return found
        url = urllib.parse.urlsplit(following[0]["href"])
        assert (url.scheme, url.netloc) == ("http", "localhost")
        assert url.path.startswith("/v2/")
        path = f"{url.path.removeprefix('/v2')}?{url.query}"
    raise AssertionError(f"{app}: the pages of {path} do not end")


@pytest.mark.parametrize("path", ["/shares", "/shares/detail"])
@pytest.mark.parametrize("order", ["", "&sort_key=name&sort_dir=asc", "&sort_key=host"])
def test_links_lead_through_all_pages(api, path, order):
    """C133: each object once, and then no more."""
    ids = {api.new_share(name=f"n{number % 2}", drain=False) for number in range(5)}
    found = follow(api, f"{path}?limit=1{order}", "shares", "shares_links")
    assert len(found) == 5
    assert set(found) == ids


PAGED = [op for op in LISTS if isinstance(op.answer, Many) and op.answer.links]


@pytest.fixture
def things(api):
    """Three of everything that is listed page by page."""
    api.share_type("replicated", replication_type="readable")
    for _each in range(3):
        share = api.new_share(share_type="replicated", as_=ADMIN)
        lock = {"resource_lock": {"resource_id": share}}
        assert api.post("/resource-locks", lock, as_=ADMIN).status == 200
    for name in api.drivers:
        report(api, name, free_gb=1.0, total_gb=100.0, thin=False)
    for _each in range(3):
        create(api, as_=ADMIN, size=50)
    api.drain()
    return api


@pytest.mark.parametrize("operation", PAGED, ids=lambda operation: operation.id)
def test_links_of_every_list_lead_on(things, operation):
    """C133: with the path, scheme and host of the request; each object once."""
    key, links = operation.answer.key, operation.answer.links
    answer = things.get(operation.path, as_=ADMIN)
    whole = [row["id"] for row in answer[key]]
    assert len(whole) >= 3
    assert links not in answer.body
    found = follow(things, f"{operation.path}?limit=1", key, links, as_=ADMIN)
    assert sorted(found) == sorted(whole)


# -- links behind a proxy ----------------------------------------------------------------------


@pytest.mark.parametrize("told", [True, False])
def test_links_keep_the_prefix_of_a_proxy(api, told):
    """C148: whether the proxy takes the prefix off and says so, or the server mounts it."""
    api.conf.set_override("enable_proxy_headers_parsing", True, "oslo_middleware")
    app = wsgi.build(api.runtime)
    api.new_share(drain=False)
    api.new_share(drain=False)
    for path in ("/", "/v2/", "/v2/shares?limit=1", "/v2/types"):
        base = "http://10.0.0.1:8786" + "/share" * (not told)
        request = webob.Request.blank(path, base_url=base)
        request.headers["X-Auth-Token"] = MEMBER
        request.headers["X-Forwarded-Proto"] = "https"
        request.headers["X-Forwarded-Host"] = "h"
        if told:
            request.headers["X-Forwarded-Prefix"] = "/share"
        answer = request.get_response(app)
        links = [*links_in(answer.json)]
        for rel, href in links:
            whole = "https://h/share/" if rel == "bookmark" else "https://h/share/v2/"
            assert href.startswith(whole), (path, rel, href)
            assert not re.search(r"/share/share/|[^:]//", href)
        assert links or path == "/v2/types"


def test_pages_behind_a_proxy_lead_on(api):
    """C133, C148: each link has the prefix, and leads to the next object."""
    api.conf.set_override("enable_proxy_headers_parsing", True, "oslo_middleware")
    app, ids = wsgi.build(api.runtime), [api.new_share(drain=False) for _each in range(3)]
    found, url = [], "https://h/share/v2/shares?limit=1"
    while url:
        assert url.startswith("https://h/share/v2/shares?")
        request = webob.Request.blank(url.removeprefix("https://h/share"))
        forwarded = {"Proto": "https", "Host": "h", "Prefix": "/share"}
        request.headers.update({f"X-Forwarded-{k}": v for k, v in forwarded.items()})
        request.headers["X-Auth-Token"] = MEMBER
        request.headers["X-OpenStack-Manila-API-Version"] = "2.99"
        answer = request.get_response(app).json
        found += [share["id"] for share in answer["shares"]]
        url = next((link["href"] for link in answer.get("shares_links", ())), None)
        assert len(found) <= len(ids)
    assert sorted(found) == sorted(ids)


def links_in(body):
    """All links of an answer that lead to the service itself."""
    if isinstance(body, dict):
        if "href" in body and body["rel"] != "describedby":
            yield body["rel"], body["href"]
        body = list(body.values())
    if isinstance(body, list):
        for part in body:
            yield from links_in(part)


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_every_reply_has_the_id_of_its_request(api, operation):
    """C149: successes and refusals alike, under both names."""
    version = str(operation.span.last)
    seen = set()
    for as_, query, asked in (
        (ADMIN, "", version),
        (MEMBER, "?limit=x", version),
        (f"nil:{PROJECT}:none", "", version),
        (ADMIN, "", "2.100"),
        (ADMIN, "", "nonsense"),
    ):
        answer = api.get(f"{operation.path}{query}", as_=as_, version=asked)
        id = answer.headers["x-openstack-request-id"]
        assert answer.headers["x-compute-request-id"] == id
        seen.add(id)
    assert len(seen) == 5


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    with things_at_hand.lasting_program(tmp_path_factory.mktemp("links")) as made:
        yield made


OTHERS = [op for op in all_operations() if op not in LISTS and op.path not in {"/", "/v2/"}]


@pytest.mark.parametrize("operation", OTHERS, ids=lambda operation: operation.id)
def test_every_refusal_has_the_id_of_its_request(lasting, operation):
    """C149: of all other routes; what they say when they succeed is held to it with C183."""
    variables = dict.fromkeys(operation.variables, NOBODY)
    path = operation.path
    for name, value in variables.items():
        path = path.replace(f"{{{name}}}", value)
    body = examples.body(operation, operation.span.last, variables)
    seen, statuses = set(), set()
    for as_, sent in ((f"nil:{PROJECT}:none", body), (MEMBER, body), (ADMIN, {"x": None})):
        version = str(operation.span.last)
        answer = lasting.ask(operation.method, path, sent, as_=as_, version=version)
        id = answer.headers["x-openstack-request-id"]
        assert answer.headers["x-compute-request-id"] == id
        seen.add(id)
        statuses.add(answer.status // 100)
    assert len(seen) == 3
    assert 4 in statuses
    assert 5 not in statuses


@pytest.mark.parametrize(("method", "path"), [("GET", "/shares"), ("POST", "/shares")])
def test_a_failure_of_the_server_has_an_id_and_tells_nothing_else(api, monkeypatch, method, path):
    """C130, C149: whatever went wrong, and whoever asks."""

    def fail(*_given):
        raise RuntimeError("of /usr/lib/secret.py at line 7")

    monkeypatch.setattr(Sessions, "run", fail)
    for as_ in (ADMIN, MEMBER):
        answer = api.ask(method, path, {"share": GOOD} if method == "POST" else None, as_=as_)
        assert answer.status == 500
        id = answer.headers["x-openstack-request-id"]
        assert answer.headers["x-compute-request-id"] == id
        for text in ("Traceback", ".py", "RuntimeError", "secret", "line"):
            assert text not in str(answer.body), answer.body


def test_one_id_follows_a_call_through_the_daemons(api, caplog):
    """C149: into their logs, the messages of users and the history of the work."""
    caplog.set_level(logging.INFO)
    report(api, "alpha", free_gb=0.0, total_gb=10.0, thin=False)
    report(api, "beta", free_gb=0.0, total_gb=10.0, thin=False)
    given = "req-00000000-0000-4000-8000-000000000001"
    answer = api.post("/shares", {"share": GOOD}, headers={"X-OpenStack-Request-Id": given})
    id, share = answer.headers["x-openstack-request-id"], answer["share"]["id"]
    assert id != given
    seen = set()
    api.listen()
    for consumer in api.consumers.values():
        look = consumer._tell

        def tell(told, look=look):
            seen.add(context.get_current().request_id)
            look(told)

        consumer._tell = tell
    api.drain()
    assert seen == {id}
    (message,) = api.messages(share)
    assert message.request_id == id
    assert {notice.request_id for notice in api.listener.heard} == {id}
