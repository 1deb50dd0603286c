"""The connection is lost during the commit: nobody can say whether it was done."""

from __future__ import annotations

import pytest
from inprocess import MEMBER
from oslo_db import exception as db_exception


@pytest.fixture
def lose_commits(api, monkeypatch):
    """Lose the connection at the next commits, after or before the server has done them."""
    lost = []

    def lose(done, times=1):
        engine = api.sessions.engine
        commit = engine.dialect.do_commit

        def do_commit(connection):
            if len(lost) < times:
                lost.append(done)
                if done:
                    commit(connection)
                else:
                    engine.dialect.do_rollback(connection)
                raise db_exception.DBConnectionError
            commit(connection)

        monkeypatch.setattr(engine.dialect, "do_commit", do_commit)

    lose.lost = lost
    return lose


@pytest.mark.parametrize("done", [True, False], ids=["done", "not-done"])
def test_a_create_is_made_once(api, lose_commits, done):
    lose_commits(done)
    body = {"share_proto": "NFS", "size": 1, "share_type": "default"}
    answer = api.post("/shares", {"share": body}, as_=MEMBER)
    assert (answer.status, lose_commits.lost) == (200, [done])
    api.drain()
    shares = api.get("/shares")["shares"]
    assert [share["id"] for share in shares] == [answer["share"]["id"]]
    api.check()


@pytest.mark.parametrize("done", [True, False], ids=["done", "not-done"])
def test_an_outcome_is_recorded_once(api, lose_commits, done):
    id = api.new_share(drain=False)
    lose_commits(done, times=4)
    api.drain()
    api.make_due()
    api.poll()
    assert api.show(id)["status"] == "available"
    api.check()
