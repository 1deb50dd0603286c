"""What is refused when the program starts, and versions as values."""

from __future__ import annotations

import pytest

from fileshare import errors
from fileshare.api.fields import ACTION, Body, Field
from fileshare.api.microversions import (
    HISTORY,
    MAX,
    MIN,
    VERSIONS,
    Version,
    before,
    negotiate,
    span,
)
from fileshare.api.resource import DeclarationError, Resource, check
from fileshare.api.routing import Router


def handler(request, **values):
    """Do something."""


def declare(*rows):
    things = Resource("things", "/things")
    for number, row in enumerate(rows):
        things.get(id=f"n{number}", **row)(handler)
    return list(things)


def test_overlap():
    with pytest.raises(DeclarationError, match="overlap"):
        check(declare({"until": "2.6"}, {"since": "2.6"}))


def test_gap():
    with pytest.raises(DeclarationError, match="gap"):
        check(declare({"until": "2.5"}, {"since": "2.7"}))


def test_neighbours():
    check(declare({"since": "2.7"}, {"until": "2.6"}))


def test_variables_of_other_names_are_the_same_path():
    things = Resource("things", "/things")
    things.get("/{id}", id="a")(handler)
    things.get("/{thing_id}", id="b")(handler)
    with pytest.raises(DeclarationError, match="overlap"):
        check(list(things))


def test_ids_are_unique():
    with pytest.raises(DeclarationError, match="twice"):
        check(declare({}) + declare({}))


def test_an_action_under_two_names():
    things = Resource("things", "/things")
    things.action("grow", renamed="2.7", body=Body(ACTION, anything=True))(handler)
    (operation,) = things
    assert operation.id == "things.action.grow"
    assert [(name, str(served)) for name, served in operation.actions] == [
        ("os-grow", "2.0-2.6"),
        ("grow", "2.7-"),
    ]
    check(list(things))


def test_handlers_take_what_they_are_given():
    things = Resource("things", "/things")
    with pytest.raises(DeclarationError, match="new_size"):

        @things.action("extend", body=Body(ACTION, (Field("new_size"),)))
        def extend(request, id):
            pass

    with pytest.raises(DeclarationError, match="id"):

        @things.get("/{id}")
        def show(request):
            pass


def test_unlisted_versions():
    with pytest.raises(KeyError):
        span("2.100")
    with pytest.raises(KeyError):
        span("3.0")


def test_legacy_paths():
    things = Resource("things", "/things", legacy="/os-things")
    things.get("/{id}", id="show")(handler)
    things.get("/{id}/more", id="more", since="2.25")(handler)
    things.post("/manage", id="manage", legacy="/os-thing-manage")(handler)
    found = {op.id: (op.path, str(op.span)) for op in things}
    assert found == {
        "things.show.legacy": ("/os-things/{id}", "2.0-2.6"),
        "things.show": ("/things/{id}", "2.7-"),
        "things.more": ("/things/{id}/more", "2.25-"),
        "things.manage.legacy": ("/os-thing-manage", "2.0-2.6"),
        "things.manage": ("/things/manage", "2.7-"),
    }


def test_a_literal_segment_wins():
    things = Resource("things", "/things")
    things.get("/{id}", id="show")(handler)
    things.get("/detail", id="detail")(handler)
    things.get("/{id}/{key}", id="key")(handler)
    things.get("/{id}/more", id="more")(handler)
    router = Router([things], "[0-9a-f]+")

    def found(path):
        return router.match("GET", path).operations[0].id

    assert found("/things/detail") == "things.detail"
    assert found("/things/other") == "things.show"
    assert found("/things/x/more") == "things.more"
    assert found("/abc/things/x/y") == "things.key"
    assert router.match("GET", "/things/a%2Fb").variables == {"id": "a%2Fb"}


def test_a_hundred_versions_in_order():
    assert list(HISTORY) == [f"2.{minor}" for minor in range(100)]
    assert (str(MIN), str(MAX)) == ("2.0", "2.99")
    assert all(text.endswith(".") for text in HISTORY.values())
    assert before("2.7") == "2.6"


def test_versions_compare_as_numbers():
    assert VERSIONS["2.9"] < VERSIONS["2.10"] < Version(3, 0)
    assert VERSIONS["2.10"] in span("2.9", "2.10")
    assert VERSIONS["2.11"] not in span("2.9", "2.10")
    assert negotiate(None) == MIN
    with pytest.raises(errors.UnsupportedVersion):
        negotiate("2.100")
    with pytest.raises(errors.InvalidVersion):
        negotiate("2.x")
