"""How each verb of each lifecycle is started: a verb that is declared must have its entry here."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import shutil
import sqlite3
from collections.abc import Callable

import pytest
from inprocess import ADMIN, Answer, Program

from fileshare.context import service_context
from fileshare.domain.lifecycle import LIFECYCLES
from fileshare.drivers.dummy.driver import METADATA
from fileshare.drivers.dummy.faults import CONTROL
from fileshare.drivers.dummy.state import SHARES, State
from fileshare.intents import failpoints
from fileshare.operations import maintenance
from tests.chaos import truth

BACKENDS = ("alpha", "beta")
RULE = {"access_type": "ip", "access_to": "10.0.0.1"}

Ask = Callable[[], object]


@dataclasses.dataclass(frozen=True)
class Start:
    """*prepare* makes what the verb needs and returns the request for it; *calls* are the
    methods of the driver that the verb comes to."""

    prepare: Callable[[Program], Ask]
    calls: tuple[str, ...]


def _create(program):
    body = {"share": {"share_proto": "NFS", "size": 1, "share_type": "default"}}
    return lambda: program.post("/shares", body)


def _extend(program):
    share_id = program.new_share()
    return lambda: program.act(share_id, "extend", {"new_size": 3})


def _shrink(program):
    share_id = program.new_share(size=3)
    return lambda: program.act(share_id, "shrink", {"new_size": 1})


def _delete(program, *, deferred=False):
    share_id = program.new_share()
    program.conf.set_override("is_deferred_deletion_enabled", deferred)
    return lambda: program.delete(f"/shares/{share_id}")


def _deferred_delete(program):
    return _delete(program, deferred=True)


def _force_delete(program):
    share_id = program.new_share()
    return lambda: program.act(share_id, "force_delete", as_=ADMIN)


def _sync(program):
    share_id = program.new_share()
    return lambda: program.act(share_id, "allow_access", RULE)


def _ensure(program):
    host = program.show(program.new_share())["host"].partition("#")[0]
    return lambda: program.post("/services/ensure-shares", {"host": host}, as_=ADMIN)


def _ensure_and_show(program):
    program.conf.set_override("update_shares_status_on_ensure", True)
    return _ensure(program)


def _reconcile(program):
    host = program.show(program.new_share())["host"].partition("#")[0]

    def ask():
        maintenance.reconcile(program.runtime, service_context(), host, repair=True)
        return Answer(202, {}, None)

    return ask


def _update_metadata(program):
    path = f"/shares/{program.new_share()}/metadata"
    return lambda: program.post(path, {"metadata": {"tier": "fast"}})


STARTS: dict[str, Start] = {
    "share.create": Start(_create, ("create",)),
    "share.extend": Start(_extend, ("extend",)),
    "share.shrink": Start(_shrink, ("shrink",)),
    "share.delete": Start(_delete, ("delete",)),
    "share.deferred_delete": Start(_deferred_delete, ("delete",)),
    "share.force_delete": Start(_force_delete, ("delete",)),
    "access.sync": Start(_sync, ("apply_access",)),
    "metadata.update": Start(_update_metadata, ("update_metadata",)),
    "share.ensure": Start(_ensure_and_show, ("ensure", "apply_access")),
    "backend.ensure": Start(_ensure, ("ensure", "apply_access")),
    "reconciliation.run": Start(_reconcile, ("instances", "ensure", "apply_access")),
}


class Worlds:
    """Fresh states of one program, one for each thing that goes wrong."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.program = Program(
            f"sqlite:///{directory}/db.sqlite", directory, driver_updatable_metadata="tier"
        )
        self.program.share_type()
        self._fresh = sqlite3.connect(":memory:")
        self._copy(directory / "db.sqlite", self._fresh)

    @staticmethod
    def _copy(path: pathlib.Path, target: sqlite3.Connection) -> None:
        with contextlib.closing(sqlite3.connect(path)) as source:
            source.backup(target)

    def begin(self, event: str) -> tuple[Program, Ask]:
        """The program as it was made, in which the verb *event* can be asked for."""
        program = self.program
        path = program.state / "db.sqlite"
        with contextlib.closing(sqlite3.connect(path, timeout=30)) as target:
            self._fresh.backup(target)
        for backend, driver in program.drivers.items():
            shutil.rmtree(program.state / backend)
            driver.setup()
        program.bell.rung.clear()
        vars(program.bell).pop("ring", None)
        program.conf.clear_override("give_up_after", group="intents")
        program.conf.clear_override("update_shares_status_on_ensure")
        return program, STARTS[event].prepare(program)

    def close(self) -> None:
        self._fresh.close()
        self.program.sessions.dispose()


def held(program: Program) -> dict[str, dict]:
    return {
        record["id"]: record
        for backend in BACKENDS
        for record in State(program.state / backend).all(SHARES)
    }


def order(program: Program, *faults: str) -> None:
    """Tell both back ends how to fail; nothing heals them."""
    for backend in BACKENDS:
        path = program.state / backend / CONTROL
        path.write_text(json.dumps({"fail": list(faults)}))


def accepted(answer: object) -> None:
    assert answer.status < 300, answer.body


def recover(program: Program, rounds: int = 20) -> None:
    """Let leases and pauses end, and daemons look for work, until nothing is promised."""
    for _ in range(rounds):
        if truth.is_idle(program.sessions):
            return
        program.make_due()
        program.poll()
    raise AssertionError(f"still promised: {truth.read(program.sessions).open_intents}")


def picture(program: Program) -> tuple:
    """All that a late worker could spoil, to be compared."""
    found = truth.read(program.sessions)
    rows = [
        {key: value for key, value in vars(row).items() if not key.startswith("_")}
        for row in (*found.shares, *found.instances)
    ]
    return rows, found.rules, found.exports, found.booked, held(program)


def outcome(program: Program) -> tuple:
    """How things ended, without ids and times: what must be the same with and without losses."""
    found = truth.read(program.sessions)
    return (
        sorted((row.status, row.size, row.access_rules_status) for row in found.shares),
        sorted((row.state, row.access_to) for row in found.rules),
        len(found.exports),
        sorted(found.booked.items()),
        sorted(
            (record["size"], len(record["rules"]), str(record.get(METADATA)))
            for record in held(program).values()
        ),
    )


def check(program: Program, **how: bool) -> None:
    """The invariants, and that no two calls met on one instance."""
    truth.check(truth.read(program.sessions), held(program), **how)
    for backend in BACKENDS:
        assert State(program.state / backend).notes("overlaps") == []


EVENTS = sorted(f"{table.resource}.{verb.name}" for table in LIFECYCLES.values() for verb in table)
VERBS = {f"{table.resource}.{verb.name}": verb for table in LIFECYCLES.values() for verb in table}

CHORES = {"share.ensure", "backend.ensure", "reconciliation.run"}

each_verb = pytest.mark.parametrize("event", EVENTS)


def hits(worlds, event, monkeypatch):
    """The points that the verb passes when nothing goes wrong, and how it ends then."""
    program, ask = worlds.begin(event)
    passed = []
    with monkeypatch.context() as patch:
        patch.setattr(failpoints, "hit", lambda name, kind="": passed.append(f"{name}@{kind}"))
        accepted(ask())
        program.drain()
    check(program)
    assert {point.partition("@")[0] for point in passed} >= {"claimed", "recording", "recorded"}
    return passed, outcome(program)
