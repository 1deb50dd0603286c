"""Quotas without a database: what a change charges, and which limits may be set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fileshare.domain.quotas import (
    BY_NAME,
    NOT_SET_BY_TYPE,
    PROJECT,
    RESOURCES,
    UNLIMITED,
    Charge,
    check_limit,
    promised,
    resize_amounts,
    share_amounts,
    type_scope,
    user_scope,
)


def test_names_are_unique():
    assert len(BY_NAME) == len(RESOURCES)
    assert set(NOT_SET_BY_TYPE) <= set(BY_NAME)
    assert not any(BY_NAME[name].by_share_type for name in NOT_SET_BY_TYPE)


def test_a_share_charges_its_number_and_size():
    assert share_amounts(5) == {"shares": 1, "gigabytes": 5}
    assert share_amounts(5, replicated=True) == {
        "shares": 1,
        "gigabytes": 5,
        "share_replicas": 1,
        "replica_gigabytes": 5,
    }
    assert resize_amounts(3) == {"gigabytes": 3}
    assert resize_amounts(-3, replicas=2) == {"gigabytes": -3, "replica_gigabytes": -6}


def test_a_charge_touches_project_user_and_type():
    charge = Charge("p", "u", "t", {"shares": 1, "gigabytes": 2, "share_networks": 1})
    rows = list(charge.rows())
    assert rows == sorted(rows)
    assert {(scope, name) for scope, name, _ in rows} == {
        (scope, name)
        for scope in (PROJECT, user_scope("u"), type_scope("t"))
        for name in charge.amounts
    } - {(type_scope("t"), "share_networks")}


def test_a_charge_of_nothing_touches_nothing():
    assert list(Charge("p", "u", None, {"gigabytes": 0}).rows()) == []
    assert not Charge("p", "u", None, {"gigabytes": 0})
    assert {scope for scope, _, _ in Charge("p", amounts={"shares": 1}).rows()} == {PROJECT}


amounts = st.dictionaries(st.sampled_from(sorted(BY_NAME)), st.integers(-99, 99))
charges = st.builds(
    Charge,
    st.just("p"),
    st.sampled_from([None, "u"]),
    st.sampled_from([None, "t"]),
    amounts,
)


@given(charges)
def test_what_is_given_back_is_what_was_booked(charge):
    back = list(charge.reversed().rows())
    assert [(scope, name, -amount) for scope, name, amount in back] == list(charge.rows())
    assert Charge.load(charge.dump()) == charge


@pytest.mark.parametrize(
    ("limit", "least", "most", "fine"),
    [
        (5, 0, UNLIMITED, True),
        (5, 5, 5, True),
        (4, 5, UNLIMITED, False),
        (6, 0, 5, False),
        (0, 0, 0, True),
        (UNLIMITED, 7, UNLIMITED, True),
        (UNLIMITED, 0, 5, False),
    ],
)
def test_limits_have_bounds(limit, least, most, fine):
    assert (check_limit(limit, least, most) is None) is fine


@given(st.integers(-1, 50), st.integers(0, 50), st.integers(-1, 50))
def test_a_limit_that_may_be_set_is_kept_by_what_is_used(limit, least, most):
    if check_limit(limit, least, most) is None:
        assert limit == UNLIMITED or limit >= least
        assert most == UNLIMITED or UNLIMITED < limit <= most


def test_what_a_project_has_promised():
    parts = [
        (user_scope("a"), "shares", 3),
        (user_scope("b"), "shares", 4),
        (user_scope("c"), "shares", UNLIMITED),
        (type_scope("t"), "shares", 8),
        (type_scope("t"), "gigabytes", 9),
        (user_scope("a"), "gigabytes", 2),
        (type_scope("t"), "snapshots", UNLIMITED),
    ]
    assert promised(parts) == {"shares": 7, "gigabytes": 2}
    assert promised([]) == {}
