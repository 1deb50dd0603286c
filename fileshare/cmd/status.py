"""``fileshare-status upgrade check``: whether this release may start on this database.

Exit codes: 0 yes, 1 with warnings, 2 no.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import os
import sys

from fileshare.cmd import bootstrap
from fileshare.db import migration


def _schema(connection: str) -> tuple[int, str]:
    current, wanted = migration.version(connection), migration.heads()
    if current["expand"] != wanted["expand"]:
        return 2, "The schema is older than this release: run 'fileshare-manage db sync'."
    if current["contract"] != wanted["contract"]:
        return 1, "Old columns remain: run 'fileshare-manage db sync --contract' when all run."
    return 0, "The schema is up to date."


def _models(connection: str) -> tuple[int, str]:
    different = migration.check(connection)
    if different:
        return 1, "The database differs from the models: " + "; ".join(different)
    return 0, "The tables are those of this release."


def main() -> None:
    """Run the checks; every one prints a line."""
    words = sys.argv[1:]
    if words[:2] != ["upgrade", "check"]:
        sys.stderr.write("usage: fileshare-status upgrade check [--config-file FILE]\n")
        sys.exit(2)
    args = words[2:]
    if not args and os.environ.get("FILESHARE_CONFIG"):
        args = ["--config-file", os.environ["FILESHARE_CONFIG"]]
    conf = bootstrap.configure("fileshare-status", args)
    worst = 0
    for name, check in (("Schema", _schema), ("Tables", _models)):
        code, text = check(conf.database.connection)
        worst = max(worst, code)
        sys.stdout.write(f"{name}: {('success', 'warning', 'failure')[code]}: {text}\n")
    sys.exit(worst)
