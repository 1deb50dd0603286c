"""C07: what a back end says of a failure is kept, whatever bytes it says it in."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from inprocess import running

from fileshare import errors
from fileshare.db.models import Intent
from fileshare.drivers.model import AccessResult, RuleResult

TEXTS = {"a zero": "disk\x00full", "no text": b"disk \xff full".decode(errors="surrogateescape")}


@pytest.fixture
def alpha(any_url, tmp_path):
    with running(tmp_path, any_url, backends=("alpha",)) as made:
        yield made


@pytest.fixture(params=TEXTS.values(), ids=TEXTS)
def text(request):
    return request.param


def test_of_work(alpha, text):
    """It fails at once, and operators read why."""

    def fail(*_arguments):
        raise errors.DriverError(operator_text=text)

    share = alpha.new_share()
    alpha.drivers["alpha"].extend = fail
    assert alpha.act(share, "extend", {"new_size": 2}).status == 202
    alpha.drain()
    assert alpha.show(share)["status"] == "extending_error"
    (why,) = alpha.scalars(sa.select(Intent.error).where(Intent.error.is_not(None)))
    assert why.startswith("disk")
    assert why.endswith("full")


def test_of_a_creation(alpha, text):
    """What each pool said is kept for the next one."""

    def fail(*_arguments):
        raise OSError(text)

    alpha.drivers["alpha"].create = fail
    assert alpha.show(alpha.new_share())["status"] == "error"


def test_of_a_rule(alpha, text):
    share = alpha.new_share()
    alpha.drivers["alpha"].apply_access = lambda _share, change: AccessResult(
        {rule.id: RuleResult(error=text) for rule in change.rules}
    )
    rule = {"access_type": "ip", "access_to": "10.0.0.1"}
    assert alpha.act(share, "allow_access", rule).status == 200
    alpha.drain()
    assert alpha.show(share)["access_rules_status"] == "error"
