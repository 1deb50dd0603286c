"""Rules from declarations, and answers of the engine."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest
import toy
from oslo_config import cfg
from oslo_policy import policy as oslo

from fileshare import errors
from fileshare.api import policy
from fileshare.api.rules import ADMIN, BASE, MEMBER, READER, Rule
from fileshare.context import Context

OPERATIONS = [operation for resource in toy.RESOURCES for operation in resource]
ROLES = {
    "admin": ("admin", "member", "reader"),
    "member": ("member", "reader"),
    "reader": ("reader",),
    "none": (),
}


def context(persona, project="p1"):
    return Context("req-1", "u1", project, ROLES[persona], is_admin=persona == "admin")


@pytest.fixture
def enforcer(tmp_path):
    return make(tmp_path)


def make(tmp_path, **overrides):
    conf = cfg.ConfigOpts()
    conf(["--config-dir", str(tmp_path)])
    policy.register(conf)
    conf.set_override("policy_file", str(tmp_path / "policy.yaml"), "oslo_policy")
    for name, value in overrides.items():
        conf.set_override(name, value, "oslo_policy")
    return policy.Enforcer(conf, OPERATIONS)


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        (toy.LIST, {"admin", "member", "reader"}),
        (toy.CREATE, {"admin", "member"}),
        (toy.PUBLISH, {"admin"}),
        ("context_is_admin", {"admin"}),
        ("project-reader", {"admin", "member", "reader"}),
    ],
)
def test_personas(enforcer, rule, allowed):
    assert {who for who in ROLES if enforcer.allowed(rule, context(who))} == allowed


def test_what_others_own(enforcer):
    row = SimpleNamespace(project_id="p2", user_id="u2")
    assert not enforcer.allowed(toy.GET, context("member"), row)
    assert enforcer.allowed(toy.GET, context("member", "p2"), row)
    assert enforcer.allowed(toy.GET, context("admin"), row)
    assert not enforcer.allowed("context_is_host_admin", context("admin"), row)
    assert not enforcer.allowed(toy.GET, context("member"), {"project_id": "p2", "user_id": "u"})


def test_forbidden_names_the_rule(enforcer):
    with pytest.raises(errors.Forbidden, match="toy:publish"):
        enforcer.authorize(toy.PUBLISH, context("member"))


def test_unknown_rules_allow_nobody(enforcer):
    assert enforcer.allowed("default", context("none"))
    assert not enforcer.allowed("toy:unheard_of", context("none"))
    assert not enforcer.allowed("toy:unheard_of", context("admin"))


def test_the_caller_s_own_project_is_the_target(enforcer):
    assert enforcer.allowed(toy.LIST, context("reader", "p7"))
    assert not enforcer.allowed(toy.LIST, dataclasses.replace(context("none"), project_id=None))


def test_a_policy_file_is_obeyed(tmp_path, monkeypatch):
    (tmp_path / "policy.yaml").write_text('"toy:create": "role:reader"\n')
    enforcer = make(tmp_path)
    assert enforcer.allowed(toy.CREATE, context("reader"))
    assert not enforcer.allowed(toy.CREATE, context("none"))


def test_answers_are_remembered_for_a_moment(enforcer, monkeypatch):
    asked = []
    enforce = enforcer.engine.enforce

    def counted(*args):
        asked.append(args[0])
        return enforce(*args)

    monkeypatch.setattr(enforcer.engine, "enforce", counted)
    clock = iter([10.0, 10.5, 11.5])
    # Not the time of other threads.
    monkeypatch.setattr(policy, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    enforcer._forget_at = 0.0
    for _ in range(3):
        assert enforcer.allowed(toy.LIST, context("reader"))
    assert asked == ["toy:get_all"] * 2


def test_older_deployments(tmp_path):
    old = make(tmp_path, enforce_new_defaults=False)
    assert old.allowed(toy.CREATE, context("none"))
    assert old.allowed(toy.LIST, context("none"))
    assert not old.allowed(toy.PUBLISH, context("none"))
    assert not make(tmp_path).allowed(toy.CREATE, context("none"))


def test_defaults_have_the_paths_of_their_operations():
    found = {rule.name: rule for rule in policy.defaults(OPERATIONS)}
    extend = found["toy:extend"]
    assert isinstance(extend, oslo.DocumentedRuleDefault)
    assert extend.operations == [{"method": "POST", "path": "/toys/{id}/action"}]
    assert {"method": "GET", "path": "/toys/{id}"} in found["toy:get"].operations
    assert extend.deprecated_rule.check_str == "rule:default"
    assert found["toy:publish"].deprecated_rule.check_str == "rule:admin_api"
    assert found["toy:reset_status"].deprecated_rule is None
    assert {rule.name for rule in BASE} <= set(found)


def test_rules_of_the_program():
    names = [rule.name for rule in policy.list_rules()]
    assert len(names) == len(set(names))
    assert "context_is_admin" in names


def test_the_tools_get_an_engine(monkeypatch, tmp_path):
    (tmp_path / "a.conf").write_text("[oslo_policy]\npolicy_file = other.yaml\n")
    file = str(tmp_path / "a.conf")
    monkeypatch.setattr("sys.argv", ["x", "--namespace", "fileshare", "--config-file", file])
    engine = policy.get_enforcer()
    assert "admin_api" in engine.registered_rules
    assert engine.conf.oslo_policy.policy_file == "other.yaml"


def test_one_rule_cannot_be_declared_in_two_ways():
    things = toy.Resource("things", "/things")
    for number, check in enumerate((ADMIN, MEMBER)):
        row = things.get(f"/{number}", id=str(number), policy=Rule("thing:see", check, "See."))
        row(lambda request: None)
    with pytest.raises(ValueError, match="thing:see"):
        policy.declared(things)


def test_deprecated_checks_follow_the_persona():
    assert Rule("a", READER, "A.").deprecated_check == "rule:default"
    assert Rule("a", ADMIN, "A.").deprecated_check == "rule:admin_api"
    assert Rule("a", ADMIN, "A.", old=None).deprecated_check is None
    assert Rule("a", MEMBER, "A.", old="").deprecated_check == ""
