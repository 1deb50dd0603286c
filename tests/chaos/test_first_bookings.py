"""The first two charges of a project at once: the rows that count come into being between them."""

from __future__ import annotations

import pytest

from fileshare.db import models, quotas
from fileshare.db.session import Sessions, create_engine
from fileshare.domain.quotas import Charge

pytestmark = [pytest.mark.chaos, pytest.mark.integration]

CHARGE = Charge("project", "user", "type", {"shares": 1, "gigabytes": 2})


@pytest.fixture(params=["mariadb_url", "postgresql_url"])
def sessions(request):
    engine = create_engine(request.getfixturevalue(request.param))
    models.Base.metadata.create_all(engine)
    yield Sessions(engine)
    engine.dispose()


def test_both_of_two_first_charges_are_booked(sessions, monkeypatch):
    real, others = quotas._open_rows, [CHARGE]

    def let_another_in(*arguments):
        # The first booking has found no rows; now somebody else makes all of them.
        if others:
            other = others.pop()
            sessions.run(lambda session: quotas.charge(session, other, {}))
        return real(*arguments)

    monkeypatch.setattr(quotas, "_open_rows", let_another_in)
    sessions.run(lambda session: quotas.charge(session, CHARGE, {}))
    booked = sessions.run(quotas.booked)
    assert booked
    assert booked == {("project", scope, name): 2 * n for scope, name, n in CHARGE.rows()}
