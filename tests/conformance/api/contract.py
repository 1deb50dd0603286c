"""The contract as data, and the declarations in the same terms."""

from __future__ import annotations

import functools
from pathlib import Path

import yaml

from fileshare.api.fields import FREE, is_variable
from fileshare.api.microversions import ALWAYS, MAX, VERSIONS, Span
from fileshare.api.resource import Many, One
from fileshare.api.resources import all_resources

CONTRACT = Path(__file__).parents[2] / "contract"
PLAIN = {"extensions.create", "extensions.delete"}  # routed and never served: no operation


@functools.cache
def load(name):
    return yaml.safe_load((CONTRACT / f"{name}.yaml").read_text())


def routes():
    return {route["id"]: route for route in load("routes")["routes"] if route["id"] not in PLAIN}


def operations():
    return {operation.id: operation for resource in all_resources() for operation in resource}


def span_of(since, until):
    return Span(VERSIONS[since or "2.0"], VERSIONS[until] if until else None)


def versions(span, within=ALWAYS):
    """The minor numbers of a span, within that of its operation."""
    first = max(span.since, within.since).minor
    return frozenset(range(first, min(span.last, within.last, MAX).minor + 1))


def fields_of_contract(entries, within):
    """name → (versions, flags) of a list of fields, without those that are never in force."""
    if isinstance(entries, str):
        entries = load("routes")["field_sets"][entries[1:]]
    found = {}
    for entry in entries or []:
        there = versions(span_of(entry.get("since"), entry.get("until")), within)
        if there:
            found[entry["n"]] = there
    return found


def fields_of_table(fields, within):
    found = {}
    for field in fields:
        there = versions(field.span, within)
        if there:
            found[field.name] = found.get(field.name, frozenset()) | there
    return found


def gates_of_contract(entries):
    if isinstance(entries, str):
        entries = load("routes")["field_sets"][entries[1:]]
    return {
        e["n"]: e.get("policy") or "admin"
        for e in entries or []
        if e.get("admin") or e.get("policy")
    }


def gates_of_table(fields):
    return {
        f.name: name_of(f.policy) if f.policy else "admin" for f in fields if f.admin or f.policy
    }


def name_of(rule):
    return rule if isinstance(rule, str) else rule.name


def wire(route):
    """What a route of the contract says of method, path, versions, status and policies."""
    within = span_of(route["min"], route["max"])
    actions = [(a["name"], span_of(a["min"], a["max"])) for a in route.get("action", [])]
    return {
        "method": route["method"],
        "path": route["path"],
        "versions": versions(within),
        "experimental": [versions(span_of(*pair)) for pair in route["experimental"]],
        "actions": {name: versions(span) for name, span in actions},
        "status": route["success"],
        "main policy": route["policies"][:1],
        "policies": set(route["policies"]),
    }


def ours(operation):
    return {
        "method": operation.method,
        "path": operation.path,
        "versions": versions(operation.span),
        "experimental": [versions(span, operation.span) for span in operation.experimental],
        "actions": {name: versions(span) for name, span in operation.actions},
        "status": operation.status,
        "main policy": [name_of(rule) for rule in operation.policy[:1]],
        "policies": {name_of(rule) for rule in operation.policy},
    }


def wire_request(route):
    request = route["request"]
    if request is None:
        return None
    within = span_of(route["min"], route["max"])
    fields = fields_of_contract(request["fields"], within)
    required = {f["n"] for f in request["fields"] if f.get("req") and f["n"] in fields}
    return {
        "wrapper": request["wrapper"],
        "aliases": {request["also_accepted"]} if "also_accepted" in request else set(),
        "fields": fields,
        "required": required,
        "strict": request.get("additional") is False
        or any(error["when"] == "unknown key" for error in route["errors"]),
        "null": request.get("nullable", False) or "value" in request,
    }


def our_request(operation):
    body = operation.body
    if body is None:
        return None
    free = {f.name for f in body.fields if f.name == FREE}
    required = {f.name for f in body.fields if f.required or is_variable(f.name)} - free
    return {
        "wrapper": body.key,
        "aliases": set(body.aliases),
        "fields": fields_of_table(body.fields, operation.span),
        "required": required,
        "strict": body.unknown == "reject",
        "null": body.nullable or body.anything or body.value is not None,
    }


def wire_response(route):
    response = route["response"]
    if response is None:
        return None
    within = span_of(route["min"], route["max"])
    return {
        "kind": response["kind"],
        "wrapper": response["wrapper"],
        "also": response.get("also_wrapped_as"),
        "links": response.get("links"),
        "count_since": response.get("count_since"),
        "fields": fields_of_contract(response["fields"], within),
        "gates": gates_of_contract(response["fields"]),
    }


def our_response(operation):
    answer = operation.answer
    if answer is None:
        return None
    assert isinstance(answer, (One, Many))
    many = isinstance(answer, Many)
    return {
        "kind": "list" if many else "object",
        "wrapper": answer.key,
        "also": answer.also,
        "links": answer.links if many else None,
        "count_since": answer.count_since if many else None,
        "fields": fields_of_table(answer.view.fields, operation.span),
        "gates": gates_of_table(answer.view.fields),
    }


def wire_query(route):
    return fields_of_contract(route["query"], span_of(route["min"], route["max"]))


# Parameters that are taken beyond the contract: links to a next page carry it, so it is honoured.
BEYOND = {"marker"}


def our_query(operation):
    fields = tuple(field for field in operation.query.fields if field.name not in BEYOND)
    return fields_of_table(fields, operation.span)
