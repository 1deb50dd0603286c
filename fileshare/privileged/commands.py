"""Running commands: the one place that starts a process and reads what it says."""

from __future__ import annotations

import os
from collections.abc import Mapping

from oslo_concurrency import processutils


def run(
    *command: str, environment: Mapping[str, str] | None = None, may_fail: bool = False
) -> str:
    """What the command wrote, in the words and numbers of no country; see locale(7).

    The daemon may run in any locale: a decimal comma or a word of its language is not read.
    *environment* comes on top of this process's.  Raises ``ProcessExecutionError`` for any exit
    code but 0, unless it *may_fail*.
    """
    variables = {**os.environ, **(environment or {}), "LC_ALL": "C"}
    output, _ = processutils.execute(
        *command, env_variables=variables, check_exit_code=not may_fail
    )
    return str(output)
