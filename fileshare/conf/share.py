"""[DEFAULT]: what the share daemons do by the clock."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "DEFAULT"

OPTS = [
    cfg.IntOpt(
        "periodic_interval",
        default=60,
        min=1,
        mutable=True,
        help="Seconds between two reports of the pools of a back end. A report is also made "
        "right after the daemon starts.",
    ),
    cfg.IntOpt(
        "reconcile_interval",
        default=600,
        min=1,
        mutable=True,
        help="Seconds between two comparisons of a back end with the database. Each brings back "
        "what the back end lost, and looks closely at reconcile_batch shares.",
    ),
    cfg.IntOpt(
        "reconcile_batch",
        default=50,
        min=1,
        mutable=True,
        help="Shares whose exports and access rules are looked at in one comparison; the next "
        "one goes on behind them. More heal sooner and cost the back end more.",
    ),
    cfg.BoolOpt(
        "reconcile_remove_left_overs",
        default=False,
        mutable=True,
        help="Remove from the back end what no share of the database knows. Otherwise it is only "
        "logged, and removed by 'fileshare-manage reconcile --repair'. Leave it off where others "
        "make shares on the same storage.",
    ),
    cfg.BoolOpt(
        "update_shares_status_on_ensure",
        default=True,
        mutable=True,
        help="Show shares as ensuring while the back end brings back their exports and rules: "
        "their users can change nothing meanwhile. Off: their status stays as it is.",
    ),
    cfg.IntOpt(
        "access_retry_interval",
        default=60,
        min=1,
        mutable=True,
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
