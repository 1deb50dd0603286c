"""The connection is lost during the commit: nobody can say whether it was done."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, MEMBER
from oslo_db import exception as db_exception


@pytest.fixture
def lose_commits(api, monkeypatch):
    """Lose the connection at the next commits, after or before the server has done them.

    The first *after* ones are not lost.
    """
    lost = []

    def lose(done, times=1, after=0):
        passed = []
        engine = api.sessions.engine
        commit = engine.dialect.do_commit

        def do_commit(connection):
            if len(passed) < after:
                passed.append(done)
            elif len(lost) < times:
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


TYPE = {"name": "gold", "extra_specs": {"driver_handles_share_servers": "False"}}


def make_type(api):
    return api.post("/types", {"share_type": TYPE}, as_=ADMIN)


def lock(api, share):
    return api.post("/resource-locks", {"resource_lock": {"resource_id": share}})


def grant(api, share):
    rule = {"access_type": "ip", "access_to": "10.0.0.1"}
    return api.act(share, "allow_access", rule)


@pytest.mark.parametrize("done", [True, False], ids=["done", "not-done"])
def test_a_lock_is_made_once(api, lose_commits, done):
    share = api.new_share()
    lose_commits(done)
    answer = lock(api, share)
    assert (answer.status, lose_commits.lost) == (200, [done])
    (found,) = api.get("/resource-locks")["resource_locks"]
    assert found["id"] == answer["resource_lock"]["id"]


@pytest.mark.parametrize("done", [True, False], ids=["done", "not-done"])
def test_a_type_is_made_once(api, lose_commits, done):
    lose_commits(done)
    answer = make_type(api)
    assert (answer.status, lose_commits.lost) == (200, [done])
    found = [kind["id"] for kind in api.get("/types")["share_types"] if kind["name"] == "gold"]
    assert found == [answer["share_type"]["id"]]


@pytest.mark.parametrize("done", [True, False], ids=["done", "not-done"])
@pytest.mark.parametrize("busy", [True, False], ids=["beside-another", "alone"])
def test_a_rule_is_made_once(api, lose_commits, done, busy):
    """Also where the work on another one will see to it."""
    share = api.new_share()
    if busy:
        api.act(share, "allow_access", {"access_type": "ip", "access_to": "10.0.0.9"})
    lose_commits(done)
    answer = grant(api, share)
    assert (answer.status, lose_commits.lost) == (200, [done])
    api.drain()
    found = api.get(f"/share-access-rules?share_id={share}")["access_list"]
    assert answer["access"]["id"] in {rule["id"] for rule in found}
    assert len(found) == 1 + busy
    api.check()


def soft_delete(api, share):
    return lambda: api.act(share, "soft_delete")


def unlock(api, share):
    lock_id = lock(api, share)["resource_lock"]["id"]
    return lambda: api.delete(f"/resource-locks/{lock_id}")


def remove_type(api, _share):
    type_id = make_type(api)["share_type"]["id"]
    return lambda: api.delete(f"/types/{type_id}", as_=ADMIN)


def remove_metadata(api, share):
    api.post(f"/shares/{share}/metadata", {"metadata": {"a": "b"}})
    return lambda: api.delete(f"/shares/{share}/metadata/a")


@pytest.mark.parametrize("done", [True, False], ids=["done", "not-done"])
@pytest.mark.parametrize(
    ("prepare", "reads"), [(soft_delete, 0), (unlock, 1), (remove_type, 0), (remove_metadata, 0)]
)
def test_what_may_be_done_is_never_refused(api, lose_commits, prepare, reads, done):
    """A second try finds it done and cannot tell by whom: the caller is told so, not «no».

    *reads* are the transactions before the one that writes.
    """
    ask = prepare(api, api.new_share())
    lose_commits(done, after=reads)
    answer = ask()
    assert lose_commits.lost == [done]
    if done:
        assert (answer.status, answer["serviceUnavailable"]["code"]) == (503, 503)
        assert 400 <= ask().status < 500
    else:
        assert answer.status in {200, 202, 204}


def test_what_is_refused_without_a_loss_stays_refused(api, lose_commits):
    share = api.new_share()
    lose_commits(done=False)
    assert api.get(f"/shares/{share}").status == 200  # this one's commit is lost
    assert api.act(share, "restore").status == 200
    assert api.act(share, "extend", {"new_size": 1}).status == 400


def test_a_database_that_stays_away_from_a_commit_on(api, lose_commits):
    """Whether it was done cannot be told, and so the caller hears that."""
    share = api.new_share()
    lose_commits(done=False, times=1000)
    answer = soft_delete(api, share)()
    assert (answer.status, answer.body["serviceUnavailable"]["code"]) == (503, 503)
    assert "Look whether it was done" in answer.body["serviceUnavailable"]["message"]


def test_no_connection_is_free_after_a_lost_commit(api, lose_commits, monkeypatch):
    """The pool's own limit says as little about the commit as the server's silence."""
    share = api.new_share()
    once, asked = api.sessions._once, []

    def run(work):
        asked.append(work if lose_commits.lost else None)
        if sum(map(bool, asked)) > 1:  # the first one looks whether it was done
            raise sa.exc.TimeoutError
        return once(work)

    monkeypatch.setattr(api.sessions, "_once", run)
    lose_commits(done=False)
    answer = soft_delete(api, share)()
    assert answer.status == 503
    assert "Look whether it was done" in answer.body["serviceUnavailable"]["message"]


@pytest.mark.parametrize("lost", [db_exception.DBConnectionError, db_exception.DBDeadlock])
def test_a_database_that_is_away(api, monkeypatch, lost):
    """Nothing was done, and it may be asked for again."""

    def run(*_args, **_kwargs):
        raise lost

    monkeypatch.setattr(api.sessions, "_once", run)
    answer = api.get("/shares")
    message = "The database does not answer at the moment. Ask again later."
    assert answer.status == 503
    assert answer.body == {"serviceUnavailable": {"code": 503, "message": message}}
