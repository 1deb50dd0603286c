"""What will be asked and what will be broken: all of it follows from the seed.

The schedule is the same for the same seed; what meets what is not, because real processes on a
real machine are never twice equally quick.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator

BACKEND = "alpha"
HOST_OF_BACKEND = "cluster"
POOLS = {"red": 75, "blue": 75}
"""GiB of the thick pools: less than the tenants' quotas together."""
TENANTS = {
    "ann": "a1111111-1111-4111-8111-111111111111",
    "bob": "b2222222-2222-4222-8222-222222222222",
    "cat": "c3333333-3333-4333-8333-333333333333",
    "dan": "d4444444-4444-4444-8444-444444444444",
}
QUOTA = {"shares": 25, "gigabytes": 45}
"""Of each tenant."""
THREADS = 2
"""Clients of each tenant that work at the same time, on the same shares."""

DAEMONS = (
    ("share", "n1"),
    ("share", "n2"),
    ("share", "n3"),
    ("scheduler", "n1"),
    ("scheduler", "n2"),
    ("api", "n1"),
    ("api", "n2"),
    ("data", "n1"),
)
NODES = ("n1", "n2", "n3")
API_NODES = tuple(node for program, node in DAEMONS if program == "api")

OPERATIONS = {
    "create": 11,
    "delete": 9,
    "force_delete": 2,
    "extend": 9,
    "shrink": 6,
    "update": 5,
    "set_metadata": 6,
    "remove_metadata": 3,
    "allow": 16,
    "deny": 9,
    "set_level": 6,
    "rule_metadata": 2,
    "soft_delete": 2,
    "restore": 3,
    "reset_status": 1,
    "lock": 3,
    "unlock": 4,
    "list": 3,
    "show": 6,
    "foreign": 2,
    "make_type": 1,
    "set_spec": 1,
    "remove_type": 1,
    "ensure": 1,
}
"""Kinds of operations and how often they come."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One operation of a client; *pick* and *other* (0 to 1) choose what it is done to."""

    number: int
    kind: str
    pick: float
    other: float
    pause: float
    node: str


def steps(seed: str, client: str, pace: float) -> Iterator[Step]:
    """What a client does, without end; *pace* is the mean pause between two steps in seconds."""
    dice = random.Random(f"{seed}/{client}")
    kinds, weights = list(OPERATIONS), list(OPERATIONS.values())
    for number in itertools.count(1):
        kind = dice.choices(kinds, weights)[0]
        chances = dice.random(), dice.random(), dice.expovariate(1 / pace)
        yield Step(number, kind, *chances, dice.choice(API_NODES))


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that breaks *at* so many seconds after the start.

    *lasting* is for how long: until the killed is started again, or the stopped goes on.
    """

    at: float
    kind: str
    program: str = ""
    node: str = ""
    lasting: float = 0.0


KILLS = {"kill_child": 12, "kill_group": 12, "kill_parent": 4}
OTHERS = {
    "restart": 2,
    "pause": 5,
    "purge": 2,
    "cut": 2,
    "harass": 3,
    "busy": 2,
    "kill_database": 1,
    "restart_database": 1,
    "wipe_broker": 1,
}
TARGETS = {"share": 8, "scheduler": 4, "api": 4, "data": 1}
WORKERS = ("share", "scheduler", "api")
QUIET = 6.0
"""Seconds at the start in which nothing breaks, so that there is something to break."""


def faults(seed: str, seconds: float, gap: float) -> list[Fault]:
    """The faults of a storm, in their order; *gap* is the mean time between two in seconds."""
    dice = random.Random(f"{seed}/faults")
    kinds = {**KILLS, **OTHERS}
    found, at = [], QUIET
    while True:
        at += dice.uniform(0.2, 1.8) * gap
        if at >= seconds:
            return found
        kind = dice.choices(list(kinds), list(kinds.values()))[0]
        found.append(_fault(dice, at, kind))


def _fault(dice: random.Random, at: float, kind: str) -> Fault:
    if kind in {*KILLS, "restart"}:
        return Fault(at, kind, *_target(dice, tuple(TARGETS)), lasting=dice.choice((0, 1, 2, 4)))
    if kind == "pause":
        # Past the lease of 3 s, and sometimes only nearly.
        return Fault(at, kind, *_target(dice, WORKERS), lasting=dice.uniform(2.5, 7.0))
    return Fault(at, kind, lasting=dice.uniform(0.5, 3.0))


def _target(dice: random.Random, programs: tuple[str, ...]) -> tuple[str, str]:
    program = dice.choices(programs, [TARGETS[name] for name in programs])[0]
    return dice.choice([daemon for daemon in DAEMONS if daemon[0] == program])
