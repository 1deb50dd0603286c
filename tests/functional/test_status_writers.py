"""The watch over who writes statuses, which every other functional test is under."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from fileshare.db import shares
from fileshare.db.models import Share
from fileshare.db.query import ALL


@pytest.mark.parametrize("column", ["status", "access_rules_status"])
def test_a_status_that_another_module_writes_is_seen(program, share, column):
    def write(session):
        shares.update(session, ALL, share, {column: "error"})

    with pytest.raises(AssertionError, match=r"db/shares\.py writes to shares"):
        program.sessions.run(write)
    assert program.show(share)[column] != "error"


def test_a_test_may_write_what_it_likes(program, share):
    program.write(sa.update(Share).values(status="error"))
    assert program.show(share)["status"] == "error"
