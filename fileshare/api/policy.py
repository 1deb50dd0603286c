"""The policy engine: rules from the declarations, checked by oslo.policy with a given conf."""

from __future__ import annotations

import importlib
import itertools
import logging
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from oslo_config import cfg
from oslo_policy import opts as policy_opts
from oslo_policy import policy as oslo

from fileshare import errors
from fileshare.api.fields import Field
from fileshare.api.resource import Many, One, Operation
from fileshare.api.rules import BASE, Rule
from fileshare.context import CREDENTIALS, Context

LOG = logging.getLogger(__name__)

DENIED = "Access was denied to this resource."
_REMEMBERED_SECONDS = 1.0
_WHY_OLD = "The rule speaks of admin, member and reader roles now."


def all_operations() -> list[Operation]:
    """What all modules below ``api/resources`` declare."""
    resources = importlib.import_module("fileshare.api.resources").all_resources()
    return [operation for resource in resources for operation in resource]


def _fields(operation: Operation) -> Iterable[Field]:
    if operation.body is not None:
        yield from operation.body.fields
    yield from operation.query.fields
    if isinstance(operation.answer, (One, Many)):
        yield from operation.answer.view.fields


def declared(operations: Iterable[Operation]) -> dict[str, Rule]:
    """Every rule that an operation or one of its fields holds, by name."""
    found: dict[str, Rule] = {}
    for operation in operations:
        mentioned = [*operation.policy, *(field.policy for field in _fields(operation))]
        for rule in mentioned:
            if isinstance(rule, Rule) and found.setdefault(rule.name, rule) != rule:
                raise ValueError(f"the rule {rule.name} is declared in two ways")
    return found


def _default(rule: Rule, paths: list[dict[str, str]]) -> oslo.RuleDefault:
    old = None
    if rule.deprecated_check is not None:
        old = oslo.DeprecatedRule(
            rule.old_name or rule.name,
            rule.deprecated_check,
            deprecated_reason=_WHY_OLD,
            deprecated_since=rule.old_since,
        )
    scope = list(rule.scope) if rule.scope else None
    if not paths:
        return oslo.RuleDefault(
            rule.name, rule.check, rule.about, deprecated_rule=old, scope_types=scope
        )
    return oslo.DocumentedRuleDefault(
        rule.name, rule.check, rule.about, paths, deprecated_rule=old, scope_types=scope
    )


def defaults(operations: Iterable[Operation]) -> list[oslo.RuleDefault]:
    """The rules as oslo.policy takes them, with the paths that each of them guards."""
    operations = list(operations)
    paths: dict[str, list[dict[str, str]]] = {}
    for operation in operations:
        entry = {"method": operation.method, "path": operation.path}
        for rule in operation.policy:
            listed = paths.setdefault(rule if isinstance(rule, str) else rule.name, [])
            if entry not in listed:
                listed.append(entry)
    rules = declared(operations)
    return [
        *(_default(rule, []) for rule in BASE),
        *(_default(rule, paths.get(name, [])) for name, rule in sorted(rules.items())),
    ]


def list_rules() -> list[oslo.RuleDefault]:
    """For the generator of the sample policy file."""
    return defaults(all_operations())


def get_enforcer() -> oslo.Enforcer:
    """For oslo.policy's command line tools; of their arguments only the config files are ours."""
    args = sys.argv[1:]
    pairs = itertools.pairwise([*args, ""])
    wanted = [[one, two] for one, two in pairs if one in {"--config-file", "--config-dir"}]
    conf = cfg.ConfigOpts()
    conf([*itertools.chain.from_iterable(wanted)], project="fileshare")
    return Enforcer(conf, all_operations()).engine


def register(conf: cfg.ConfigOpts) -> None:
    """Register oslo.policy's options on a conf object."""
    policy_opts._register(conf)  # noqa: SLF001 - there is no public way without an enforcer


class Enforcer:
    """Answers whether a caller may do something; made for one conf, holds no global state.

    An answer depends on the caller, the rule and the owner of the target only; it is remembered
    for a moment, because the engine reads its files' dates and builds its checks anew each time.
    A changed policy file is so obeyed a moment later.
    """

    def __init__(self, conf: cfg.ConfigOpts, operations: Iterable[Operation]) -> None:
        self.engine = oslo.Enforcer(conf)
        self.engine.suppress_deprecation_warnings = True
        self.engine.suppress_default_change_warnings = True
        self.engine.register_defaults(defaults(operations))
        self.engine.load_rules()
        self._remembered: dict[tuple[object, ...], bool] = {}
        self._forget_at = 0.0

    def allowed(self, rule: Rule | str, ctx: Context, target: object = None) -> bool:
        """Whether the caller may; the target is the caller's own project where none is given."""
        name = rule if isinstance(rule, str) else rule.name
        if name not in self.engine.registered_rules:
            LOG.error("The rule %s is declared nowhere, so nobody may", name)
            return False
        if isinstance(target, Mapping):
            return self._ask(name, ctx, target)
        owned = ctx if target is None else target
        owner = {key: getattr(owned, key, None) for key in ("project_id", "user_id")}
        now = time.monotonic()
        if now > self._forget_at:
            self._remembered, self._forget_at = {}, now + _REMEMBERED_SECONDS
        key = (name, *owner.values(), *(getattr(ctx, part) for part in CREDENTIALS))
        remembered = self._remembered
        if key not in remembered:
            remembered[key] = self._ask(name, ctx, owner)
        return remembered[key]

    def _ask(self, name: str, ctx: Context, target: Mapping[str, Any]) -> bool:
        return bool(self.engine.enforce(name, target, ctx.credentials()))

    def authorize(self, rule: Rule | str, ctx: Context, target: object = None) -> None:
        """Raise Forbidden when the caller may not."""
        if not self.allowed(rule, ctx, target):
            name = rule if isinstance(rule, str) else rule.name
            raise errors.Forbidden(rule=name)

    def is_admin(self, ctx: Context) -> bool:
        """What ``context_is_admin`` says; asked once for each request."""
        return self.allowed("context_is_admin", ctx)
