"""No text of a spec or formula does anything but answer."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fileshare.domain import expressions, hosts, specs

SIGNS = (*"+-*/^()<>!?:,", "==", "<=", "<>")
VALUES = ("true", "share.size", "extra.a", "1", "2.5", "9e99", "'x'")
words = st.sampled_from([*SIGNS, *VALUES, "and", "or", "not", "max"])
NAMES = {"share": {"size": 3}, "extra": {"a": "text"}}
numbers = st.integers(min_value=-1000, max_value=1000)


@given(st.lists(words, max_size=40).map(" ".join) | st.text(max_size=60))
@example("(" * 3000)
@example("-" * 3000 + "1")
@example("not " * 900 + "1")
@example("1 ? " * 120 + "1")
@example("2 ^ " * 120 + "2")
def test_any_text_has_a_value_or_an_expression_error(text):
    try:
        value = expressions.parse(text).value(NAMES)
    except expressions.ExpressionError:
        return
    assert isinstance(value, (bool, int, float, str))


@given(numbers, numbers, numbers)
def test_arithmetic_is_that_of_numbers(a, b, c):
    names = {"a": a, "b": b, "c": c}
    assert expressions.parse("a + b * c - -a").value(names) == a + b * c + a
    assert expressions.parse("a < b").value(names) == (a < b)
    assert expressions.parse("a <= b and not b < c or c == a").value(names) == (
        (a <= b and not b < c) or c == a
    )
    assert expressions.parse("max(a, b, c) >= min(a, b)").value(names) is True


@given(
    st.text(max_size=30), st.none() | st.booleans() | st.text(max_size=10) | st.floats() | numbers
)
def test_any_spec_has_an_answer(value, capability):
    assert specs.matches(value, capability) in (True, False)
    specs.capabilities_match({"key": value, "capabilities:a:b": value}, {"key": capability})


operators = st.sampled_from(["==", ">=", "<=", "!="])


@given(operators, numbers, numbers)
def test_numeric_operators(operator, wanted, capability):
    told = specs.matches(f"{operator} {wanted}", capability)
    assert told == expressions.parse(f"a {operator} b").value({"a": capability, "b": wanted})


part = st.text(alphabet=st.characters(exclude_characters="@#"), min_size=1, max_size=8)


@given(part, st.none() | part, st.none() | part)
def test_hosts_survive_the_way_through_text(node, backend, pool):
    location = hosts.Location(node, backend, pool)
    assert hosts.parse(str(location)) == location
    with pytest.raises(AttributeError):
        location.node = "other"
