"""Extensions: a list that older clients ask for and that has always been empty here."""

from __future__ import annotations

from typing import Any

from fileshare import errors
from fileshare.api.fields import Field, View
from fileshare.api.request import Request
from fileshare.api.resource import Many, One, Resource
from fileshare.api.shapes import ANY, TEXT, listing

extensions = Resource("extensions", "/extensions")

EXTENSION = View(
    (
        Field("name", TEXT),
        Field("alias", TEXT),
        Field("description", TEXT),
        Field("updated", TEXT),
        Field("links", listing(ANY)),
    )
)


@extensions.get(answer=Many("extensions", EXTENSION))
def index(request: Request) -> list[Any]:
    """All extensions: everything is part of the core, so there are none."""
    return []


@extensions.get("/{id}", answer=One("extension", EXTENSION))
def show(request: Request, id: str) -> Any:
    """One extension; none is known."""
    raise errors.NotFound(resource="Extension", id=id)
