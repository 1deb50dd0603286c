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
    cfg.IntOpt(
        "access_retry_interval",
        default=60,
        min=1,
        help="Seconds between two looks for access rules in error that are tried again. After "
        "each try that fails the next one comes after twice the time.",
    ),
    cfg.IntOpt(
        "access_retry_max",
        default=3600,
        min=1,
        mutable=True,
        help="Most seconds between two tries to apply access rules that are in error.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
