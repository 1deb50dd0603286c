"""Charges, limits and share types that change at one moment, on each kind of database."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa
from inprocess import ADMIN, PROJECT, Program

from fileshare import errors
from fileshare.db import models, quotas
from fileshare.domain.quotas import PROJECT as WHOLE
from fileshare.domain.quotas import Charge

ROUNDS = 10


@pytest.fixture
def program(any_url, tmp_path):
    made = Program(any_url, tmp_path)
    yield made
    made.sessions.dispose()


def put(program, limits, query="", *, project=PROJECT):
    path = f"/quota-sets/{project}{query}"
    return program.put(path, {"quota_set": limits}, as_=ADMIN)


def book(program, amounts, *, user="alice", type_id=None, project=PROJECT):
    """What an operation would charge, without its resource."""
    wanted = Charge(project, user, type_id, amounts)
    defaults = program.runtime.quota_defaults
    program.sessions.run(lambda session: quotas.charge(session, wanted, defaults))


def fresh(number):
    return f"{number:08}-1111-4111-8111-111111111111"


def together(*calls):
    """Run *calls* at one moment; what each answered or raised."""
    start, outcomes = threading.Barrier(len(calls)), [None] * len(calls)

    def run(number, call):
        start.wait()
        try:
            outcomes[number] = call()
        except errors.FileshareError as error:
            outcomes[number] = error.code

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tuple(outcomes)


def test_charges_never_pass_a_limit(program):
    assert put(program, {"shares": 5}).status == 200
    outcomes = together(*[lambda: book(program, {"shares": 1, "gigabytes": 2})] * 8)
    assert sorted(map(str, outcomes)) == ["None"] * 5 + ["quota.exceeded"] * 3
    booked = program.sessions.run(lambda session: quotas.booked(session, PROJECT))
    assert (booked[PROJECT, WHOLE, "shares"], booked[PROJECT, WHOLE, "gigabytes"]) == (5, 10)


@pytest.mark.parametrize("begun", [False, True])
def test_a_limit_and_a_charge_do_not_pass_each_other(program, begun):
    """Either the charge came first and the lower limit is refused, or the other way round."""
    for number in range(ROUNDS):
        project = fresh(number)
        if begun:
            book(program, {"shares": 1}, project=project)
        outcome = together(
            lambda project=project: put(program, {"shares": int(begun)}, project=project).status,
            lambda project=project: book(program, {"shares": 1}, project=project),
        )
        assert outcome in {(400, None), (200, "quota.exceeded")}


def test_limits_of_a_project_and_of_its_user_do_not_pass_each_other(program):
    for number in range(ROUNDS):
        project = fresh(number)
        outcome = together(
            lambda project=project: put(program, {"shares": 5}, project=project).status,
            lambda project=project: (
                put(program, {"shares": 9}, "?user_id=u", project=project).status
            ),
        )
        assert outcome in {(200, 400), (400, 200)}


def test_one_limit_is_set_twice(program):
    for number in range(ROUNDS):
        project = fresh(number)
        outcome = together(
            *(
                lambda n=n, project=project: put(program, {"shares": n}, project=project).status
                for n in (7, 8, 9)
            )
        )
        assert outcome == (200, 200, 200)


def test_a_type_is_deleted_while_a_share_of_it_is_made(program):
    """Either the share is made and the type stays, or the other way round."""
    for number in range(ROUNDS):
        kind = program.share_type(f"race-{number}").id
        share = {"share_proto": "NFS", "size": 1, "share_type": kind}
        outcome = together(
            lambda share=share: program.post("/shares", {"share": share}).status,
            lambda kind=kind: program.delete(f"/types/{kind}", as_=ADMIN).status,
        )
        assert outcome in {(200, 400), (404, 202)}
    program.drain()
    program.check()


def test_a_limit_is_set_for_a_type_that_goes_away(program):
    for number in range(ROUNDS):
        kind = program.share_type(f"race-{number}").id
        limit, deleted = together(
            lambda kind=kind: put(program, {"shares": 9}, f"?share_type={kind}").status,
            lambda kind=kind: program.delete(f"/types/{kind}", as_=ADMIN).status,
        )
        assert (limit in {200, 404}, deleted) == (True, 202)
    for model in (models.QuotaLimit, models.QuotaUsage):
        left = sa.select(model.scope).where(model.scope != WHOLE)
        assert program.sessions.run(lambda session, left=left: session.scalars(left).all()) == []


def test_one_name_is_taken_once(program):
    body = {"share_type": {"name": "n", "extra_specs": {"driver_handles_share_servers": "0"}}}
    outcomes = together(*[lambda: program.post("/types", body, as_=ADMIN).status] * 4)
    assert sorted(outcomes) == [200, 409, 409, 409]


def test_extra_specs_are_set_together(program):
    path = f"/types/{program.share_type().id}/extra_specs"
    bodies = [{"extra_specs": {"a": str(n), "b": str(n)}} for n in range(4)]
    outcomes = together(
        *(lambda body=body: program.post(path, body, as_=ADMIN).status for body in bodies)
    )
    assert outcomes == (200,) * 4
    specs = program.get(path, as_=ADMIN)["extra_specs"]
    assert specs["a"] == specs["b"]
