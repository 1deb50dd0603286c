"""[DEFAULT]: what the share daemons do by the clock."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "DEFAULT"

OPTS = [
    cfg.IntOpt(
        "periodic_interval",
        default=60,
        min=1,
        help="Seconds between two reports of the pools of a back end. A report is also made "
        "right after the daemon starts.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
