"""Whose overdue work is found first: one project's flood hides nobody else's."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from fileshare.db import intents
from fileshare.db.clock import after
from fileshare.db.models import Intent
from tests.fixtures.databases import KINDS

pytestmark = pytest.mark.parametrize("kind", KINDS)


def write(session, project, number, age):
    id = f"{project}-{number}"
    values = {"kind": "k", "event": "e", "resource_type": "share", "resource_id": id}
    session.execute(
        sa.insert(Intent).values(
            id=id, destination="here", project_id=project, due=after(-age), **values
        )
    )


def test_the_oldest_of_each_project_comes_first(sessions):
    with sessions.begin() as session:
        for number in range(30):
            write(session, "flood", number, 1000 - number)
        for number in range(2):
            write(session, "small", number, 10 - number)
        write(session, None, 0, 5)

    def due(limit):
        return sessions.run(lambda session: intents.due(session, ["here"], limit))

    ordered = [f"flood-{n}" for n in range(30)] + ["small-0", "small-1", "None-0"]
    assert due(100) == ordered, "all there is: in its order"
    assert due(10) == [
        "flood-0", "small-0", "None-0", "flood-1", "small-1", *(f"flood-{n}" for n in range(2, 7))
    ]  # fmt: skip
    assert sessions.run(lambda session: intents.projects(session, ["flood-1", "None-0"])) == {
        "flood-1": "flood",
        "None-0": None,
    }
