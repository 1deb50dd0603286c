"""Extra specs as types keep them, and as lists look for them."""

from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.domain import specs


def test_names_of_zones_are_kept_without_blanks():
    given = {specs.ZONES: " a ,b , c", "other": " x "}
    assert specs.normalized(given) == {specs.ZONES: "a,b,c", "other": " x "}
    assert specs.normalized({}) == {}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, True),
        ({"k": "v"}, True),
        ({"k": "other"}, False),
        ({"k": "v", "absent": "v"}, False),
        ({specs.ZONES: "b"}, True),
        ({specs.ZONES: "b, a"}, True),
        ({specs.ZONES: "a,c"}, False),
        ({"k": "v", specs.ZONES: "c"}, False),
    ],
)
def test_a_type_has_specs(wanted, found):
    assert specs.has_all({"k": "v", specs.ZONES: "a,b"}, wanted) is found


def test_a_type_without_zones_has_them_all():
    assert specs.has_all({}, {specs.ZONES: "a"})


def test_the_least_size_is_not_above_the_most():
    specs.validate_sizes({specs.LEAST_SIZE: "2", specs.MOST_SIZE: "2"})
    specs.validate_sizes({specs.LEAST_SIZE: "2"})
    with pytest.raises(errors.InvalidInput):
        specs.validate_sizes({specs.LEAST_SIZE: "3", specs.MOST_SIZE: "2"})


def test_tenants_see_what_every_type_must_say():
    assert set(specs.REQUIRED) <= set(specs.TENANT_VISIBLE)
    assert specs.BACKEND_NAME not in specs.TENANT_VISIBLE
