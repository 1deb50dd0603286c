"""Every operation is declared in full, and every microversion has left its trace."""

from __future__ import annotations

import inspect

import pytest

from fileshare.api import feature
from fileshare.api.fields import is_variable
from fileshare.api.microversions import HISTORY, VERSIONS, WITHOUT_TRACE, Span
from fileshare.api.policy import all_operations
from fileshare.api.resource import check
from fileshare.api.rules import Rule
from fileshare.api.shapes import ANY

OPERATIONS = all_operations()
OPEN = {"versions.all", "versions.index", "extensions.index", "extensions.show", "limits.index"}
each = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)


def fields(operation):
    yield from operation.query.fields
    if operation.body is not None:
        yield from operation.body.fields
        if operation.body.value is not None:
            yield operation.body.value
    if operation.answer is not None:
        yield from operation.answer.view.fields


def test_spans_neither_overlap_nor_leave_gaps():
    check(OPERATIONS)


@each
def test_it_has_a_policy_a_docstring_and_shapes(operation):
    assert operation.doc.endswith("."), "the handler's docstring is the manual's text"
    assert operation.policy or operation.id in OPEN
    for field in fields(operation):
        assert field.shape is not ANY or field.name == "*", f"{field.name} has no shape"


@each
def test_fields_of_one_name_do_not_meet(operation):
    tables = [operation.query.fields]
    tables.append(operation.body.fields if operation.body else ())
    tables.append(operation.answer.view.fields if operation.answer else ())
    for table in tables:
        for index, one in enumerate(table):
            for two in table[index + 1 :]:
                assert one.name != two.name or not one.span.meets(two.span), one.name


@each
def test_path_and_body_do_not_collide(operation):
    named = operation.body.arguments() if operation.body else set()
    assert not named & set(operation.variables)
    for field in operation.body.fields if operation.body else ():
        if is_variable(field.name):
            assert field.name[1:-1] in operation.variables


def test_rules_have_descriptions():
    for operation in OPERATIONS:
        for rule in operation.policy:
            if isinstance(rule, Rule):
                assert rule.about.endswith(".")


def ends(span):
    yield span.since
    if span.until is not None:
        following = f"2.{span.until.minor + 1}"
        if following in VERSIONS:
            yield VERSIONS[following]


def mentioned():
    spans = [value for _, value in inspect.getmembers(feature) if isinstance(value, Span)]
    for operation in OPERATIONS:
        spans += [operation.span, *operation.experimental]
        spans += [span for _, span in operation.actions]
        spans += [field.span for field in fields(operation)]
        since = getattr(operation.answer, "count_since", None)
        spans += [Span(VERSIONS[since])] if since else []
    return {str(version) for span in spans for version in ends(span)}


def test_every_declared_version_is_listed():
    assert mentioned() <= set(HISTORY)


def test_every_version_has_left_a_trace(declared_everything):
    assert sorted(set(HISTORY) - mentioned() - WITHOUT_TRACE, key=VERSIONS.get) == []


@pytest.fixture
def declared_everything():
    """Skip while resources are missing; which ones, tests/conformance/api says."""
    if len(OPERATIONS) < 243:
        pytest.skip(f"{len(OPERATIONS)} of 243 operations are declared")
