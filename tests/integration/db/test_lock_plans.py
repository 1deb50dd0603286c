"""What MariaDB reads to find locks and failing rules among thousands: counted, not timed."""

from __future__ import annotations

import contextlib

import pytest
import sqlalchemy as sa

from fileshare.db import access, locks
from fileshare.db.models import AccessMapping, AccessRule, ResourceLock, Share, ShareInstance
from fileshare.db.query import ALL, Scope
from fileshare.db.transitions import rule_states
from fileshare.domain.listing import Page
from fileshare.domain.statuses import RulesStatus, RuleState, Status

pytestmark = [pytest.mark.integration, pytest.mark.parametrize("kind", ["mariadb"])]

MANY = 3000
FAILING = 3


@pytest.fixture
def filled(sessions):
    """Shares of many projects, each with a rule that is locked three times."""
    numbers = range(MANY)
    shares = [
        {"id": f"s{n}", "project_id": f"p{n % 50}", "size": 1, "share_proto": "NFS"}
        for n in numbers
    ]
    instances = [
        {
            "id": f"i{n}",
            "share_id": f"s{n}",
            "host": f"node@b{n % 2}#pool",
            "access_rules_status": RulesStatus.ERROR if n < FAILING * 2 else RulesStatus.ACTIVE,
        }
        for n in numbers
    ]
    rules = [
        {
            "id": f"r{n}",
            "share_id": f"s{n}",
            "access_type": "ip",
            "access_to": "10.0.0.1",
            "canonical": "10.0.0.1/32",
            "access_level": "rw",
        }
        for n in numbers
    ]
    mappings = [
        {"access_id": f"r{n}", "share_instance_id": f"i{n}", "state": RuleState.ACTIVE}
        for n in numbers
    ]
    held = {"user_id": "u", "lock_context": "user"}
    made = [
        {**held, "project_id": f"p{n % 50}", "resource_type": kind, "resource_id": of,
         "resource_action": action, "cause_id": cause}
        for n in numbers
        for kind, of, action, cause in (
            ("access_rule", f"r{n}", "delete", None),
            ("access_rule", f"r{n}", "show", None),
            ("share", f"s{n}", "delete", f"r{n}"),
        )
    ]  # fmt: skip
    with sessions.begin() as session:
        for model, values in (
            (Share, [{**row, "status": Status.AVAILABLE} for row in shares]),
            (ShareInstance, [{**row, "status": Status.AVAILABLE} for row in instances]),
            (AccessRule, rules),
            (AccessMapping, mappings),
            (ResourceLock, made),
        ):
            session.execute(sa.insert(model), values)
    with sessions.begin() as session:
        for model in (Share, ShareInstance, AccessRule, AccessMapping, ResourceLock):
            session.execute(sa.text(f"ANALYZE TABLE {model.__tablename__}")).all()
    return sessions


@pytest.fixture
def at_most(filled):
    """A session that fails where more rows were read than was said."""

    @contextlib.contextmanager
    def counted(most):
        with filled.begin() as session:
            session.execute(sa.text("FLUSH STATUS"))
            yield session
            found = session.execute(
                sa.text("SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%'")
            )
            read = {name: int(number) for name, number in found if int(number)}
            assert sum(read.values()) <= most, read
            session.rollback()

    return counted


def test_what_is_read(at_most):
    with at_most(60) as session:
        found = locks.find(session, ALL, {}, Page(limit=20))
        assert len(found.rows) == 20
    with at_most(60) as session:
        assert len(locks.find(session, Scope("p7"), {}, Page(limit=20)).rows) == 20
    with at_most(20) as session:
        found = locks.find(session, ALL, {"resource_id": "r7"}, Page())
        assert {row.resource_action for row in found.rows} == {"delete", "show"}
    with at_most(10) as session, pytest.raises(locks.errors.Locked):
        locks.refuse_removal(session, "s7")
    with at_most(20) as session:
        assert len(locks.on_rule_or_caused(session, "r7")) == 2
    with at_most(40) as session:
        locks.forget_share(session, "s7")
        assert locks.find(session, ALL, {"resource_id": "s7"}, Page()).rows == []
    with at_most(20) as session:
        locks.forget_rules(session, {"r7", "r8"})
    with at_most(20) as session:
        (rule,) = access.find(session, "s7")
        assert rule.hidden_by_user == "u"
    with at_most(20) as session:
        (rule,) = access.on_instance(session, "i7")
        assert rule.is_hidden
    with at_most(60) as session:
        assert len(access.failing(session, "node@b0")) == FAILING
    with at_most(30) as session:
        access.deny(session, "r7")
        rule_states.queue_denial(session, "r7")
        (rule,) = access.on_instance(session, "i7")
        access.record(session, applied=[], denied=[rule], failed={}, keys={})
