"""What is declared is what the contract says; what is not declared yet is listed."""

from __future__ import annotations

import sys

import contract
import pytest

from fileshare.api.microversions import HISTORY
from fileshare.api.policy import all_operations, declared
from fileshare.api.rules import BASE

DECLARED = sorted(set(contract.operations()) & set(contract.routes()))
declared_routes = pytest.mark.parametrize("id", DECLARED)


def pair(id):
    return contract.routes()[id], contract.operations()[id]


def test_nothing_is_declared_that_the_contract_does_not_know():
    assert sorted(set(contract.operations()) - set(contract.routes())) == []


def test_what_is_missing_is_told(capsys):
    missing = sorted(set(contract.routes()) - set(contract.operations()))
    with capsys.disabled():
        sys.stdout.write(f"\n{len(DECLARED)} operations declared, {len(missing)} still missing\n")
        sys.stdout.writelines(f"  still missing: {id}\n" for id in missing)
    assert len(missing) + len(DECLARED) == len(contract.routes())


@declared_routes
def test_route(id):
    route, operation = pair(id)
    assert contract.ours(operation) == contract.wire(route)


@declared_routes
def test_request(id):
    route, operation = pair(id)
    assert contract.our_request(operation) == contract.wire_request(route)


@declared_routes
def test_query(id):
    route, operation = pair(id)
    assert contract.our_query(operation) == contract.wire_query(route)


@declared_routes
def test_response(id):
    route, operation = pair(id)
    assert contract.our_response(operation) == contract.wire_response(route)


def test_microversions_are_the_contract_s():
    assert list(HISTORY) == [entry["v"] for entry in contract.load("microversions")["versions"]]


RULES = {rule["name"]: rule for rule in contract.load("policies")["rules"]}
DECLARED_RULES = declared(all_operations())


def facts(rule):
    old = rule.deprecated_check
    return {
        "check": rule.check,
        "scope": list(rule.scope) if rule.scope else None,
        "old": None if old is None else (rule.old_name or rule.name, old, rule.old_since),
    }


def wire_facts(rule):
    old = rule["deprecated"]
    return {
        "check": rule["check"],
        "scope": rule["scope"],
        "old": None if old is None else (old["name"], old["check"], old["since"]),
    }


def test_base_rules():
    assert {rule.name: facts(rule) for rule in BASE} == {
        rule["name"]: wire_facts(rule) for rule in contract.load("policies")["base_rules"]
    }


def test_no_rule_is_ours_alone():
    assert sorted(set(DECLARED_RULES) - set(RULES)) == []


@pytest.mark.parametrize("name", sorted(DECLARED_RULES))
def test_rule(name):
    assert facts(DECLARED_RULES[name]) == wire_facts(RULES[name])


def test_every_mentioned_rule_is_declared():
    """A rule that is mentioned by name only must be declared by the module that owns it."""
    known = set(DECLARED_RULES) | {rule.name for rule in BASE}
    mentioned = {
        contract.name_of(rule) for operation in all_operations() for rule in operation.policy
    }
    owners = {
        name
        for name in mentioned - known
        if not any(route in DECLARED for route in first_routes(name))
    }
    assert mentioned - known - owners == set()


def first_routes(name):
    """The routes whose main rule this is: their module declares it."""
    return [id for id, route in contract.routes().items() if route["policies"][:1] == [name]]
