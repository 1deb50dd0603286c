"""The runner of the tempest plug-in: lists, results, comparison, configuration."""

from __future__ import annotations

import pytest

from devstack import settings
from tests.conformance.tempest import __main__ as runner
from tests.conformance.tempest import lists
from tests.conformance.tempest.plans import PLANS, Plan

CLASS = "manila_tempest_tests.tests.api.test_limits.LimitsTest"
GOOD = f"{CLASS}.test_limits_keys[api,id-1,positive]"
BAD = f"{CLASS}.test_limits_values[api,id-2,positive]"
NEW = f"{CLASS}.test_new_1_2_3[id-3]"
GROUPS = "manila_tempest_tests.tests.api.test_share_groups.ShareGroupsTest"
BEHIND = f"{GROUPS}.test_create[backend,id-4,positive]"
ABSENT = f"{CLASS}.test_that_is_no_more"
MOMENTS = "2026-11-29 21:36:41.764242+00:00,2026-11-29 21:36:41.764242+00:00"
TABLE = f"""test,status,start_time,stop_time
"{GOOD}",success,{MOMENTS}
"{BAD}",failure,{MOMENTS}
{NEW},success,{MOMENTS}
setUpClass ({GROUPS}),failure,{MOMENTS}
tearDownClass ({CLASS}),failure,{MOMENTS}
"""


def test_a_list_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "list"
    lists.write(path, {NEW, GOOD})
    assert path.read_text() == f"{GOOD}\n{NEW}\n"
    path.write_text(f"# what passes\n\n  {GOOD}  \n{NEW}")
    assert lists.read(path) == {GOOD, NEW}
    assert lists.read(tmp_path / "none") == set()


def test_what_a_run_says():
    found = lists.results(TABLE)
    assert found.tests == {GOOD: "success", BAD: "failure", NEW: "success"}
    assert found.passed == {GOOD, NEW}
    assert found.set_ups == {GROUPS: "failure"}
    assert lists.class_of(BEHIND) == GROUPS


def test_the_difference_says_what_is_missing_and_why():
    found = lists.results(TABLE)
    difference = lists.difference({GOOD, BAD, BEHIND, ABSENT}, found)
    assert difference
    assert difference.lines() == [
        f"- {BAD} (failure)",
        f"- {ABSENT} (not run)",
        f"- {BEHIND} (set-up of its class: failure)",
        f"+ {NEW}",
    ]
    assert not lists.difference({GOOD, NEW}, found)


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A plan with its list in a place of its own."""
    made = Plan("a", "a plan", "x")
    monkeypatch.setattr("tests.conformance.tempest.plans.HERE", tmp_path)
    lists.write(made.expected, {GOOD})
    return made


def test_an_update_adds_and_forgets_nothing(plan, capsys):
    lists.write(plan.expected, {GOOD, BAD})
    found = lists.results(TABLE)
    assert runner.compare(plan, set(), found, update=False)
    assert lists.read(plan.expected) == {GOOD, BAD}
    assert runner.compare(plan, set(), found, update=True)  # one is missing all the same
    assert lists.read(plan.expected) == {GOOD, BAD, NEW}
    assert f"- {BAD} (failure)" in capsys.readouterr().out


def test_only_what_was_asked_for_is_expected(plan):
    lists.write(plan.expected, {GOOD, BEHIND, NEW})
    assert not runner.compare(plan, {GOOD, NEW}, lists.results(TABLE), update=False)
    assert runner.compare(plan, {BEHIND}, lists.results(TABLE), update=False)


def test_each_plan_changes_the_stack_s_configuration(tmp_path):
    stack = settings.Settings(tmp_path)
    settings.write_tempest(stack)
    text = (tmp_path / "tempest.conf").read_text()
    as_it_is, served, rbac = (
        PLANS[name].configure(text).splitlines() for name in ("dhss-false", "served", "rbac")
    )
    assert as_it_is == Plan("a", "", "").configure(text).splitlines()
    lines = {line for line in text.splitlines() if line}
    assert set(as_it_is) - {""} == lines
    assert set(served) - lines - {""} == {
        f"{name} = False" for name in PLANS["served"].options["share"]
    }
    assert lines - set(rbac) == {"tempest_roles = member"}
    assert set(rbac) - lines - {""} == {"default_share_type_name = default"}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_lists_are_sorted_and_of_their_plan(plan):
    tests = plan.expected.read_text().splitlines()
    assert tests == sorted(set(tests))
    assert tests
    for test in tests:
        assert test.startswith(plan.tests.strip("^").replace("\\", ""))


def test_a_directory_is_gone_unless_it_is_kept(tmp_path):
    with runner.directory(None) as where:
        (where / "log").touch()
    assert not where.exists()
    with runner.directory(tmp_path / "kept") as where:
        (where / "log").touch()
    assert (tmp_path / "kept" / "log").exists()
