"""``locks …``: the lock files that coordination by a directory leaves behind."""

from __future__ import annotations

import argparse
from pathlib import Path
from urllib.parse import urlsplit

from fileshare.cmd.manage.program import Listing, Rows, with_dry_run
from fileshare.context import service_context
from fileshare.db.query import chunks
from fileshare.operations import maintenance

_PREFIX = "fileshare-instance-"


class Clean(Listing):
    """Remove the lock files of instances that are gone.

    Only where [coordination] backend_url is a directory: other back ends forget by themselves.
    Exit codes: 0 done, 1 failed.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        return with_dry_run(super().get_parser(prog_name))

    def take_action(self, parsed: argparse.Namespace) -> Rows:
        names = ("instance", "result")
        url = urlsplit(self.conf.coordination.backend_url)
        if url.scheme != "file":
            self.tell(f"Locks of {url.scheme} leave no files behind.")
            return names, ()
        directory = Path(url.path)
        ids = sorted(path.name.removeprefix(_PREFIX) for path in directory.glob(f"{_PREFIX}*"))
        rows = []
        for page in chunks(ids):
            gone = maintenance.gone_instances(self.runtime, service_context(), page)
            rows += [(id, self._remove(directory, id, parsed.dry_run)) for id in gone]
        return names, rows

    def _remove(self, directory: Path, id: str, dry_run: bool) -> str:
        if dry_run:
            return "would be removed"
        # Nobody makes the instance again, so nobody waits for the file that goes.
        with self.runtime.locks.try_lock(f"instance-{id}") as mine:
            if not mine:
                return "in use"
            (directory / f"{_PREFIX}{id}").unlink(missing_ok=True)
        return "removed"


COMMANDS: dict[str, type] = {"locks clean": Clean}
