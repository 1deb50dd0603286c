"""Threads or eventlet: chosen by the operator, before anything else is imported.

``FILESHARE_CONCURRENCY`` is ``threading`` (the default) or ``eventlet``.
"""

from __future__ import annotations

import os

VARIABLE = "FILESHARE_CONCURRENCY"


def initialise() -> None:
    """Set oslo.service's back end up; every entry point calls this first."""
    choice = os.environ.get(VARIABLE, "threading")
    if choice == "eventlet":
        import eventlet  # noqa: PLC0415  (only where it was chosen)

        eventlet.monkey_patch()
    elif choice != "threading":
        raise SystemExit(f"{VARIABLE} must be threading or eventlet, not {choice!r}.")
    from oslo_service import backend  # noqa: PLC0415

    kind = getattr(backend.BackendType, choice.upper())
    if backend.get_backend_type() is None:
        backend.init_backend(kind)
