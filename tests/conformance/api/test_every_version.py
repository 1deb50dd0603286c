"""Every GET at every microversion: what an answer holds is what the contract lists, to the key.

As an administrator and as a member, on objects that are there.  Keys come from the contract and
not from the declarations; a key too many fails like one too few.
"""

from __future__ import annotations

import re

import contract
import pytest
import things_at_hand
from inprocess import ADMIN, MEMBER, PROJECT

from fileshare.api.microversions import HISTORY, VERSIONS

PERSONAS = {"admin": ADMIN, "member": MEMBER}
GETS = sorted(
    id
    for id, operation in contract.operations().items()
    if operation.method == "GET" and id in contract.routes() and not id.startswith("versions.")
)


# There are none, as in the peer: the list is empty, and nothing is found.
EMPTY, ABSENT = {"extensions.index"}, {"extensions.show"}
QUERIES = {
    "resource_locks.index": "?all_projects=1",
    "share_access_rules.index": "?share_id={shares}",
    "share_group_types.index": "?is_public=all",
    "shares.detail": "?all_tenants=1",
    "shares.index": "?all_tenants=1",
}
FOR_MEMBERS = {"project-member", "project-reader", "owner-user"}


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    with things_at_hand.lasting_program(tmp_path_factory.mktemp("versions")) as made:
        yield made


@pytest.fixture(scope="module")
def ids(program):
    found = things_at_hand.Things(program).all()
    return {**found, "quota-sets": PROJECT, "os-quota-sets": PROJECT}


def members_may(route):
    """Whether the main rule of a route lets members of the project pass."""
    rules = {rule["name"]: rule["check"] for rule in contract.load("policies")["rules"]}
    if route["id"].startswith("quota_class_sets."):
        return False  # the rule is for all, the class is nobody's
    checks = [rules[name] for name in route["policies"][:1]]
    return all(set(re.findall(r"[\w-]+", check)) & FOR_MEMBERS for check in checks)


def rows_of(route, body):
    response = route["response"]
    inner = body if response["wrapper"] is None else body[response["wrapper"]]
    if "also_wrapped_as" in response:
        assert body[response["also_wrapped_as"]] == inner
    return inner if response["kind"] == "list" else [inner]


def fields_at(entries, version, is_admin):
    """name → type of a list of fields, as somebody sees it at a version."""
    if isinstance(entries, str):
        entries = contract.load("routes")["field_sets"][entries[1:]]
    return {
        entry["n"]: entry
        for entry in entries
        if VERSIONS[version] in contract.span_of(entry.get("since"), entry.get("until"))
        and (is_admin or not (entry.get("admin") or entry.get("policy")))
    }


def is_of(entry, value):
    """Whether a value is of a field's type."""
    return any(_is_of(kind, entry, value) for kind in split(entry["t"]))


def split(kinds):
    """The alternatives of a type; a bar within brackets separates none."""
    return re.split(r"\|(?![^<({]*[>)}])", kinds)


def _is_of(kind, entry, value):
    name, inside = re.fullmatch(r"(\w+)[<({]?(.*?)[>)}]?", kind).groups()
    if name in PLAIN:
        return PLAIN[name](value)
    if name == "enum":
        statuses = contract.load("statuses")["enums"]
        return value in (statuses[inside] if inside else entry["enum"])
    if name == "list":
        return isinstance(value, list) and all(_part(inside, item) for item in value)
    assert name == "dict", kind
    if not isinstance(value, dict):
        return False
    if "{" in kind:
        return set(value) == set(inside.split(","))
    if "JSON false" in entry.get("note", ""):
        value = {key: item for key, item in value.items() if item is not False}
    return all(not inside or is_of({"t": inside}, item) for item in value.values())


def _part(kind, value):
    """Whether a value is of the type within a list: a plain one, or a set of fields."""
    sets = contract.load("routes")["field_sets"]
    if kind in sets:
        return set(value) == {entry["n"] for entry in sets[kind]}
    return not kind or is_of({"t": kind}, value)


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


PLAIN = {
    "str": lambda value: isinstance(value, str),
    "int": lambda value: type(value) is int,
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "uuid": matches(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "datetime": matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}"),
    "url": matches(r"https?://.+"),
}


def check(row, fields, *about):
    free = [entry for name, entry in fields.items() if name == "*" or name.startswith("{")]
    if free:
        fields = dict.fromkeys(row, free[0])
    assert set(row) == set(fields), about
    for name, entry in fields.items():
        assert is_of(entry, row[name]), (name, entry["t"], row[name], *about)


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("id", GETS)
def test_what_is_shown(program, ids, id, persona):
    route = contract.routes()[id]
    path = route["path"]
    for name, value in things_at_hand.values_of(path, ids).items():
        path = path.replace(f"{{{name}}}", value)
    within = contract.span_of(route["min"], route["max"])
    is_admin = persona == "admin"
    wanted = 200 if is_admin or members_may(route) else 403
    for version in HISTORY:
        answer = program.get(
            path + QUERIES.get(id, "").format(**ids),
            version=version,
            as_=PERSONAS[persona],
            headers={"X-OpenStack-Manila-API-Experimental": "True"},
        )
        served = VERSIONS[version] in within and id not in ABSENT
        assert answer.status == (wanted if served else 404), (version, answer.body)
        if answer.status != 200:
            continue
        rows = rows_of(route, answer.body)
        assert rows or id in EMPTY, version
        fields = fields_at(route["response"]["fields"], version, is_admin)
        for row in rows:
            check(row, fields, id, version)
        if "absolute" in route["response"]:
            parts = fields_at(route["response"]["absolute"], version, is_admin)
            check(rows[0]["absolute"], parts, id, version)
