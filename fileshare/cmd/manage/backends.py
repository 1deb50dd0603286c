"""``backend …``, ``reconcile`` and ``fsck``: what stores the shares."""

from __future__ import annotations

import argparse
import time
from typing import Any

from fileshare import errors
from fileshare.cmd.manage.program import Listing, Parser, Rows, with_dry_run
from fileshare.context import service_context
from fileshare.domain.statuses import IntentState, ServiceState
from fileshare.operations import maintenance
from fileshare.operations.maintenance import Backend, Comparison

_PAUSE = 0.5


class List(Listing):
    """List the back ends with their pools and shares; sizes are GiB."""

    def take_action(self, parsed: argparse.Namespace) -> Rows:  # noqa: ARG002
        names = (
            "host", "state", "status", "ensuring", "pools", "shares", "total_gb", "free_gb",
            "claimed_gb", "down_reason",
        )  # fmt: skip
        found = maintenance.list_backends(self.runtime, service_context())
        return names, [_row(backend) for backend in found]


def _row(backend: Backend) -> tuple[object, ...]:
    load = backend.load
    state = "unknown" if backend.is_up is None else ServiceState.DOWN
    return (
        backend.host,
        ServiceState.UP if backend.is_up else state,
        backend.status,
        backend.ensuring,
        load.pools,
        load.shares,
        load.total_gb,
        load.free_gb,
        load.claimed_gb,
        backend.down_reason,
    )


class Rename(Listing):
    """Give a back end (or one of its pools) another name, wherever it is written.

    Shares, instances, pools, the service and the work that waits get it in one transaction.
    Stop the daemons of the old name first, and start those of the new one before or after.
    Exit codes: 0 done, 1 refused.
    """

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = with_dry_run(super().get_parser(prog_name))
        parser.add_argument("old", help="host@backend, or host@backend#pool.")
        parser.add_argument("new", help="The same of the new name.")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        done = maintenance.rename_backend(
            self.runtime, parsed.old, parsed.new, dry_run=parsed.dry_run
        )
        what = "to rename" if parsed.dry_run else "renamed"
        return ("table", what), sorted(done.items())


class _Comparing(Listing):
    """What commands have that let daemons compare back ends with the database."""

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        parser.add_argument("--repair", action="store_true", help="Repair what is different.")
        parser.add_argument(
            "--timeout", type=float, default=3600.0, help="Seconds to wait for each daemon."
        )
        return parser

    def compare(self, host: str, parsed: argparse.Namespace) -> list[dict[str, Any]]:
        """What is different; raises Conflict where that could not be found out."""
        ctx = service_context()
        intent_id = maintenance.reconcile(self.runtime, ctx, host, repair=parsed.repair)
        result = self._wait(intent_id, time.monotonic() + parsed.timeout)
        if result is None:
            self.tell(f"It goes on without this command: see 'intent show {intent_id}'.")
            self.code = 3
            return []
        if result.state == IntentState.FAILED:
            raise errors.Conflict(reason=f"{host} could not be compared: {result.error}")
        if not all(row["repaired"] for row in result.findings):
            self.code = self.code or 1
        return list(result.findings)

    def _wait(self, intent_id: str, deadline: float) -> Comparison | None:
        told = 0
        while True:
            result = maintenance.result(self.runtime, service_context(), intent_id)
            if result.state not in (IntentState.OPEN, IntentState.PARKED):
                return result
            if result.progress > told:
                told = result.progress
                self.tell(f"{told} %")
            if time.monotonic() >= deadline:
                return None
            time.sleep(_PAUSE)


_NAMES = ("what", "instance", "share", "repaired", "detail")


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    return (row["what"], row["instance_id"], row["share_id"], row["repaired"], row["detail"])


class Reconcile(_Comparing):
    """Compare a back end with the database.

    The share daemon of the back end does it, and this command waits for it.  With --repair it
    brings back exports, access rules and sizes, puts shares that are gone in error, and removes
    what belongs to no share; what is in work is never touched.
    Exit codes: 0 nothing is different (any more), 1 something is, or it was refused, 3 it was
    not over in time.
    """

    def get_parser(self, prog_name: str) -> Parser:
        parser: Parser = super().get_parser(prog_name)
        parser.add_argument("backend", help="host@backend")
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        return _NAMES, [_shown(row) for row in self.compare(parsed.backend, parsed)]


class Check(_Comparing):
    """Compare all back ends, and the books of the quotas, with the database, and it with itself.

    With --repair, what 'reconcile --repair' and 'quota sync' do is done, and rows whose owner is
    gone are removed, except instances and open work, which 'intent fail' ends.
    Exit codes: 0 nothing is different (any more), 1 something is, or a back end could not be
    compared, 3 one was not over in time.
    """

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        rows: list[tuple[Any, ...]] = []
        for backend in maintenance.list_backends(self.runtime, service_context()):
            self.tell(f"{backend.host} …")
            try:
                found = self.compare(backend.host, parsed)
            except errors.FileshareError as error:
                self.tell(str(error))
                self.code = self.code or 1
                continue
            rows += [(backend.host, *_shown(row)) for row in found]
        return ("where", *_NAMES), [*rows, *self._rows(parsed), *self._quotas(parsed)]

    def _rows(self, parsed: argparse.Namespace) -> list[tuple[Any, ...]]:
        self.tell("rows …")
        found = maintenance.orphans(self.runtime, service_context(), repair=parsed.repair)
        if any(not (parsed.repair and item.removable) for item in found):
            self.code = self.code or 1
        return [
            (
                item.table,
                "orphan",
                None,
                None,
                parsed.repair and item.removable,
                f"{item.id}: {item.missing} is gone",
            )
            for item in found
        ]

    def _quotas(self, parsed: argparse.Namespace) -> list[tuple[Any, ...]]:
        self.tell("quotas …")
        wrong = maintenance.correct_quotas(self.runtime, dry_run=not parsed.repair)
        if wrong and not parsed.repair:
            self.code = self.code or 1
        return [
            (
                item.project_id,
                "quota",
                None,
                None,
                parsed.repair,
                f"{item.scope} {item.resource}: {item.booked} instead of {item.counted}",
            )
            for item in wrong
        ]


COMMANDS: dict[str, type] = {
    "backend list": List,
    "backend rename": Rename,
    "reconcile": Reconcile,
    "fsck": Check,
}
