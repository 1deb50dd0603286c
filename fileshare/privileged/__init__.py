"""What only root may do: narrow functions with argument lists.

A process that is root already runs them itself.  Any other one asks a helper that oslo.privsep
starts through sudo, as the section ``fileshare_privsep`` says (``privileged/helper.py``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def is_root() -> bool:
    """Whether this process needs no helper."""
    return os.geteuid() == 0


def privileged(function: Function) -> Function:
    """Make *function* one that runs as root; its arguments and result must be plain data.

    The helper is root too, and looks for functions that are marked as its own; it is known by
    having loaded oslo.privsep before anything of ours.
    """
    if is_root() and "oslo_privsep" not in sys.modules:
        return function
    from fileshare.privileged.helper import context  # noqa: PLC0415  (not needed by root)

    return cast("Function", context.entrypoint(function))
