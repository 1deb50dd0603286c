"""What is written for NFS-Ganesha, and what never is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fileshare import errors
from fileshare.drivers.exports.config import (
    Exported,
    Settings,
    bus_text,
    clients_of,
    export_text,
    in_order,
    index_text,
    parse_export,
    server_text,
)

EXPORT = Exported("key", 7, "/srv/a", "/a", (("10.0.0.0/24", "ro"), ("10.0.0.5", "rw")))


def test_the_narrowest_client_comes_first():
    text = export_text(EXPORT)
    assert text.index("Clients = 10.0.0.5; Access_Type = RW") < text.index(
        "Clients = 10.0.0.0/24; Access_Type = RO"
    )
    clients = (("::/0", "rw"), ("0.0.0.0/0", "ro"), ("10.0.0.0/8", "rw"), ("fd00::1", "ro"))
    assert [to for to, _ in in_order(clients)] == ["fd00::1", "10.0.0.0/8", "0.0.0.0/0", "::/0"]


def test_everyone_is_written_as_two_halves_and_read_back_as_one():
    everyone = (("0.0.0.0/0", "rw"), ("::/0", "ro"))
    text = export_text(Exported("key", 7, "/srv/a", "/a", everyone))
    assert "Clients = 0.0.0.0/1, 128.0.0.0/1; Access_Type = RW" in text
    assert "Clients = ::/1, 8000::/1; Access_Type = RO" in text
    told = [("0.0.0.0/1", "rw"), ("128.0.0.0/1", "rw"), ("::/1", "ro"), ("8000::/1", "ro")]
    assert clients_of(told) == set(everyone)
    assert clients_of([("10.0.0.5/32", "rw")]) == {("10.0.0.5", "rw")}


def test_an_export_is_read_back_as_it_was_written():
    assert parse_export("key", export_text(EXPORT)) == EXPORT


def test_an_export_without_clients_is_for_nobody():
    text = export_text(Exported("key", 7, "/srv/a", "/a"))
    assert "CLIENT" not in text
    assert "Access_Type = None;" in server_text(Settings(Path("/state")), "/usr/lib/ganesha")


@pytest.mark.parametrize(
    ("squash", "written"), [("none", "None"), ("root", "Root_Squash"), ("all", "All_Squash")]
)
def test_whose_identity_a_client_loses_is_an_option(squash, written):
    text = server_text(Settings(Path("/state"), squash=squash), "/usr/lib/ganesha")
    assert f"    Squash = {written};" in text


@given(path=st.text(max_size=30), pseudo=st.text(max_size=30), to=st.text(max_size=20))
def test_nothing_breaks_out_of_its_place(path, pseudo, to):
    export = Exported("key", 1, f"/{path}", f"/{pseudo}", ((to, "rw"),))
    try:
        text = export_text(export)
    except errors.DriverError:
        return
    assert text.count("\n") == 8
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(
    "export",
    [
        Exported("key", 1, "/a/../b", "/a"),
        Exported("key", 1, "/a", "/a;\nFSAL"),
        Exported("key", 1, '/a"', "/a"),
        Exported("key", 1, "/a", "/a", (("*", "rw"),)),
        Exported("key", 1, "/a", "/a", (("10.0.0.1", "admin"),)),
    ],
)
def test_what_is_refused(export):
    with pytest.raises(errors.DriverError):
        export_text(export)


def test_a_state_directory_of_a_strange_name_is_refused():
    settings = Settings(Path("/state dir"))
    for text in (bus_text, lambda settings: server_text(settings, "/usr/lib/ganesha")):
        with pytest.raises(errors.DriverError):
            text(settings)
    with pytest.raises(errors.DriverError):
        index_text(['/state/"x"'])
