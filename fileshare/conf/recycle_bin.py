"""[DEFAULT]: the recycle bin of shares, and deletion in the background."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "DEFAULT"

OPTS = [
    cfg.IntOpt(
        "soft_deleted_share_retention_time",
        default=604800,
        min=0,
        mutable=True,
        help="Seconds for which a share stays in the recycle bin, from where its user can have "
        "it back, before it is removed from its back end. The default is one week.",
    ),
    cfg.IntOpt(
        "check_for_expired_shares_in_recycle_bin_interval",
        default=3600,
        min=1,
        mutable=True,
        help="Seconds between two looks of the schedulers for shares whose time in the recycle "
        "bin is over. A share may stay so much longer than its time.",
    ),
    cfg.BoolOpt(
        "is_deferred_deletion_enabled",
        default=False,
        mutable=True,
        help="Let a share that is deleted be out of its user's sight, and its quota be free, at "
        "once; its back end removes it when it can, and what it could not do is tried again. "
        "Off: the user sees the deletion until it is done, and has the quota back then.",
    ),
    cfg.IntOpt(
        "periodic_deferred_delete_interval",
        default=300,
        min=1,
        mutable=True,
        help="Seconds between two looks of the schedulers for deferred deletions that back ends "
        "could not do, to begin them anew.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
