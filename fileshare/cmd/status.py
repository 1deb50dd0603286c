"""``fileshare-status upgrade check``: whether this release may start on this database.

Exit codes: 0 yes, 1 with warnings, 2 no.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import os
import sys

from oslo_config import cfg
from oslo_db import exception as db_exception

from fileshare import errors
from fileshare.clients import coordination
from fileshare.cmd import bootstrap
from fileshare.db import migration, services, session


def _schema(conf: cfg.ConfigOpts) -> tuple[int, str]:
    migration.require(conf.database.connection, tables=False)
    current, wanted = migration.version(conf.database.connection), migration.heads()
    if current["expand"] != wanted["expand"]:
        return 2, "The schema is older than this release: run 'fileshare-manage db sync'."
    if current["contract"] != wanted["contract"]:
        return 1, "Old columns remain: run 'fileshare-manage db sync --contract' when all run."
    return 0, "The schema is up to date."


def _models(conf: cfg.ConfigOpts) -> tuple[int, str]:
    different = migration.check(conf.database.connection)
    if different:
        return 1, "The database differs from the models: " + "; ".join(different)
    return 0, "The tables are those of this release."


def _locks(conf: cfg.ConfigOpts) -> tuple[int, str]:
    several = _machines(conf) if coordination.is_local(conf) else {}
    if several:
        told = "; ".join(f"{host} on {', '.join(sorted(on))}" for host, on in several.items())
        return 2, (
            f"[coordination] backend_url is a directory of one machine, but daemons of several "
            f"serve one back end: {told}. Set it to etcd, Redis or MySQL."
        )
    return 0, "The locks of daemons that serve one back end reach each other."


def _machines(conf: cfg.ConfigOpts) -> dict[str, set[str]]:
    sessions = session.connect(conf)
    try:
        return sessions.run(lambda read: services.machines(read, conf.service_down_time))
    finally:
        sessions.dispose()


_FAILED = 2
CHECKS = {"Schema": _schema, "Tables": _models, "Locks": _locks}


def main() -> None:
    """Run the checks until one fails, since the next ones build on it; every one prints a line."""
    words = sys.argv[1:]
    if words[:2] != ["upgrade", "check"]:
        sys.stderr.write("usage: fileshare-status upgrade check [--config-file FILE]\n")
        sys.exit(2)
    args = words[2:]
    if not args and os.environ.get("FILESHARE_CONFIG"):
        args = ["--config-file", os.environ["FILESHARE_CONFIG"]]
    try:
        conf = bootstrap.configure("fileshare-status", args, command=True)
    except SystemExit as ended:
        # A text would be exit code 1, which says that this release may start.
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
            sys.exit(_FAILED)
        raise
    worst = 0
    for name, check in CHECKS.items():
        try:
            code, text = check(conf)
        except (errors.FileshareError, db_exception.DBError) as error:
            code, text = _FAILED, str(error)
        worst = max(worst, code)
        sys.stdout.write(f"{name}: {('success', 'warning', 'failure')[code]}: {text}\n")
        if code == _FAILED:
            break
    sys.exit(worst)
