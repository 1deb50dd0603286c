"""``fileshare-manage``: the operator's commands, one module for each noun.

Each takes ``-f table|json|…``, and ``--dry-run`` where something is removed or changed.  Exit
codes: 0 done, 1 refused, failed or (for checks) something was found, 2 a wrong command line.
Where a command has others, its help says so.  What takes long tells its progress on stderr.
"""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import sys

from fileshare.cmd.manage import (
    backends,
    database,
    intents,
    locks,
    quotas,
    services,
    shares,
    tokens,
)
from fileshare.cmd.manage.program import Program

COMMANDS: dict[str, type] = {
    **database.COMMANDS,
    **quotas.COMMANDS,
    **services.COMMANDS,
    **backends.COMMANDS,
    **intents.COMMANDS,
    **shares.COMMANDS,
    **locks.COMMANDS,
    **tokens.COMMANDS,
}


def main() -> None:
    """Run one command."""
    sys.exit(Program(COMMANDS).run(sys.argv[1:]))
