"""Every kind of work has its verb and its handler; every capability its suite; every error and
every option its text."""

from __future__ import annotations

import collections
import pathlib
import string

import pytest
from oslo_config import cfg

from fileshare import conf as options
from fileshare import errors
from fileshare.conf import opts
from fileshare.domain.lifecycle import LIFECYCLES, verb_of
from fileshare.drivers import base, loader
from fileshare.drivers.conformance import SUITES
from fileshare.intents.kinds import KINDS
from fileshare.scheduler import handlers as scheduler
from fileshare.share.handlers import HANDLERS

ROOT = pathlib.Path(__file__).parents[2]


def test_every_kind_has_one_handler_in_one_daemon():
    daemons = [set(HANDLERS), set(scheduler.handlers(options.load(files=[])))]
    counts = collections.Counter(work for handled in daemons for work in handled)
    assert {work: counts[work] for work in KINDS.values()} == dict.fromkeys(KINDS.values(), 1)
    assert set(counts) == set(KINDS.values())


def test_every_kind_carries_out_a_verb():
    for kind, work in KINDS.items():
        assert work.kind == kind
        assert verb_of(work.event) is work.verb()
        assert work.verb().event == work.event


def test_every_verb_leads_from_settled_to_settled():
    for table in LIFECYCLES.values():
        for verb in table:
            assert verb.during not in {verb.done, verb.failed}, verb.event
            ways_out = {verb.done, verb.failed} | ({verb.declined} if verb.declined else set())
            assert not ways_out & (table.transient - table.settled), verb.event


def drivers():
    names = loader.stevedore_extension.ExtensionManager(loader.NAMESPACE).names()
    return {name: loader.driver_class(name) for name in sorted(names)}


@pytest.mark.parametrize("name", drivers())
def test_every_driver_inherits_the_suites_of_its_capabilities(name):
    cls = drivers()[name]
    family = name.partition("_")[0]
    found = (ROOT / "tests/conformance/drivers").glob(f"test_{family}*.py")
    mine = [path.read_text() for path in found]
    assert mine, f"no conformance test makes the driver {name}"
    assert issubclass(cls, base.Driver)
    wanted = ["SharesSuite", "AccessSuite"]
    wanted += [SUITES[one.__name__].__name__ for one in base.CAPABILITIES if issubclass(cls, one)]
    for suite in wanted:
        assert any(suite in text for text in mine), f"{name} does not inherit {suite}"


def test_every_capability_has_a_suite():
    assert {cls.__name__ for cls in base.CAPABILITIES} <= set(SUITES)


def test_error_codes_are_unique_and_texts_can_be_filled_in():
    found = errors.catalogue()
    codes = collections.Counter(cls.code for cls in found if "code" in vars(cls))
    assert [code for code, number in codes.items() if number > 1] == []
    for cls in found:
        assert cls.template, cls
        names = {name for _, name, _, _ in string.Formatter().parse(cls.template) if name}
        assert cls.template.format(**dict.fromkeys(names, "x")), cls
        assert 400 <= cls.status < 600, cls


def every_option():
    yield from ((group, opt) for group, found in opts.list_opts() for opt in found)
    yield from ((group, opt) for group, found in loader.list_opts() for opt in found)


def test_every_option_has_a_help_text_and_one_place():
    seen = collections.Counter()
    for group, opt in every_option():
        assert opt.help, f"[{group}] {opt.name}"
        assert opt.help.strip().endswith((".", ")")), f"[{group}] {opt.name}: {opt.help}"
        assert isinstance(opt, cfg.Opt)
        seen[group, opt.name] += 1
    assert [where for where, number in seen.items() if number > 1] == []
