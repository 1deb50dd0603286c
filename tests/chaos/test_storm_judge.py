"""The storm's judge finds what is wrong: each broken promise, put into a history that is right."""

from __future__ import annotations

import dataclasses
import datetime as dt
from types import SimpleNamespace

import pytest

from fileshare.domain.quotas import PROJECT
from tests.chaos.storm import plan
from tests.chaos.storm.checker import judge, overdrawn, repaired
from tests.chaos.storm.final import Final
from tests.chaos.storm.history import Call, Write, last_values
from tests.chaos.storm.report import server_errors
from tests.chaos.storm.runner import Options
from tests.chaos.truth import Truth

NOW = dt.datetime(2026, 1, 1)  # noqa: DTZ001
GONE, KEPT = "share-gone", "share-kept"


class Tale:
    """A history that is right, and what it leaves: one share that is there, one that is gone."""

    def __init__(self):
        self.calls = []
        kept = share(KEPT, "ann.1-1", size=3)
        kept.display_description = "ann.1-4"
        gone = share(GONE, "ann.1-2", deleted_at=NOW)
        self.intents = []
        self.rule = rule("rule-1", "10.0.0.1")
        record = {"id": f"i-{KEPT}", "size": 3, "pool": "red", "rules": []}
        enforced = {"id": "rule-1", "to": "10.0.0.1", "level": "ro"}
        self.record = {**record, "rules": [enforced]}
        self.final = Final(
            truth=Truth([kept], [instance(KEPT)], [self.rule], [export(KEPT)], [], set(), {}, {}),
            shares={KEPT: kept, GONE: gone},
            instances={f"i-{KEPT}": KEPT, f"i-{GONE}": GONE},
            intents=self.intents,
            metadata={KEPT: {"tier": "ann.1-6"}},
            locks={"lock-1": SimpleNamespace(id="lock-1", lock_reason="ann.1-7")},
            types={"type-1": SimpleNamespace(id="type-1", name="ann.1-8")},
            specs={"type-1": {"storm:mark": "ann.1-9"}},
            held={f"i-{KEPT}": self.record},
            records=[note(f"i-{KEPT}", 5.0, record), note(f"i-{KEPT}", 6.0, self.record)],
            overlaps=[],
            pools={"red": 10},
        )
        self.call("create", KEPT, key="ann.1-1", value=2, status=200)
        self.call("create", GONE, key="ann.1-2", value=1, status=200)
        self.call("extend", KEPT, value=3)
        self.call("update", KEPT, key="description", value="ann.1-4", status=200)
        allowed = ["10.0.0.1", "rw"]
        self.call("allow", KEPT, key="rule-1", value=allowed, status=200)
        self.call("set_metadata", KEPT, key="tier", value="ann.1-6", status=200)
        self.call("lock", KEPT, key="lock-1", value="ann.1-7", status=200)
        self.call("make_type", key="type-1", value="ann.1-8", status=200)
        self.call("set_spec", key="type-1", value="ann.1-9", status=200)
        self.call("set_level", KEPT, key="rule-1", value="ro", status=200)
        self.call("delete", GONE)
        self.call("foreign", KEPT, status=404)
        self.call("show", KEPT, status=200)

    def call(self, kind, about=None, *, start=None, status=202, done=True, **facts):
        """Another request, after all others; where it was accepted, its work is done."""
        number = len(self.calls) + 1
        start = float(number) if start is None else start
        made = Call(
            f"ann.1-{number}", kind, "ann", start, start + 0.5, status, f"req-{number}", about
        )
        self.calls.append(dataclasses.replace(made, **facts))
        works = kind in {"create", "extend", "shrink", "delete", "force_delete"}
        if works and done and status in {200, 202}:
            self.intents.append(intent(f"req-{number}", kind, about))
        return self.calls[-1]

    def change(self, kind, **facts):
        """The first call of a kind, told otherwise."""
        index = next(n for n, call in enumerate(self.calls) if call.kind == kind)
        self.calls[index] = dataclasses.replace(self.calls[index], **facts)

    def found(self):
        return {violation.check for violation in judge(self.calls, self.final)}


def share(id, name, size=1, **facts):
    columns = {
        "id": id,
        "display_name": name,
        "size": size,
        "status": "available",
        "intent_id": None,
        "deleted_at": None,
        "display_description": None,
        "is_soft_deleted": False,
    }
    return SimpleNamespace(**{**columns, **facts})


def instance(share_id, **facts):
    columns = {
        "id": f"i-{share_id}",
        "share_id": share_id,
        "status": "available",
        "host": "cluster@alpha#red",
        "access_intent_id": None,
        "access_rules_status": "active",
    }
    return SimpleNamespace(**{**columns, **facts})


def export(share_id):
    return SimpleNamespace(share_instance_id=f"i-{share_id}", path="there")


def rule(id, to, state="active"):
    return SimpleNamespace(
        share_instance_id=f"i-{KEPT}", id=id, access_to=to, state=state, denied_at=None
    )


def intent(request_id, kind, share_id, state="done", error=None):
    return SimpleNamespace(
        id=f"intent-{request_id}",
        request_id=request_id,
        event=f"share.{kind}",
        share_id=share_id,
        state=state,
        error=error,
        created_at=NOW,
        closed_at=NOW,
        fence=1,
    )


def note(id, at, record):
    return {"id": id, "at": at, "record": record}


@pytest.fixture
def tale():
    return Tale()


def test_a_history_that_is_right_is_found_right(tale):
    assert judge(tale.calls, tale.final) == []


# -- each of these breaks one promise; the check of its name must say so ------------------------
def a_share_is_lost(tale):
    tale.call("create", "share-lost", key="ann.1-14", value=1, status=200)


def a_refused_create_made_a_share(tale):
    tale.change("create", status=413, share=None)


def a_create_was_done_twice(tale):
    tale.final.shares["twin"] = share("twin", "ann.1-1")


def a_create_of_unknown_end_was_done_twice(tale):
    tale.change("create", status=None, share=None)
    a_create_was_done_twice(tale)


def a_share_nobody_wanted(tale):
    tale.final.shares["stray"] = share("stray", "stray")


def an_accepted_extend_was_never_promised(tale):
    tale.call("extend", KEPT, value=3, done=False)


def an_accepted_extend_failed(tale):
    tale.intents[2].state, tale.intents[2].error = "failed", "Interrupted: 5 times"


def an_accepted_delete_was_stopped_by_nobody(tale):
    tale.intents[3].state = "failed"
    tale.intents[3].error = "superseded by reset_status to error"


def a_refused_extend_was_promised(tale):
    tale.call("extend", KEPT, value=9, status=403)
    tale.intents.append(intent("req-14", "extend", KEPT))


def an_extend_was_promised_twice(tale):
    tale.intents.append(intent("req-3", "extend", KEPT))


def rules_could_not_be_applied(tale):
    tale.intents.append(intent("", "", KEPT, "failed", "no"))
    tale.intents[-1].event = "access.sync"


def somebody_was_told_of_nothing(tale):
    tale.final.truth.told.add(KEPT)


def a_deleted_share_is_there(tale):
    tale.final.shares[GONE].deleted_at = None


def an_undeleted_share_is_gone(tale):
    tale.final.shares[KEPT].deleted_at = NOW


def a_share_is_extended_after_its_deletion(tale):
    tale.call("extend", GONE, value=4)


def a_share_is_not_found(tale):
    tale.call("show", KEPT, status=404)


def a_stranger_is_obeyed(tale):
    tale.change("foreign", status=202)


def the_size_is_an_old_one(tale):
    tale.final.shares[KEPT].size = 2


def the_description_is_lost(tale):
    tale.final.shares[KEPT].display_description = None


def metadata_is_lost(tale):
    tale.final.metadata.clear()


def metadata_came_from_nowhere(tale):
    tale.final.metadata[KEPT]["colour"] = "green"


def the_bin_forgot_its_share(tale):
    tale.call("soft_delete", KEPT, value=True)


def a_rule_is_lost(tale):
    tale.final.truth.rules.clear()


def a_denied_rule_is_there(tale):
    tale.call("deny", KEPT, key="rule-1", start=20.0)


def a_refused_rule_is_there(tale):
    tale.change("allow", status=400, key=None)


def a_level_is_an_old_one(tale):
    tale.record["rules"][0]["level"] = "rw"


def a_lock_is_lost(tale):
    tale.final.locks.clear()


def a_lock_was_made_twice(tale):
    tale.final.locks["lock-2"] = SimpleNamespace(id="lock-2", lock_reason="ann.1-7")


def a_lifted_lock_is_there(tale):
    tale.call("unlock", KEPT, key="lock-1", status=204)


def a_lock_kept_nothing(tale):
    tale.call("soft_delete", KEPT, value=True)
    tale.final.shares[KEPT].is_soft_deleted = True


def a_type_is_lost(tale):
    tale.final.types.clear()


def a_removed_type_is_there(tale):
    tale.call("remove_type", key="type-1")


def a_spec_is_lost(tale):
    tale.final.specs.clear()


def a_status_is_transient(tale):
    tale.final.truth.shares[0].status = "extending"


def an_intent_is_open(tale):
    tale.final.truth.open_intents.append("intent")


def the_books_are_wrong(tale):
    tale.final.truth.booked["shares"] = 1


def the_back_end_has_another_size(tale):
    tale.record["size"] = 4


def the_back_end_has_a_left_over(tale):
    tale.final.held["other"] = {**tale.record, "id": "other"}


def nobody_was_told_of_an_error(tale):
    tale.final.truth.shares[0].status = tale.final.truth.instances[0].status = "error"


def a_pool_is_promised_too_much(tale):
    tale.final.pools["red"] = 2


def two_calls_met(tale):
    tale.final.overlaps.append({"id": f"i-{KEPT}", "operation": "extend"})


def a_pool_held_too_much_for_a_moment(tale):
    other = {"size": 8, "pool": "red", "rules": []}
    tale.final.records += [note("x", 7.0, other), note("x", 7.1, None)]


def a_rule_went_for_a_moment(tale):
    empty = {**tale.record, "rules": []}
    tale.final.records += [note(f"i-{KEPT}", 7.0, empty), note(f"i-{KEPT}", 7.1, tale.record)]


def a_denied_rule_came_back_for_a_moment(tale):
    tale.call("deny", KEPT, key="rule-1", start=8.0)
    tale.final.truth.rules.clear()
    empty = {**tale.record, "rules": []}
    tale.final.records += [
        note(f"i-{KEPT}", 9.0, empty),
        note(f"i-{KEPT}", 9.1, tale.record),
        note(f"i-{KEPT}", 9.2, empty),
    ]
    tale.final.held[f"i-{KEPT}"] = empty


@pytest.mark.parametrize(
    ("check", "spoil"),
    [
        ("creates", a_share_is_lost),
        ("creates", a_refused_create_made_a_share),
        ("creates", a_create_was_done_twice),
        ("creates", a_create_of_unknown_end_was_done_twice),
        ("creates", a_share_nobody_wanted),
        ("verbs", an_accepted_extend_was_never_promised),
        ("verbs", an_accepted_extend_failed),
        ("verbs", an_accepted_delete_was_stopped_by_nobody),
        ("verbs", a_refused_extend_was_promised),
        ("verbs", an_extend_was_promised_twice),
        ("verbs", a_deleted_share_is_there),
        ("quiet", rules_could_not_be_applied),
        ("quiet", somebody_was_told_of_nothing),
        ("removals", an_undeleted_share_is_gone),
        ("removals", a_share_is_extended_after_its_deletion),
        ("sights", a_share_is_not_found),
        ("sights", a_stranger_is_obeyed),
        ("sizes", the_size_is_an_old_one),
        ("columns", the_description_is_lost),
        ("columns", metadata_is_lost),
        ("columns", metadata_came_from_nowhere),
        ("columns", the_bin_forgot_its_share),
        ("rules", a_rule_is_lost),
        ("rules", a_denied_rule_is_there),
        ("rules", a_refused_rule_is_there),
        ("levels", a_level_is_an_old_one),
        ("locks", a_lock_is_lost),
        ("locks", a_lock_was_made_twice),
        ("locks", a_lifted_lock_is_there),
        ("locks", a_lock_kept_nothing),
        ("types", a_type_is_lost),
        ("types", a_removed_type_is_there),
        ("types", a_spec_is_lost),
        ("agreement", a_status_is_transient),
        ("agreement", an_intent_is_open),
        ("agreement", the_books_are_wrong),
        ("agreement", the_back_end_has_another_size),
        ("agreement", the_back_end_has_a_left_over),
        ("agreement", nobody_was_told_of_an_error),
        ("room", a_pool_is_promised_too_much),
        ("back_end", two_calls_met),
        ("back_end", a_pool_held_too_much_for_a_moment),
        ("back_end", a_rule_went_for_a_moment),
        ("back_end", a_denied_rule_came_back_for_a_moment),
    ],
)
def test_a_broken_promise_is_found(tale, check, spoil):
    spoil(tale)
    assert check in tale.found()


# -- what is no broken promise ------------------------------------------------------------------
def test_no_room_is_a_reason(tale):
    tale.intents[2].state, tale.intents[2].error = "failed", "NoValidHost: No storage"
    tale.final.shares[KEPT].size = tale.record["size"] = 2
    assert tale.found() == set()


def test_an_administrator_may_stop_work(tale):
    tale.call("reset_status", KEPT, start=3.2)
    tale.intents[2].state, tale.intents[2].error = "failed", "superseded by reset_status to error"
    tale.final.shares[KEPT].size = 2
    assert tale.found() == set()  # the back end is larger, until the operator has it repaired
    assert judge(tale.calls, tale.final, (repaired,)) != []
    tale.record["size"] = 2
    assert judge(tale.calls, tale.final, (repaired,)) == []


@pytest.mark.parametrize("done", [True, False])
def test_nobody_knows_what_became_of_an_unanswered_request(tale, done):
    tale.call("set_metadata", KEPT, key="tier", value="new", status=None)
    if done:
        tale.final.metadata[KEPT]["tier"] = "new"
    assert tale.found() == set()


def test_no_chore_may_fail_however_often_it_is_asked_for(tale):
    tale.intents.append(intent("", "", None, "failed", "It was asked for anew."))
    tale.intents[-1].event = "backend.ensure"
    assert tale.found() == {"quiet"}


def test_a_share_that_no_back_end_held_is_deleted_without_work(tale):
    tale.intents.pop()
    assert tale.found() == set()


def test_books_may_reach_the_quota_and_not_pass_it():
    books = {("p", PROJECT, "shares"): 25, ("p", "user/u", "shares"): 99}
    assert overdrawn(books, plan.QUOTA) == []
    books["p", PROJECT, "shares"] = 26
    assert len(overdrawn(books, plan.QUOTA)) == 1


def test_an_error_of_the_server_needs_an_outage():
    calls = [Call("a-1", "list", "ann", 5.0, 5.5, 500), Call("a-2", "list", "ann", 9.0, 9.1, 200)]
    assert server_errors(calls, [(5.2, 6.0)]) == []
    assert server_errors(calls, [(6.0, 7.0)]) == calls[:1]


# -- registers ----------------------------------------------------------------------------------
def write(start, over, value, *, certain=True):
    return Write(start, over, certain, value, value)


def test_of_two_writes_the_later_one_stands():
    assert last_values([write(1, 2, "a"), write(3, 4, "b")], None) == ["b"]


def test_of_two_writes_at_once_either_may_stand():
    assert last_values([write(1, 3, "a"), write(2, 4, "b")], None) == ["a", "b"]


def test_an_uncertain_write_may_come_at_any_time():
    lost = write(1, float("inf"), "a", certain=False)
    assert last_values([lost, write(5, 6, "b")], None) == ["a", "b"]
    assert last_values([lost], None) == [None, "a"]


def test_without_a_write_nothing_changes():
    assert last_values([], "first") == ["first"]


# -- the plan -----------------------------------------------------------------------------------
def first_steps(seed, client="ann.1"):
    steps = plan.steps(seed, client, 1.0)
    return [next(steps) for _ in range(50)]


def test_the_same_seed_is_the_same_plan():
    assert plan.faults("5", 300, 4) == plan.faults("5", 300, 4)
    assert first_steps("5") == first_steps("5")


def test_another_seed_or_client_is_another_plan():
    assert plan.faults("5", 300, 4) != plan.faults("6", 300, 4)
    assert first_steps("5") != first_steps("6")
    assert first_steps("5") != first_steps("5", "ann.2")


def test_half_an_hour_has_three_hundred_kills():
    faults = plan.faults("1", 1800, Options.gap)
    assert len([fault for fault in faults if fault.kind in plan.KILLS]) >= 300
