"""``backend …`` and ``reconcile``: what stores the shares."""

from __future__ import annotations

import argparse
import time

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
            "claimed_gb",
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


class Reconcile(Listing):
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
        parser.add_argument("--repair", action="store_true", help="Repair what is different.")
        parser.add_argument(
            "--timeout", type=float, default=3600.0, help="Seconds to wait for the daemon."
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        ctx = service_context()
        intent_id = maintenance.reconcile(self.runtime, ctx, parsed.backend, repair=parsed.repair)
        names = ("what", "instance", "share", "repaired", "detail")
        result = self._wait(intent_id, time.monotonic() + parsed.timeout)
        if result is None:
            self.tell(f"It goes on without this command: see 'intent show {intent_id}'.")
            self.code = 3
            return names, ()
        if result.state == IntentState.FAILED:
            raise errors.Conflict(reason=f"It could not be done: {result.error}")
        self.code = 0 if all(row["repaired"] for row in result.findings) else 1
        return names, [
            (row["what"], row["instance_id"], row["share_id"], row["repaired"], row["detail"])
            for row in result.findings
        ]

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


COMMANDS: dict[str, type] = {
    "backend list": List,
    "backend rename": Rename,
    "reconcile": Reconcile,
}
