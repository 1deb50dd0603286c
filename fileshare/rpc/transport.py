"""oslo.messaging, set up for this program."""

from __future__ import annotations

import importlib
from typing import Any

import oslo_messaging
from oslo_config import cfg
from oslo_messaging import opts as messaging_options

from fileshare.context import Context

LOCAL = "local://"
"""The URL that means: no broker."""
NOTIFICATIONS = "oslo_messaging_notifications"
RABBIT = "oslo_messaging_rabbit"

OUR_DEFAULTS = {
    # Replicated, and on disk: a ring outlives the node of the broker that took it.  Not so
    # rabbit_transient_quorum_queue: after a restart of the broker who consumes such a queue
    # waits for a minute, deaf to everything else (seen with RabbitMQ 3.10).
    "rabbit_quorum_queue": True,
    # Seconds. A queue of a process goes that long after it; oslo.messaging makes one for each,
    # and nothing is ever sent to it.
    "rabbit_transient_queues_ttl": 300,
    # Seconds between two tries to connect again, at most: rings that are not heard cost time.
    "rabbit_interval_max": 5,
}
"""Options of [oslo_messaging_rabbit] whose defaults are not the library's."""


class ContextSerializer(oslo_messaging.NoOpSerializer):  # type: ignore[misc]
    """Carries a :class:`~fileshare.context.Context` with each message."""

    def serialize_context(self, context: Context) -> dict[str, Any]:
        return context.dump()

    def deserialize_context(self, context: dict[str, Any]) -> Context:
        return Context.load(context)


def register(conf: cfg.ConfigOpts) -> None:
    """Make the general options of oslo.messaging (``transport_url`` …) known to *conf*."""
    for group, opts in messaging_options.list_opts():
        if group in {None, NOTIFICATIONS, RABBIT}:
            conf.register_opts(opts, group=group)
    for name, value in OUR_DEFAULTS.items():
        conf.set_default(name, value, group=RABBIT)
    # Rings stay within the process until a broker is named; between processes, work is then
    # found by polling.
    conf.set_default("transport_url", LOCAL)


def is_local(conf: cfg.ConfigOpts) -> bool:
    """Whether no broker is named."""
    return str(conf.transport_url).startswith(LOCAL)


def make(conf: cfg.ConfigOpts) -> Any:
    """The RPC transport of ``transport_url``."""
    _register_global_options(conf)
    return oslo_messaging.get_rpc_transport(conf)


def make_for_notifications(conf: cfg.ConfigOpts) -> Any:
    """The transport of [oslo_messaging_notifications], by default that of RPC."""
    _register_global_options(conf)
    # Drivers that need no broker are given a transport all the same.
    unused = None if has_broker_for_notifications(conf) else "fake://"
    return oslo_messaging.get_notification_transport(conf, url=unused)


def has_broker_for_notifications(conf: cfg.ConfigOpts) -> bool:
    """Whether a broker is named that could take notifications."""
    return bool(conf[NOTIFICATIONS].transport_url) or not is_local(conf)


def _register_global_options(conf: cfg.ConfigOpts) -> None:
    # oslo.messaging registers these two sections on its global object only, and then reads
    # them from the one that it was given.
    for name in ("tracing", "metrics"):
        try:
            module = importlib.import_module(f"oslo_messaging._{name}.client")
        except ImportError:
            continue  # an oslo.messaging without it
        group = f"oslo_messaging_{name}"
        conf.register_opts(getattr(module, group), group=group)
