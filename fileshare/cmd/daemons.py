"""Daemons under oslo.service: a parent that watches one child process for each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from oslo_config import cfg
from oslo_log import log as logging

from fileshare import errors
from fileshare.cmd import bootstrap
from fileshare.intents.runtime import Runtime
from fileshare.share.service import ShareDaemon

LOG = logging.getLogger(__name__)


class Startable(Protocol):
    """A daemon: it is started after the fork, and stopped by a signal."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


Make = Callable[[Runtime, str], Startable]
"""Makes a daemon from the runtime and the name of its process."""


def back_end(runtime: Runtime, process: str, section: str) -> ShareDaemon:
    """The daemon of one back end; ends the process, with its reason, where none can be made.

    The parent of ``fileshare-share`` starts such a child again and again, and serves the others.
    """
    try:
        return ShareDaemon(runtime, section, process)
    except errors.DriverError as error:
        # The text is for operators, and where it was raised says nothing.
        LOG.error("Back end %s is not served: %s", section, error.operator_text)  # noqa: TRY400
        raise SystemExit(1) from error


def _service(conf: cfg.ConfigOpts, make: Make) -> Any:
    from oslo_service import service  # noqa: PLC0415  (after the choice of concurrency)

    class Child(service.ServiceBase):  # type: ignore[misc]
        """What runs in the child: its runtime is made after the fork."""

        def __init__(self) -> None:
            self._ended = threading.Event()
            self._running: Startable | None = None
            self._runtime: Runtime | None = None

        def start(self) -> None:
            self._runtime = bootstrap.make_runtime(conf)
            self._running = make(self._runtime, bootstrap.process_name())
            self._running.start()

        def stop(self, graceful: bool = False) -> None:  # noqa: ARG002
            if self._running is not None:
                self._running.stop()
            if self._runtime is not None:
                self._runtime.close()
            self._ended.set()

        def wait(self) -> None:
            self._ended.wait()

        def reset(self) -> None:
            bootstrap.reread(conf)

    return Child()


def _let_children_go_on(launcher: Any) -> None:
    """Have a child that gets SIGHUP read its options again, as the one under eventlet does.

    With threads oslo.service leaves it to cotyledon, which ends the child and starts another
    one; and there is no public way to say anything else.
    """

    def begun(_service_id: object, _worker_id: object, wrapper: Any) -> None:
        wrapper.reload = wrapper.service_instance.reset

    manager = getattr(launcher, "_manager", None)
    if manager is not None:
        manager.register_hooks(on_new_worker=begun)


def run(conf: cfg.ConfigOpts, makers: Sequence[Make]) -> None:
    """Run one child for each of *makers* until a signal ends the parent.

    SIGTERM drains: no new work is taken, what runs is finished.  SIGHUP reads again what can
    change while running.
    """
    from oslo_service import service  # noqa: PLC0415

    launcher = service.ProcessLauncher(conf, restart_method="mutate")
    for make in makers:
        launcher.launch_service(_service(conf, make), workers=1)
    _let_children_go_on(launcher)
    launcher.wait()
