"""What users and operators of such services met with in the field, and what is so here.

Each docstring begins with the number of the report.
"""

from __future__ import annotations

import logging
import re
import urllib.parse

import pytest
import sqlalchemy as sa
import webob
from inprocess import ADMIN, HOST, MEMBER, PROJECT, STRANGER
from oslo_context import context

from fileshare.api import wsgi
from fileshare.api.policy import all_operations
from fileshare.db import models

GOOD = {"share_proto": "NFS", "size": 1, "share_type": "default"}
SPECS = {"driver_handles_share_servers": "False"}


def create(api, as_=MEMBER, version="2.99", **values):
    return api.post("/shares", {"share": {**GOOD, **values}}, as_=as_, version=version)


def a_type(api, name, **specs):
    body = {"name": name, "extra_specs": {**SPECS, **specs}}
    answer = api.post("/types", {"share_type": body}, as_=ADMIN)
    assert answer.status == 200, answer.body
    return answer["share_type"]["id"]


def message_of(answer):
    (fault,) = answer.body.values()
    return fault["message"]


def details(api, path="", as_=ADMIN):
    found = api.get(f"/quota-sets/{PROJECT}/detail{path}", as_=as_)
    return found["quota_set"]


def report(api, name, **values):
    """Let the pools of a back end report as given."""
    news = {"report_seq": models.PoolReport.report_seq + 1, "claimed_gb": 0, **values}
    api.write(
        sa.update(models.PoolReport)
        .where(models.PoolReport.backend == f"{HOST}@{name}")
        .values(**news)
    )


# -- requests and versions ---------------------------------------------------------------------


def test_the_list_of_rules_moved_at_2_45(api):
    """C018: clients that pin either side of the version find what they know, and no more."""
    share = api.new_share()
    assert api.act(share, "access_list", version="2.44").body == {"access_list": []}
    gone = api.act(share, "access_list", version="2.45")
    assert (gone.status, set(gone.body)) == (404, {"itemNotFound"})
    path = f"/share-access-rules?share_id={share}"
    assert api.get(path, version="2.45").body == {"access_list": []}
    early = api.get(path, version="2.44")
    assert (early.status, set(early.body)) == (404, {"itemNotFound"})


@pytest.mark.parametrize("name", ["", "client.bob", "böb", "a\nb", "x" * 300])
def test_a_bad_ceph_user_is_refused_at_once(api, name):
    """C023: nothing of it reaches the cluster, or the table."""
    share = api.new_share()
    rule = {"access_type": "cephx", "access_to": name, "access_level": "rw"}
    answer = api.act(share, "allow_access", rule)
    assert answer.status == 400, answer.body
    assert "access" in message_of(answer)
    assert api.get(f"/share-access-rules?share_id={share}")["access_list"] == []


def test_ceph_users_came_with_2_13(api):
    """C023"""
    share = api.new_share()
    rule = {"access_type": "cephx", "access_to": "bob", "access_level": "rw"}
    assert api.act(share, "allow_access", rule, version="2.12").status == 400
    assert api.act(share, "allow_access", rule, version="2.13").status == 200


@pytest.mark.parametrize("limits", [{}, {"no_such": 1}])
def test_an_update_of_no_quota_is_no_success(api, limits):
    """C046"""
    before = details(api)
    answer = api.put(f"/quota-sets/{PROJECT}", {"quota_set": limits}, as_=ADMIN)
    assert answer.status == 400
    assert details(api) == before


@pytest.mark.parametrize("size", [1.5, 0, -1, "1.5", "", None, True, [1], 2**31])
def test_sizes_are_whole_gib(api, size):
    """C117: one rule for every call that takes a size."""
    share = api.new_share(size=2)
    assert create(api, size=size).status == 400
    assert api.act(share, "extend", {"new_size": size}).status == 400
    assert api.act(share, "shrink", {"new_size": size}).status == 400
    assert api.show(share)["size"] == 2


def test_a_size_as_text_is_a_size_everywhere(api):
    """C117"""
    answer = create(api, size="3")
    assert answer["share"]["size"] == 3
    api.drain()
    share = answer["share"]["id"]
    assert api.act(share, "extend", {"new_size": "4"}).status == 202
    api.drain()
    assert api.act(share, "shrink", {"new_size": "2"}).status == 202
    api.drain()
    assert api.show(share)["size"] == 2
    assert sum(api.on_backends().values()) == 2


def test_a_size_is_refused_or_honoured_and_never_rounded(api):
    """C119"""
    id = a_type(api, "large", **{"provisioning:min_share_size": "5"})
    refusal = create(api, share_type="large")
    assert refusal.status == 400
    assert "5" in message_of(refusal)
    assert create(api, share_type="large", size=5)["share"]["size"] == 5
    shown = api.get(f"/types/{id}")["share_type"]["extra_specs"]
    assert shown["provisioning:min_share_size"] == "5"


NASTY = (
    "%ff%fe", "%00", "%C3%28", "%ED%A0%80", "%F0%28%8C%BC", "%80", "%", "%zz", "%u0041", "a%00b",
    "%C0%AF", "%FE", "%E2%82", "%F4%90%80%80", "%0d%0a", "%09", "%7f", "%F0%9F%92%A9", "%27", "%22",
    "%5C", "%25", "_%25_", "%2525", "%3Cscript%3E", "..%2f..", "%E2%80%AE", "%CC%81", "%EF%BB%BF",
    "%F3%A0%80%81", "1e999", "NaN", "-0", "%D9%A3", "%E2%85%A7", "0x1", "true", "null", "[]", "{}",
)  # fmt: skip
LISTS = [op for op in all_operations() if op.method == "GET" and not op.variables]
LISTS = [op for op in LISTS if op.path.startswith("/") and op.path not in {"/", "/v2/"}]


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_no_byte_of_a_query_is_an_error_of_the_server(api, operation):
    """C121"""
    version = str(operation.span.last)
    names = [field.name for field in operation.query.fields] or ["name"]
    for text in NASTY:
        query = "&".join(f"{name}={text}" for name in names[:3])
        for one in (f"{names[-1]}={text}", query, f"{text}=x"):
            answer = api.get(f"{operation.path}?{one}", as_=ADMIN, version=version)
            assert answer.status in {200, 400, 404}, (one, answer.body)


def test_what_is_no_utf_8_is_refused(api):
    """C121"""
    assert api.get("/shares?name=%ff%fe").status == 400
    assert api.get("/shares?name=%00").status in {200, 400}


def test_names_that_look_alike_are_two(api):
    """C124: byte for byte, in types, names and metadata."""
    a_type(api, "Gold")
    a_type(api, "gold")
    texts = ("Gold", "gold", "gold ", "🗄️", "שלום", "e\u0301", "\u00e9", "İ", "ß", "SS")
    for text in texts:
        answer = create(api, name=text, share_type="Gold", metadata={text: text})
        assert answer["share"]["name"] == text
    for text in texts:
        name = urllib.parse.quote(text)
        (found,) = api.get(f"/shares/detail?name={name}")["shares"]
        assert (found["name"], found["metadata"]) == (text, {text: text})


def test_a_state_that_no_service_has_empties_the_list(api):
    """C127: and is no error."""
    for query in ("status=banana", "ensuring=banana", "state=banana", "host=banana"):
        assert api.get(f"/services?{query}", as_=ADMIN).body == {"services": []}
    assert api.get("/services?ensuring=banana", as_=ADMIN, version="2.92").status == 200


def test_the_zone_is_a_filter_from_2_97(api):
    """C128"""
    for zone in ("manila-zone-0", "manila-zone-1"):
        api.new_share(availability_zone=zone)
    one = api.get("/shares/detail?availability_zone=manila-zone-1")["shares"]
    assert [share["availability_zone"] for share in one] == ["manila-zone-1"]
    old = api.get("/shares/detail?availability_zone=manila-zone-1", version="2.96")["shares"]
    assert len(old) == 2
    assert api.get("/shares?availability_zone=nowhere").body["shares"] == []


@pytest.mark.parametrize("path", ["/shares", "/shares/detail"])
def test_all_tenants(api, path):
    """C129: one table of values; and nobody but an operator sees more by it."""
    theirs, own = api.new_share(), api.new_share(as_=ADMIN)
    for value in ("1", "true", "yes", "on", "t", "y", "True"):
        found = api.get(f"{path}?all_tenants={value}", as_=ADMIN)["shares"]
        assert {share["id"] for share in found} == {theirs, own}
        member = api.get(f"{path}?all_tenants={value}", as_=STRANGER)
        assert (member.status, member["shares"]) == (200, [])
    for value in ("0", "false", "no", "off", "f", "n"):
        found = api.get(f"{path}?all_tenants={value}", as_=ADMIN)["shares"]
        assert [share["id"] for share in found] == [own]


# -- lists -------------------------------------------------------------------------------------


def follow(api, path, key, links):
    """The ids of a list, page by page of one, by its own links."""
    found, app = [], api.app
    for _page in range(20):
        answer = api.get(path)
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


def test_links_of_messages_and_locks(api):
    """C133"""
    shares = [api.new_share() for _each in range(3)]
    for share in shares:
        assert api.post("/resource-locks", {"resource_lock": {"resource_id": share}}).status == 200
    locks = follow(api, "/resource-locks?limit=1", "resource_locks", "resource_locks_links")
    assert len(set(locks)) == len(locks) == 3
    report(api, "alpha", free_gb=1.0, total_gb=100.0, thin=False)
    report(api, "beta", free_gb=1.0, total_gb=100.0, thin=False)
    for _each in range(3):
        api.new_share(size=50)
    told = follow(api, "/messages?limit=1", "messages", "messages_links")
    assert len(set(told)) == len(told) == 3


def test_exact_is_exact(api):
    """C134: beside the filters that look for a part."""
    for name in ("ab", "abc", "zab"):
        api.new_share(name=name, description=f"about {name}", drain=False)
    for path in ("/shares", "/shares/detail"):
        for query, number in (
            ("name=ab", 1),
            ("name~=ab", 3),
            ("name~=abc", 1),
            ("description=about ab", 1),
            ("description=about", 0),
            ("description~=about", 3),
        ):
            query_ = urllib.parse.quote(query, safe="=~")
            assert len(api.get(f"{path}?{query_}")["shares"]) == number, query
    assert len(api.get("/shares?name=ab", version="2.35")["shares"]) == 1


ZONES = "availability_zones"
SORT_KEYS = (
    "id", "status", "size", "host", "share_proto", "availability_zone", "user_id", "project_id",
    "created_at", "updated_at", "display_name", "name", "share_type_id", "share_type",
    "share_network_id", "share_network", "snapshot_id", "snapshot",
)  # fmt: skip


@pytest.mark.parametrize("key", SORT_KEYS)
def test_sort_keys(api, key):
    """C135: all that are documented, with those without a value on one side."""
    for number, name in enumerate(("b", "a", None, "c")):
        api.new_share(name=name, size=number + 1, drain=number % 2)
    orders = []
    # Zones are sorted as they are kept: by their ids.
    zones = {zone["name"]: zone["id"] for zone in api.get("/availability-zones").body[ZONES]}
    for direction in ("asc", "desc"):
        path = f"/shares/detail?sort_key={key}&sort_dir={direction}"
        answer = api.get(path, as_=ADMIN)
        assert answer.status == 200, answer.body
        both = api.get(f"{path}&all_tenants=1", as_=ADMIN)["shares"]
        shown = {"display_name": "name", "share_type_id": "share_type"}.get(key, key)
        values = [zones.get(share.get(shown), share.get(shown)) for share in both]
        orders.append(values)
        known = [value for value in values if value is not None]
        assert known == sorted(known, reverse=direction == "desc")
        gaps = [value is None for value in values]
        assert gaps in (sorted(gaps), sorted(gaps, reverse=True))
    assert len(orders[0]) == 4


def test_an_unknown_sort_key_is_refused(api):
    """C135"""
    for key in ("banana", "", "id%3Bdrop", "__class__", "metadata"):
        assert api.get(f"/shares?sort_key={key}").status == 400, key
    assert api.get("/shares?sort_dir=sideways").status == 400


# -- links and ids -----------------------------------------------------------------------------


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


def test_the_flag_of_a_type_is_asked_by_one_name_and_answered_by_two(api):
    """C150"""
    id = a_type(api, "n1")
    body = {"name": "n2", "share_type_access:is_public": False, "description": "d"}
    answer = api.put(f"/types/{id}", {"share_type": body}, as_=ADMIN, version="2.50")
    assert answer.status == 200, answer.body
    shown = answer["share_type"]
    assert (shown["name"], shown["description"]) == ("n2", "d")
    assert shown["share_type_access:is_public"] is False
    assert "is_default" in shown


def test_no_rules_are_an_empty_list(api):
    """C151"""
    share = api.new_share()
    assert api.get(f"/share-access-rules?share_id={share}").body == {"access_list": []}


# -- metadata ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.0", "2.50", "2.99"])
def test_metadata_of_a_new_share_are_kept(api, version):
    """C152"""
    metadata = {"autogrow": "80", "kéy": "v"}
    answer = create(api, version=version, metadata=metadata)
    assert answer["share"]["metadata"] == metadata
    path = f"/shares/{answer['share']['id']}/metadata"
    assert api.get(path, version=version).body == {"metadata": metadata}


def test_one_item_of_metadata_has_one_shape(api):
    """C158"""
    share = api.new_share(metadata={"k": "v"})
    export = api.get(f"/shares/{share}/export_locations")["export_locations"][0]["id"]
    paths = (f"/shares/{share}", f"/shares/{share}/export_locations/{export}")
    assert api.post(f"{paths[1]}/metadata", {"metadata": {"k": "v"}}).status == 200
    for path in paths:
        assert api.get(f"{path}/metadata/k").body == {"meta": {"k": "v"}}
        assert api.get(f"{path}/metadata/absent").status == 404


def test_nothing_stays_behind(api):
    """C160: of a share that is gone only its own rows remain, until they are purged."""
    for number in range(5):
        share = api.new_share(metadata={"k": str(number)})
        rule = {"access_type": "ip", "access_to": "10.0.0.1", "metadata": {"m": "n"}}
        api.act(share, "allow_access", rule)
        api.drain()
        export = api.get(f"/shares/{share}/export_locations")["export_locations"][0]["id"]
        pair = {"metadata": {"k": "v"}}
        api.post(f"/shares/{share}/export_locations/{export}/metadata", pair)
        assert api.delete(f"/shares/{share}").status == 202
        api.drain()
    for model in (models.AccessRule, models.AccessMapping, models.ExportLocation):
        assert api.count(model) == 0, model
    assert api.get(f"/shares/{share}/metadata").status == 404
    api.check()
