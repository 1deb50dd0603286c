"""``fileshare-api``: the WSGI application under gunicorn, in processes of many threads."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import os
import signal
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from oslo_config import cfg

from fileshare.api import wsgi
from fileshare.cmd import bootstrap

_BACKLOG = 2048


class _Parent(Arbiter):  # type: ignore[misc]
    """The process that watches those which serve."""

    def handle_hup(self) -> None:
        """Let each of them read its options again, and go on serving."""
        bootstrap.reread(self.app.options)
        for pid in list(self.WORKERS):
            self.kill_worker(pid, signal.SIGHUP)


class Server(BaseApplication):  # type: ignore[misc]
    """gunicorn, told by our options; each worker makes its own runtime after the fork."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.options = conf
        super().__init__()

    def load_config(self) -> None:
        conf = self.options
        address = conf.osapi_share_listen
        if ":" in address:
            address = f"[{address}]"
        for key, value in {
            "bind": f"{address}:{conf.osapi_share_listen_port}",
            "workers": conf.osapi_share_workers or os.cpu_count() or 1,
            "worker_class": "gthread",
            "threads": conf.api.threads,
            "backlog": _BACKLOG,
            "keepalive": 75,
            "graceful_timeout": 30,
            "timeout": 120,
            "proc_name": "fileshare-api",
            "worker_tmp_dir": "/dev/shm" if os.path.isdir("/dev/shm") else None,  # noqa: S108, PTH112
        }.items():
            self.cfg.set(key, value)

    def load(self) -> Any:
        bootstrap.reread_on_hangup(self.options)
        return wsgi.build(bootstrap.make_runtime(self.options))

    def run(self) -> None:
        _Parent(self).run()


def main() -> None:
    """Serve the API until a signal ends it."""
    Server(bootstrap.configure("fileshare-api")).run()
