"""[DEFAULT]: messages to users, and whether work is announced."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "DEFAULT"

OPTS = [
    cfg.IntOpt(
        "message_ttl",
        default=2592000,
        min=0,
        mutable=True,
        help="Seconds for which a user message is kept.",
    ),
    cfg.IntOpt(
        "message_reap_interval",
        default=86400,
        min=1,
        mutable=True,
        help="Seconds between two removals of expired user messages.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
