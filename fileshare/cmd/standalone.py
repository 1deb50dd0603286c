"""``fileshare-standalone``: everything in one process, on SQLite, with tokens of its own."""

from __future__ import annotations

from fileshare.cmd import concurrency

concurrency.initialise()

import pathlib
import signal
import sys
import threading

import waitress
from oslo_config import cfg
from oslo_log import log as logging

from fileshare.api import wsgi
from fileshare.api.middleware import tokens
from fileshare.cmd import bootstrap
from fileshare.cmd.daemons import Startable, back_end
from fileshare.data import service as data
from fileshare.db import migration
from fileshare.intents.runtime import Runtime
from fileshare.scheduler import service as scheduler

LOG = logging.getLogger(__name__)

PROJECT = "5fa1e5a4-0000-4000-8000-000000000001"
"""The project of the tokens that the first start makes."""


def _set_defaults(conf: cfg.ConfigOpts) -> None:
    pathlib.Path(conf.state_path).mkdir(parents=True, exist_ok=True)
    conf.set_default("auth_strategy", "tokens")
    conf.set_default("osapi_share_listen", "127.0.0.1")


def _first_start(conf: cfg.ConfigOpts) -> None:
    """Make tokens where there are none, and say them once: only their hashes are kept."""
    if conf.auth_strategy != "tokens":
        return
    path = pathlib.Path(conf.api.tokens_file)
    made = tokens.first_start(path, PROJECT)
    for user, token in made.items():
        sys.stdout.write(f"token of {user}: {token}\n")
    sys.stdout.flush()


def _daemons(runtime: Runtime) -> list[Startable]:
    process = bootstrap.process_name()
    found: list[Startable] = [scheduler.make(runtime, process), data.make(runtime, process)]
    found += [
        back_end(runtime, process, section) for section in runtime.conf.enabled_share_backends
    ]
    return found


def serve(conf: cfg.ConfigOpts) -> None:
    """Serve until SIGTERM or SIGINT."""
    migration.upgrade(conf.database.connection)
    _first_start(conf)
    runtime = bootstrap.make_runtime(conf)
    daemons = _daemons(runtime)
    server = waitress.create_server(
        wsgi.build(runtime),
        host=conf.osapi_share_listen,
        port=conf.osapi_share_listen_port,
        threads=conf.api.threads,
        ident="fileshare",
    )
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    bootstrap.reread_on_hangup(conf)
    for daemon in daemons:
        daemon.start()
    threading.Thread(target=server.run, name="api", daemon=True).start()
    LOG.info("Serving on http://%s:%s/v2", conf.osapi_share_listen, conf.osapi_share_listen_port)
    stop.wait()
    server.close()
    for daemon in daemons:
        daemon.stop()
    runtime.close()


def main() -> None:
    """Run the stand-alone until a signal ends it."""
    conf = bootstrap.configure("fileshare-standalone")
    _set_defaults(conf)
    serve(conf)
