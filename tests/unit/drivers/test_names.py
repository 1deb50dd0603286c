"""What may become part of a path or a configuration file."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fileshare import errors
from fileshare.drivers import names


@pytest.mark.parametrize(
    ("to", "canonical"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("10.0.0.1/32", "10.0.0.1"),
        ("10.0.0.7/24", "10.0.0.0/24"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("::/0", "::/0"),
        ("2001:DB8::1", "2001:db8::1"),
        ("2001:db8:0:0::/64", "2001:db8::/64"),
    ],
)
def test_clients_in_canonical_form(to, canonical):
    assert names.checked_client(to) == canonical


@pytest.mark.parametrize(
    "to",
    ["", "*", "host", "@group", "10.0.0.1; }", "10.0.0.1\n", " 10.0.0.1", "fe80::1%eth0", "1"],
)
def test_other_clients_are_refused(to):
    with pytest.raises(errors.InvalidAccess):
        names.checked_client(to)


@given(st.text())
def test_no_client_can_break_out(to):
    try:
        client = names.checked_client(to)
    except errors.InvalidAccess:
        return
    ipaddress.ip_network(client)


@given(st.text())
def test_no_path_can_break_out(text):
    try:
        path = names.checked_path(f"/{text}")
    except errors.DriverError:
        return
    assert not set(path) & set("\n\r\t \"'{};#*?[]\\$%`")
    assert ".." not in path.split("/")


@given(st.text())
def test_no_id_can_break_out(text):
    try:
        id = names.checked_id(text)
    except errors.DriverError:
        return
    assert id.replace("-", "").replace("_", "").isalnum()
    assert id.isascii()


@pytest.mark.parametrize(
    "path", ["/a/../b", "a", "/", "//a", "/a/", "/a b", "/a\n", "/" + "a" * 2000]
)
def test_paths_that_are_refused(path):
    with pytest.raises(errors.DriverError):
        names.checked_path(path)


@pytest.mark.parametrize("path", ["/srv/share_1/a.b-c@d", "/srv/.state/pool", "/srv/a..b"])
def test_a_plain_path_is_taken(path):
    assert names.checked_path(path) == path
