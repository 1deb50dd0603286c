"""Delays and failures on demand, from the options or at run time from ``control.json``.

A delay is ``SECONDS`` for every operation or ``OPERATION:SECONDS`` for one.

A failure is ``OPERATION[@PROBABILITY] [KEY=VALUE …]``; the operation is a method of the driver
or ``*``.  Keys:

``share``      only for the share instance, share or share name of this value
``access_to``  only the access rule to this value fails, not the call
``times``      only so often, counted over all processes of the back end
``error``      ``failed`` (default), ``busy``, ``differently``, ``shrink``, or ``kill``:
               the process kills itself, as the kernel would
``when``       ``before`` the work is done (default) or ``after`` it

``control.json`` in the state directory holds ``{"delay": […], "fail": […]}``; while it is there
it replaces the options, so that a drill can break a back end and heal it.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from fileshare import errors
from fileshare.drivers.dummy.state import State
from fileshare.drivers.model import AccessRule, ShareRef

CONTROL = "control.json"

_ERRORS: dict[str, type[errors.DriverError]] = {
    "failed": errors.DriverError,
    "busy": errors.BackendBusy,
    "differently": errors.ShareExistsDifferently,
    "shrink": errors.ShrinkWouldLoseData,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """One failure that was asked for; ``text`` is how, and names its counter."""

    text: str
    operation: str
    probability: float = 1.0
    share: str | None = None
    access_to: str | None = None
    times: int | None = None
    error: str = "failed"
    when: str = "before"

    def concerns(self, operation: str, share: ShareRef | None) -> bool:
        """Whether it is for this operation and share."""
        if self.operation not in ("*", operation):
            return False
        if self.share is None:
            return True
        return share is not None and self.share in (share.id, share.share_id, share.name)


@dataclasses.dataclass(frozen=True, slots=True)
class Orders:
    """The delays and failures that hold now."""

    delays: dict[str, float]
    faults: tuple[Fault, ...]


class Faults:
    """Delays and failures of one back end."""

    def __init__(self, state: State, delay: Sequence[str], fail: Sequence[str]) -> None:
        self._state = state
        self._configured = orders(delay, fail)
        self._control: tuple[tuple[int, int, int], Orders] | None = None

    def before(self, operation: str, share: ShareRef | None = None) -> None:
        """Wait as long as was asked for, then fail where that was asked for."""
        now = self._orders()
        seconds = now.delays.get(operation, now.delays.get("*", 0.0))
        if seconds:
            time.sleep(seconds)
        self._fail("before", operation, share, now)

    def after(self, operation: str, share: ShareRef | None = None) -> None:
        """Fail where a failure after the work was asked for."""
        self._fail("after", operation, share, self._orders())

    def refused(self, share: ShareRef, rules: Iterable[AccessRule]) -> dict[str, str]:
        """Ids of the access rules that shall fail, with a text."""
        faults = [
            fault
            for fault in self._orders().faults
            if fault.access_to is not None and fault.concerns("apply_access", share)
        ]
        return {
            rule.id: f"The back end was told to refuse {rule.to}."
            for rule in rules
            for fault in faults
            if fault.access_to == rule.to and self._strikes(fault)
        }

    def _fail(self, when: str, operation: str, share: ShareRef | None, now: Orders) -> None:
        for fault in now.faults:
            if fault.when != when or fault.access_to is not None:
                continue
            if fault.concerns(operation, share) and self._strikes(fault):
                _strike(fault, operation)

    def _strikes(self, fault: Fault) -> bool:
        if fault.probability < 1.0 and random.random() >= fault.probability:  # noqa: S311
            return False
        return fault.times is None or self._state.count(fault.text) <= fault.times

    def _orders(self) -> Orders:
        path = self._state.root / CONTROL
        try:
            facts = path.stat()
        except FileNotFoundError:
            return self._configured
        stamp = (facts.st_ino, facts.st_mtime_ns, facts.st_size)  # times alone are coarse
        known = self._control
        if known is None or known[0] != stamp:
            known = self._control = (stamp, _read(path))
        return known[1]


def _read(path: Path) -> Orders:
    control = json.loads(path.read_text())
    return orders(control.get("delay", ()), control.get("fail", ()))


def _strike(fault: Fault, operation: str) -> NoReturn:
    if fault.error == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    raise _ERRORS[fault.error](operator_text=f"Told to fail at {operation}: {fault.text}.")


def orders(delay: Iterable[str], fail: Iterable[str]) -> Orders:
    """What the texts of delays and failures mean; raises BadConfiguration."""
    return Orders(dict(_delay(text) for text in delay), tuple(parse(text) for text in fail))


def parse(text: str) -> Fault:
    """The failure that *text* asks for; raises BadConfiguration."""
    try:
        head, *pairs = text.split()
        operation, _, probability = head.partition("@")
        keys = dict(pair.split("=", 1) for pair in pairs)
        fault = Fault(
            text,
            operation,
            float(probability or 1.0),
            keys.pop("share", None),
            keys.pop("access_to", None),
            int(keys.pop("times")) if "times" in keys else None,
            keys.pop("error", "failed"),
            keys.pop("when", "before"),
        )
    except ValueError as error:
        raise _bad("failure", text) from error
    if keys or fault.error not in (*_ERRORS, "kill") or fault.when not in ("before", "after"):
        raise _bad("failure", text)
    return fault


def _delay(text: str) -> tuple[str, float]:
    operation, _, seconds = text.rpartition(":")
    try:
        return operation or "*", float(seconds)
    except ValueError as error:
        raise _bad("delay", text) from error


def _bad(what: str, text: str) -> errors.BadConfiguration:
    return errors.BadConfiguration(
        operator_text=f"The dummy driver does not know the {what} {text!r}."
    )
