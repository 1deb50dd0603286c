"""Nobody without a role may do anything, and only administrators what is theirs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import webob
from oslo_config import cfg

from fileshare.api import wsgi
from fileshare.api.policy import all_operations
from fileshare.api.rules import ADMIN, Rule
from fileshare.conf import register_all

GUARDED = [op for op in all_operations() if op.policy and not op.late_policy]
RULES = {rule.name: rule for op in GUARDED for rule in op.policy if isinstance(rule, Rule)}


@pytest.fixture(scope="module")
def application():
    conf = register_all(cfg.ConfigOpts())
    conf([], default_config_files=[])
    conf.set_override("auth_strategy", "noauth")
    conf.set_override("osapi_share_listen", "127.0.0.1")
    return wsgi.build(SimpleNamespace(conf=conf))


def ask(application, operation, roles):
    path = operation.path
    for name in operation.variables:
        path = path.replace(f"{{{name}}}", "x")
    request = webob.Request.blank(f"/v2{path}", method=operation.method)
    request.headers["X-Auth-Token"] = f"someone:a1:{roles}"
    request.headers["X-OpenStack-Manila-API-Version"] = str(operation.span.last)
    request.headers["X-OpenStack-Manila-API-Experimental"] = "true"
    if operation.actions:
        request.json_body = {operation.actions[-1][0]: None}
        request.content_type = "application/json"
    return request.get_response(application)


def main_rule(operation):
    rule = operation.policy[0]
    return RULES.get(rule) if isinstance(rule, str) else rule


@pytest.mark.parametrize("operation", GUARDED, ids=lambda operation: operation.id)
def test_without_a_role(application, operation):
    answer = ask(application, operation, "nobody")
    assert answer.status_int == 403
    assert answer.json["forbidden"]["message"] == "Access was denied to this resource."


ADMINS = [op for op in GUARDED if (rule := main_rule(op)) is not None and rule.check == ADMIN]


@pytest.mark.parametrize("operation", ADMINS, ids=lambda operation: operation.id)
def test_members_are_no_administrators(application, operation):
    assert ask(application, operation, "member").status_int == 403
