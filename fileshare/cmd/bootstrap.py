"""The composition root: what a process has is made here, once, and handed down."""

from __future__ import annotations

import functools
import os
import signal
import socket
import sys
import threading
import uuid
from collections.abc import Sequence
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging

from fileshare import conf as options
from fileshare.clients.coordination import Coordination
from fileshare.db import session
from fileshare.domain.quotas import RESOURCES
from fileshare.intents.runtime import Runtime
from fileshare.rpc import notifications, transport
from fileshare.rpc.doorbell import LocalDoorbell, MessagingDoorbell

LOG = logging.getLogger(__name__)

_QUIET = (
    "alembic.runtime.plugins=WARNING",
    "amqp=WARNING",
    "kombu=ERROR",
    "oslo.messaging=INFO",
    "oslo_messaging=INFO",
    "oslo.privsep=INFO",
    "sqlalchemy=WARNING",
    "stevedore=WARNING",
    "keystonemiddleware=INFO",
    "urllib3.connectionpool=WARNING",
)


_FORMAT = (
    "%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s"
    " [%(global_request_id)s %(request_id)s %(user_identity)s] %(resource)s%(message)s"
)
"""Of a record with a context: ``resource`` is the work in hand, see ``context.tell_the_log``."""


def register(conf: cfg.ConfigOpts) -> None:
    """Make all options of a process known to *conf*."""
    logging.register_options(conf)
    logging.set_defaults(_FORMAT, [*_QUIET])
    options.register_all(conf)
    transport.register(conf)


def configure(
    program: str, args: Sequence[str] | None = None, *, command: bool = False
) -> cfg.ConfigOpts:
    """The options of a process, and its log.

    A *command* logs to standard error, for its standard output is what it answers.  Files that
    cannot be read and options that cannot work end the process with the reason.
    """
    conf = cfg.ConfigOpts()
    register(conf)
    try:
        conf(
            args=sys.argv[1:] if args is None else list(args),
            project="fileshare",
            prog=program,
        )
        _read_all(conf)
    except cfg.Error as error:
        raise SystemExit(f"{program}: the configuration cannot be used: {error}") from error
    if command:
        conf.set_default("use_stderr", True)
    logging.setup(conf, program)
    check(conf)
    return conf


def _read_all(conf: cfg.ConfigOpts) -> None:
    """Look at every option: oslo.config finds a wrong value only when it is asked for."""
    for section in conf.values():
        if isinstance(section, cfg.ConfigOpts.GroupAttr):
            dict(section)


def check(conf: cfg.ConfigOpts) -> None:
    """Refuse options that cannot work together, before anything is started."""
    refusal = _heartbeats(conf) or session.refusal(conf) or notifications.check(conf)
    if refusal is not None:
        raise SystemExit(refusal)


def _heartbeats(conf: cfg.ConfigOpts) -> str | None:
    """Why services cannot be told to be up; None where they can."""
    if conf.service_down_time > conf.report_interval:
        return None
    return (
        f"service_down_time ({conf.service_down_time} s) must be more than report_interval "
        f"({conf.report_interval} s): every service would be down between two heartbeats."
    )


def reread(conf: cfg.ConfigOpts) -> None:
    """Read again what can change while this process runs.

    What cannot be read, or cannot work together, changes nothing.
    """
    try:
        # What is mutated cannot be taken back, so it is looked at before.
        refusal = _heartbeats(_as_written(conf))
        if refusal is None:
            conf.mutate_config_files()
            return
    except cfg.Error as error:
        text = "The options could not be read again, and stay what they were: %s"
        LOG.error(text, error)  # noqa: TRY400  (where in oslo.config says nothing)
    else:
        LOG.error("The options cannot be read again, and stay what they were: %s", refusal)


def _as_written(conf: cfg.ConfigOpts) -> cfg.ConfigOpts:
    """The options as the files of *conf* say now."""
    fresh = cfg.ConfigOpts()
    options.register_all(fresh)
    fresh(
        args=[],
        project="fileshare",
        default_config_files=conf.config_file or [],
        default_config_dirs=conf.config_dir or [],
    )
    _read_all(fresh)
    return fresh


def reread_on_hangup(conf: cfg.ConfigOpts) -> None:
    """Do so at each SIGHUP; in a thread, for the signal comes in the middle of anything."""
    thread = functools.partial(threading.Thread, target=reread, args=(conf,))
    signal.signal(signal.SIGHUP, lambda *_: thread().start())


def process_name() -> str:
    """What this process is called in claims and among the members of a service."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"


def make_runtime(conf: cfg.ConfigOpts) -> Runtime:
    """The runtime of this process; make it after forking."""
    messaging: Any = LocalDoorbell() if transport.is_local(conf) else transport.make(conf)
    local = isinstance(messaging, LocalDoorbell)
    return Runtime(
        conf=conf,
        sessions=session.connect(conf),
        doorbell=messaging if local else MessagingDoorbell(messaging),
        locks=Coordination(conf),
        notifier=notifications.make(conf),
        quota_defaults={resource.name: conf.quota[resource.name] for resource in RESOURCES},
        transport=messaging,
    )
