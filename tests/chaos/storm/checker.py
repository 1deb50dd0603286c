"""The judge: from the history and what is left, all that must not have happened."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from fileshare.domain.lifecycle import SHARE
from fileshare.domain.quotas import PROJECT
from fileshare.domain.statuses import IntentState, Status
from tests.chaos import truth
from tests.chaos.storm import journal, plan
from tests.chaos.storm.final import Final
from tests.chaos.storm.history import ACCEPTED, REFUSED, UNKNOWN, Call, last_values, write_of
from tests.chaos.storm.journal import Found
from tests.chaos.storm.sights import Sight, adrift, unenforced

VERBS = ("create", "delete", "force_delete", "extend", "shrink")
"""Operations whose work is an intent of its own."""
REMOVALS = ("delete", "force_delete")
SUPERSEDED = "superseded by "
NO_ROOM = "NoValidHost"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
OF_THE_LIVING = {"extend", "shrink", "allow", "soft_delete", "delete"}


@dataclasses.dataclass(frozen=True)
class Violation:
    """What must not have happened, with all that is known of the share (or instance)."""

    check: str
    about: str | None
    text: str
    history: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = "\n    ".join(self.history)
        return f"{self.check}: {self.about or ''} {self.text}\n    {lines}".rstrip()


class Case:
    """The calls and what is left, sorted by what they are about."""

    def __init__(self, calls: Sequence[Call], final: Final) -> None:
        self.calls, self.final = sorted(calls, key=lambda call: call.start), final
        self.of_share: dict[str, list[Call]] = collections.defaultdict(list)
        self.of_request: dict[str, list] = collections.defaultdict(list)
        self.instances = final.instances
        for call in self.calls:
            if call.share and call.kind != "foreign":
                self.of_share[call.share].append(call)
        for intent in final.intents:
            if intent.request_id:
                self.of_request[intent.request_id].append(intent)
        self.reset = {
            share
            for share, calls in self.of_share.items()
            if any(call.kind == "reset_status" and call.outcome != REFUSED for call in calls)
        }

    def named(self, *kinds: str) -> Iterator[Call]:
        return (call for call in self.calls if call.kind in kinds)

    def intents_of(self, call: Call) -> list:
        event = f"{SHARE.resource}.{call.kind}"
        intents = self.of_request.get(call.request_id or "", [])
        return [intent for intent in intents if intent.event == event]

    def is_gone(self, share_id: str) -> bool:
        share = self.final.shares.get(share_id)
        return share is None or share.deleted_at is not None

    def took_effect(self, call: Call) -> bool:
        """Whether the work that was promised is done; False where it failed or was stopped."""
        return any(intent.state == IntentState.DONE for intent in self.intents_of(call))

    def story(self, about: str | None) -> tuple[str, ...]:
        """All that happened to a share, or to the share of an instance."""
        share = self.instances.get(about or "", about)
        lines = [call.line() for call in self.of_share.get(share or "", ())]
        lines += [
            f"intent {intent.id} {intent.event} {intent.state} {intent.error or ''} "
            f"{intent.request_id} {intent.created_at}-{intent.closed_at} fence {intent.fence}"
            for intent in self.final.intents
            if share and intent.share_id == share
        ]
        return tuple(lines)


Check = Callable[[Case], Iterable[Found]]


def creates(case: Case) -> Iterator[Found]:
    """An accepted one has its share, a refused one has none, and none has two."""
    made: dict[str, list[str]] = collections.defaultdict(list)
    for share in case.final.shares.values():
        made[share.display_name or ""].append(share.id)
    for call in case.named("create"):
        ids = made.pop(call.key or "", [])
        if len(ids) > 1:
            yield ids[0], f"{call.id} made {len(ids)} shares"
        if call.outcome == ACCEPTED and ids != [call.share]:
            yield call.share, f"{call.id} was accepted and is lost"
        if call.outcome == REFUSED and ids:
            yield ids[0], f"{call.id} was refused and made a share"
    for name, ids in made.items():
        yield ids[0], f"nobody asked for share {name!r}"


def verbs(case: Case) -> Iterator[Found]:
    """What was accepted has settled once, and what was refused has promised nothing."""
    for call in case.named(*VERBS):
        intents = case.intents_of(call)
        if call.outcome == REFUSED and intents:
            yield call.share, f"{call.id} {call.kind} was refused and has promised work"
        if call.outcome != ACCEPTED:
            continue
        if not intents and call.kind in REMOVALS and case.is_gone(call.share or ""):
            continue  # no back end ever held it
        if len(intents) != 1:
            yield call.share, f"{call.id} {call.kind} was accepted: {len(intents)} intents"
        for intent in intents:
            yield from _settled(case, call, intent)


def _settled(case: Case, call: Call, intent) -> Iterator[Found]:
    if intent.state == IntentState.DONE:
        if call.kind in REMOVALS and not case.is_gone(call.share or ""):
            yield call.share, f"{call.id} {call.kind} is done and the share is there"
    elif not _excuse(case, call, intent):
        yield call.share, f"{call.id} {call.kind} ended as {intent.state}: {intent.error}"


def _excuse(case: Case, call: Call, intent) -> bool:
    """Whether work that failed had a reason to: no room, or an administrator who stopped it."""
    error = intent.error or ""
    if error.startswith(SUPERSEDED):
        by = error.removeprefix(SUPERSEDED).split()[0]
        others = case.of_share.get(call.share or "", ())
        return any(other.kind == by and other.outcome != REFUSED for other in others)
    return call.kind in {"create", "extend"} and NO_ROOM in error


def quiet(case: Case) -> Iterator[Found]:
    """Nothing else fails (nothing breaks for good in a storm), and nobody is told that it did."""
    events = {f"{SHARE.resource}.{kind}" for kind in VERBS}
    failed = [intent for intent in case.final.intents if intent.state == IntentState.FAILED]
    for intent in failed:
        if intent.event in events:
            continue
        if intent.share_id not in case.reset:
            yield intent.share_id, f"{intent.event} {intent.id} failed: {intent.error}"
    excused = case.reset | {intent.share_id for intent in failed}
    for id in case.final.truth.told - excused:
        yield id, "its user was told of a failure and nothing has failed"


def removals(case: Case) -> Iterator[Found]:
    """Nothing goes that nobody removed, and nothing is done to what is going."""
    for share in case.final.shares.values():
        calls = case.of_share.get(share.id, [])
        asked = [call for call in calls if call.kind in REMOVALS and call.outcome != REFUSED]
        if share.deleted_at is not None and not asked:
            yield share.id, "is deleted and nobody asked for it"
        ends = [call.end for call in asked if call.outcome == ACCEPTED]
        if not ends or share.id in case.reset:
            continue
        for call in calls:
            late = call.start > min(ends) and call.outcome == ACCEPTED
            if late and call.kind in OF_THE_LIVING:
                yield share.id, f"{call.id} {call.kind} was accepted after it was removed"


def sights(case: Case) -> Iterator[Found]:
    """A share that was made and not removed is seen; another tenant's is not touched."""
    for call in case.named("show"):
        asked = [
            other
            for other in case.of_share.get(call.share or "", ())
            if other.kind in REMOVALS and other.outcome != REFUSED and other.start < call.end
        ]
        if call.status == 404 and not asked:
            yield call.share, f"{call.id} did not find it"
    for call in case.named("foreign"):
        if call.outcome == ACCEPTED:
            yield call.share, f"{call.id} of {call.tenant} changed another tenant's share"


def sizes(case: Case) -> Iterator[Found]:
    """The last size that took effect is the size."""
    for share in case.final.truth.shares:
        writes = [
            write_of(call, call.value)
            for call in case.of_share.get(share.id, ())
            if call.kind in {"create", "extend", "shrink"}
            and (call.outcome == UNKNOWN or (call.outcome == ACCEPTED and _counts(case, call)))
        ]
        if writes:
            yield from _register(share.id, "size", share.size, writes, share.size)


def _counts(case: Case, call: Call) -> bool:
    return call.kind == "create" or case.took_effect(call)


def _register(about: str, what: str, value, writes, at_first) -> Iterator[Found]:
    possible = last_values(writes, at_first)
    if value not in possible:
        yield about, f"its {what} is {value!r} and must be one of {possible}"


def columns(case: Case) -> Iterator[Found]:
    """Description, bin and metadata are what the last writer wrote."""
    for share in case.final.truth.shares:
        calls = [call for call in case.of_share.get(share.id, ()) if call.outcome != REFUSED]
        texts = [write_of(call, call.value) for call in calls if call.kind == "update"]
        yield from _register(share.id, "description", share.display_description, texts, None)
        bins = [
            write_of(call, call.value) for call in calls if call.kind in {"soft_delete", "restore"}
        ]
        yield from _register(share.id, "bin", bool(share.is_soft_deleted), bins, False)
        pairs = case.final.metadata.get(share.id, {})
        kinds = {"set_metadata", "remove_metadata"}
        for key in {call.key for call in calls if call.kind in kinds} | pairs.keys():
            writes = [
                write_of(call, call.value)
                for call in calls
                if call.kind in kinds and call.key == key
            ]
            yield from _register(share.id, f"metadata {key}", pairs.get(key), writes, None)


def rules(case: Case) -> Iterator[Found]:
    """An allowed rule is there until it is denied, with its last level; a refused one is not."""
    of_share: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for row in case.final.truth.rules:
        share = case.instances.get(row.share_instance_id)
        of_share[share or ""][row.access_to] = row.id
    for share in case.final.truth.shares:
        calls = case.of_share.get(share.id, ())
        there = of_share.get(share.id, {})
        for call in calls:
            if call.kind == "allow":
                yield from _rule(call, calls, there)
        known = {call.value[0] for call in calls if call.kind == "allow"}
        for address in there.keys() - known:
            yield share.id, f"nobody asked for a rule for {address}"


def _rule(call: Call, calls: Iterable[Call], there: dict[str, str]) -> Iterator[Found]:
    address = call.value[0]
    denials = {
        other.outcome for other in calls if other.kind == "deny" and other.key == call.key
    } - {REFUSED}
    is_there = address in there
    if call.outcome == REFUSED and is_there:
        yield call.share, f"{call.id} was refused and made a rule for {address}"
    if call.outcome != ACCEPTED:
        return
    if is_there and ACCEPTED in denials:
        yield call.share, f"the rule of {call.id} for {address} was denied and is there"
    if not is_there and not denials:
        yield call.share, f"the rule of {call.id} for {address} is lost"


def levels(case: Case) -> Iterator[Found]:
    """The back end enforces each rule with the level that was set last."""
    for instance, record in case.final.held.items():
        share = case.instances.get(instance)
        calls = case.of_share.get(share or "", ())
        for rule in record["rules"]:
            writes = [
                write_of(call, call.value[1] if call.kind == "allow" else call.value)
                for call in calls
                if call.key == rule["id"] and call.kind in {"allow", "set_level"}
                if call.outcome != REFUSED
            ]
            if writes and share not in case.reset:
                what = f"level for {rule['to']}"
                yield from _register(share or "", what, rule["level"], writes, rule["level"])


def locks(case: Case) -> Iterator[Found]:
    """A lock is there until it is lifted, and nobody removes what is locked."""
    reasons = collections.Counter(lock.lock_reason for lock in case.final.locks.values())
    lifted = collections.defaultdict(list)
    for call in case.named("unlock"):
        if call.outcome != REFUSED:
            lifted[call.key].append(call)
    for call in case.named("lock"):
        lifts, number = lifted[call.key], reasons.pop(call.value, 0)
        if number > 1 or (call.outcome == REFUSED and number):
            yield call.share, f"{call.id} ({call.status}) made {number} locks"
        if call.outcome == ACCEPTED:
            yield from _lock(call, lifts, number)
            yield from _kept(case, call, lifts)
    for reason in reasons:
        yield None, f"nobody asked for the lock {reason!r}"


def _lock(lock: Call, lifts: Sequence[Call], number: int) -> Iterator[Found]:
    if not lifts and not number:
        yield lock.share, f"the lock of {lock.id} is lost"
    if number and any(lift.outcome == ACCEPTED for lift in lifts):
        yield lock.share, f"the lock of {lock.id} was lifted and is there"


def _kept(case: Case, lock: Call, lifts: Iterable[Call]) -> Iterator[Found]:
    first = min((lift.start for lift in lifts), default=float("inf"))
    for call in case.of_share.get(lock.share or "", ()):
        within = call.start > lock.end and call.end < first
        if call.kind in {*REMOVALS, "soft_delete"} and call.outcome == ACCEPTED and within:
            yield (
                call.share,
                f"{call.id} {call.kind} was accepted although {lock.id} had locked it",
            )


def types(case: Case) -> Iterator[Found]:
    """A share type is made once, is there until it is removed, and keeps its last spec."""
    made: dict[str, list[str]] = collections.defaultdict(list)
    for kind in case.final.types.values():
        made[kind.name].append(kind.id)
    for call in case.named("make_type"):
        ids = made.get(call.value, [])
        removed = [other for other in case.named("remove_type") if other.key == call.key]
        outcomes = {other.outcome for other in removed} - {REFUSED}
        if call.outcome == REFUSED and ids:
            yield None, f"{call.id} was refused and made a type"
        if call.outcome != ACCEPTED:
            continue
        if not ids and not outcomes:
            yield None, f"the type of {call.id} is lost"
        if ids and ACCEPTED in outcomes:
            yield None, f"the type of {call.id} was removed and is there"
        if ids:
            yield from _spec(case, call)


def _spec(case: Case, made: Call) -> Iterator[Found]:
    writes = [
        write_of(call, call.value)
        for call in case.named("set_spec")
        if call.key == made.key and call.outcome != REFUSED
    ]
    value = case.final.specs.get(made.key or "", {}).get("storm:mark")
    yield from _register(f"type {made.value}", "spec", value, writes, None)


def agreement(case: Case) -> Iterator[Found]:
    """What is settled, booked and told, and that the back end equals the database.

    A share whose work an administrator stopped half way is left to :func:`repaired`.
    """
    yield from _agree(case, case.reset)
    for row in case.final.truth.shares:
        if row.status not in SHARE.settled or row.intent_id is not None:
            yield row.id, f"is {row.status}, held by {row.intent_id}"


def repaired(case: Case) -> Iterator[Found]:
    """The same after an operator's repair: only what was set to error may be anything."""
    yield from _agree(
        case,
        {row.id for row in case.final.truth.shares if row.status != Status.AVAILABLE} & case.reset,
    )


def _agree(case: Case, but: Collection[str]) -> Iterator[Found]:
    final = case.final
    apart = {id for id, share in case.instances.items() if share in but}
    rest = dataclasses.replace(
        final.truth,
        shares=[row for row in final.truth.shares if row.id not in but],
        instances=[row for row in final.truth.instances if row.share_id not in but],
        rules=[row for row in final.truth.rules if row.share_instance_id not in apart],
        exports=[row for row in final.truth.exports if row.share_instance_id not in apart],
    )
    held = {id: record for id, record in final.held.items() if id not in apart}
    try:
        truth.check(rest, held)
    except AssertionError as error:
        text = str(error) or "database, books and back end disagree"
        yield next((id for id in _ID.findall(text) if id in case.of_share), None), text


def room(case: Case) -> Iterator[Found]:
    """The database promises no pool more than it has."""
    sums: collections.Counter[str] = collections.Counter()
    sizes = {share.id: share.size for share in case.final.truth.shares}
    for row in case.final.truth.instances:
        if row.host and row.status != Status.ERROR:
            sums[row.host.partition("#")[2]] += sizes[row.share_id]
    for pool, size in sums.items():
        if size > case.final.pools[pool]:
            yield None, f"pool {pool} is promised {size} of {case.final.pools[pool]} GiB"


def back_end(case: Case) -> Iterator[Found]:
    """The journals of the back end: one call at a time, room, and no gap in the rules."""
    yield from journal.overlaps(case.final.overlaps)
    yield from journal.capacity(case.final.records, case.final.pools)
    yield from journal.gaps(case.final.records, case.calls)


def overdrawn(books: Mapping[tuple[str, str, str], int], quota: Mapping[str, int]) -> list[str]:
    """What is booked beyond the quota of its project, at whatever moment."""
    return [
        f"{used} {name} of {quota[name]} are booked on {project}"
        for (project, scope, name), used in books.items()
        if scope == PROJECT and name in quota and used > quota[name]
    ]


def always(calls: Sequence[Call], final: Final, sights: Sequence[Sight]) -> list[Violation]:
    """What was not so at some moment of the storm, each with the story of its share.

    A share whose work an administrator has stopped half way may show what is not there.
    """
    case = Case(calls, final)
    found = [
        *((None, text) for sight in sights for text in overdrawn(sight.booked, plan.QUOTA)),
        *adrift(sights),
        *(
            (instance, text)
            for instance, text in unenforced(sights, final.records)
            if case.instances.get(instance) not in case.reset
        ),
    ]
    return [Violation("always", about, text, case.story(about)) for about, text in found]


CHECKS: tuple[Check, ...] = (
    creates,
    verbs,
    quiet,
    removals,
    sights,
    sizes,
    columns,
    rules,
    levels,
    locks,
    types,
    agreement,
    room,
    back_end,
)


def judge(
    calls: Sequence[Call], final: Final, checks: Sequence[Check] = CHECKS
) -> list[Violation]:
    """All violations, each with the story of its share."""
    case = Case(calls, final)
    return [
        Violation(check.__name__, about, text, case.story(about))
        for check in checks
        for about, text in check(case)
    ]
