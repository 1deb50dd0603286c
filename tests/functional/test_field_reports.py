"""What users and operators of such services met with in the field, and what is so here.

Each docstring begins with the number of the report.
"""

from __future__ import annotations

import urllib.parse

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, HOST, MEMBER, PROJECT, STRANGER

from fileshare.api.policy import all_operations
from fileshare.api.resources import services
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
    specs = {"provisioning:min_share_size": "5", "provisioning:max_share_size": "8"}
    id = a_type(api, "large", **specs)
    for version in ("2.61", "2.99"):
        for size, limit in ((1, "5"), (9, "8")):
            refusal = create(api, share_type="large", size=size, version=version)
            assert refusal.status == 400
            assert limit in message_of(refusal)
    assert create(api, share_type="large", size=5)["share"]["size"] == 5
    shown = api.get(f"/types/{id}", as_=MEMBER)["share_type"]["extra_specs"]
    limits = {key: value for key, value in shown.items() if key.startswith("provisioning:")}
    assert limits == {"provisioning:min_share_size": "5", "provisioning:max_share_size": "8"}


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


def test_a_state_that_no_service_has_empties_the_list(api, caplog):
    """C127: and is no error."""
    for query in ("status=banana", "state=banana", "host=banana"):
        assert api.get(f"/services?{query}", as_=ADMIN).body == {"services": []}
    for version in ("2.93", "2.99"):
        caplog.clear()
        answer = api.get("/services?ensuring=banana", as_=ADMIN, version=version)
        assert (answer.status, answer.body) == (200, {"services": []})
        (warning,) = (r.getMessage() for r in caplog.records if r.name == services.__name__)
        assert "ensuring=banana" in warning
    assert api.get("/services?ensuring=banana", as_=ADMIN, version="2.92").status == 200


def test_the_zone_is_a_filter_from_2_97(api):
    """C128"""
    for zone in ("manila-zone-0", "manila-zone-1"):
        api.new_share(availability_zone=zone)
    for version in ("2.97", "2.99"):
        path = "/shares/detail?availability_zone=manila-zone-1"
        one = api.get(path, version=version)["shares"]
        assert [share["availability_zone"] for share in one] == ["manila-zone-1"]
    old = api.get("/shares/detail?availability_zone=manila-zone-1", version="2.96")["shares"]
    assert len(old) == 2
    assert api.get("/shares?availability_zone=nowhere").body["shares"] == []


@pytest.mark.parametrize("path", ["/shares", "/shares/detail"])
def test_all_tenants(api, path):
    """C129: one table of values; and nobody but an operator sees more by it."""
    shares = {as_: api.new_share(as_=as_) for as_ in (MEMBER, STRANGER, ADMIN)}

    def found(value, as_):
        answer = api.get(f"{path}?all_tenants={value}", as_=as_)
        assert answer.status == 200
        return {share["id"] for share in answer["shares"]}

    for value in ("1", "true", "yes", "on", "t", "y", "True"):
        assert found(value, ADMIN) == set(shares.values())
    for value in ("0", "false", "no", "off", "f", "n", "False"):
        assert found(value, ADMIN) == {shares[ADMIN]}
    for value in ("1", "true", "yes", "on", "t", "y", "0", "false", "no", "off", "f", "n"):
        for as_ in (MEMBER, STRANGER):
            assert found(value, as_) == {shares[as_]}


# -- lists -------------------------------------------------------------------------------------


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
    for name in ("name", "description"):
        assert len(api.get(f"/shares?{name}~=ab", version="2.36")["shares"]) == 3


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


def test_the_flag_of_a_type_is_asked_by_one_name_and_answered_by_two(api):
    """C150"""
    id = a_type(api, "n1")
    body = {"name": "n2", "share_type_access:is_public": False, "description": "d"}
    answer = api.put(f"/types/{id}", {"share_type": body}, as_=ADMIN, version="2.50")
    assert answer.status == 200, answer.body
    shown = answer["share_type"]
    assert (shown["name"], shown["description"]) == ("n2", "d")
    old, new = "os-share-type-access:is_public", "share_type_access:is_public"
    for version, name, other in (("2.6", old, new), ("2.7", new, old), ("2.50", new, old)):
        found = api.get(f"/types/{id}", as_=ADMIN, version=version)["share_type"]
        assert found[name] is False
        assert other not in found
    assert shown["share_type_access:is_public"] is False
    assert shown["is_default"] is False


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
