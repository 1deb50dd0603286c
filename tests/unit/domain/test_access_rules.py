"""Access rules as texts: what is one, and when two are the same."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fileshare import errors
from fileshare.domain import access

addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6))


@st.composite
def networks(draw):
    address = draw(addresses)
    bits = draw(st.integers(0, address.max_prefixlen))
    return ipaddress.ip_network(f"{address}/{bits}", strict=False)


def spellings(network):
    """Ways to write a network."""
    found = [str(network), network.exploded, network.exploded.upper(), f" {network} "]
    if network.version == 4:
        found.append(f"{network.network_address}/{network.netmask}")
    if network.prefixlen == network.max_prefixlen:
        found += [str(network.network_address), network.network_address.exploded]
    return found


@given(networks())
def test_all_spellings_of_a_network_are_one(network):
    clean = [access.validate("ip", text) for text in spellings(network)]
    assert {access.canonical("ip", text) for text in clean} == {str(network)}
    (told,) = {access.for_driver("ip", text) for text in clean}
    assert ipaddress.ip_network(told) == network
    assert told == str(network.network_address) or network.prefixlen < network.max_prefixlen


@given(networks(), networks())
def test_two_networks_are_two(one, two):
    same = access.canonical("ip", str(one)) == access.canonical("ip", str(two))
    assert same is (one == two)


@given(networks())
def test_bits_below_the_mask_are_refused(network):
    if network.num_addresses < 2:
        return
    stray = f"{network[-1]}/{network.prefixlen}"
    with pytest.raises(errors.InvalidInput, match="host bits"):
        access.validate("ip", stray)


@given(st.sampled_from(access.TYPES), st.text(max_size=300))
def test_what_passes_is_clean(access_type, text):
    """Nothing that passes holds what could end a line or a word of a configuration file."""
    try:
        clean = access.validate(access_type, text)
    except errors.InvalidInput:
        return
    assert clean == clean.strip()
    assert 1 <= len(clean) <= 255
    assert len(access.canonical(access_type, clean)) <= 255
    assert clean.isprintable()
    assert not set(clean) & set('\n\r\t"/') or access_type in {"ip", "cert", "cephx"}
    assert access.canonical(access_type, clean) == access.canonical(
        access_type, access.validate(access_type, f" {clean} ")
    )


@pytest.mark.parametrize(
    ("access_type", "text"),
    [("ip", f"10.0.0.0/{'0' * 255}24"), ("user", "\N{DEVANAGARI LETTER QA}" * 200)],
)
def test_what_no_column_holds_is_refused(access_type, text):
    with pytest.raises(errors.InvalidInput, match="255"):
        access.validate(access_type, text)


def test_ipv6_is_refused_before_its_time():
    assert access.validate("ip", "2001:db8::1") == "2001:db8::1"
    with pytest.raises(errors.InvalidInput, match=r"2\.38"):
        access.validate("ip", "2001:db8::1", ipv6=False)
    assert access.validate("ip", "10.0.0.1", ipv6=False) == "10.0.0.1"


def test_unknown_types_are_refused():
    for access_type, cephx in (("host", True), ("cephx", False)):
        with pytest.raises(errors.InvalidInput) as caught:
            access.validate(access_type, "alice", cephx=cephx)
        assert caught.value.facts["field"] == "access_type"


def test_other_types_are_told_as_they_are():
    for access_type in ("user", "cert", "cephx"):
        assert access.for_driver(access_type, "alice") == "alice"


@pytest.mark.parametrize("name", ["try+", "abc", "a/bcd", "a" * 256, "", "    abc", "a:bcd"])
def test_what_is_no_user_name(name):
    with pytest.raises(errors.InvalidInput, match="user or group name"):
        access.validate("user", name)


@pytest.mark.parametrize(
    "name", ["abcd", "DOMAIN\\jane", "jane@example.org", "a.b-c_d$", "a" * 255]
)
def test_what_is_a_user_name(name):
    assert access.validate("user", name) == name
