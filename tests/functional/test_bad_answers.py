"""B04, B14: a driver that answers about one share what cannot be read holds no other one up."""

from __future__ import annotations

import pytest
from inprocess import ADMIN, HOST, running

from fileshare.drivers.model import AccessResult, Export
from fileshare.share.ensure import Watch
from fileshare.share.reconciler import Reconciler

ALPHA = f"{HOST}@alpha"
ANSWERS = {
    "nothing": None,
    "no path": [Export(path=None)],
    "a path that is too long": [Export(path="x" * 2001)],
    "a path that is no text": [Export(path="x\udcff")],
    "a path with a zero": [Export(path="x\x00")],
    "metadata that are no text": [Export(path="x", metadata={"a": "\udcff"})],
    "metadata that are none": [Export(path="x", metadata={"a": {1}})],
}


@pytest.fixture
def alpha(tmp_path):
    with running(tmp_path, backends=("alpha",)) as made:
        yield made


@pytest.fixture
def shares(alpha):
    """By the order in which a walk comes to them."""
    made = [alpha.new_share() for _ in range(3)]
    return sorted(made, key=lambda share_id: alpha.read_share(share_id).instance.id)


def spoil(program, method, share_id, answer):
    """Let the driver answer so about one share; the instances that it is asked about."""
    driver, asked = program.drivers["alpha"], []
    real, spoilt = getattr(driver, method), program.read_share(share_id).instance.id

    def call(share, *arguments):
        asked.append(share.id)
        return answer if share.id == spoilt else real(share, *arguments)

    setattr(driver, method, call)
    return asked


def statuses(program, shares):
    return [program.show(share)["status"] for share in shares]


def walk(program):
    assert Watch(program.runtime, ALPHA, program.drivers["alpha"]).look()
    program.drain()


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_walk_comes_to_every_share(alpha, shares, answer):
    asked = spoil(alpha, "ensure", shares[0], answer)
    walk(alpha)
    assert len(asked) == len(shares)
    assert statuses(alpha, shares) == ["error", "available", "available"]
    assert not Watch(alpha.runtime, ALPHA, alpha.drivers["alpha"]).look()


def test_so_does_the_reconciler(alpha, shares):
    asked = spoil(alpha, "ensure", shares[0], None)
    Reconciler(alpha.runtime, ALPHA, alpha.drivers["alpha"]).look()
    assert len(asked) == len(shares)


@pytest.mark.parametrize("answer", [None, AccessResult(rules=None)], ids=str)
def test_rules_are_tried_once_more(alpha, shares, answer):
    asked = spoil(alpha, "apply_access", shares[0], answer)
    walk(alpha)
    assert len(set(asked)) == len(shares)
    assert statuses(alpha, shares) == ["available"] * len(shares)
    rules = [alpha.show(share)["access_rules_status"] for share in shares]
    assert rules == ["error", "active", "active"]


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_a_share_is_made_somewhere_else(program, answer):
    """And what one back end may have made of it is removed."""
    alpha = program.drivers["alpha"]
    real = alpha.create

    def create(share):
        real(share)
        return answer

    alpha.create = create
    hint = {"only_host": f"{ALPHA}#pool"}
    failed = program.new_share(as_=ADMIN, scheduler_hints=hint)
    assert program.show(failed)["status"] == "error"
    made = [program.new_share() for _ in range(3)]
    assert set(statuses(program, made)) == {"available"}
    assert alpha.instances() == {}
