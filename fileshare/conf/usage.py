"""[DEFAULT]: what is told of the use of shares, and when."""

from __future__ import annotations

from oslo_config import cfg

from fileshare.domain.periods import PERIODS

GROUP = "DEFAULT"

OPTS = [
    cfg.BoolOpt(
        "enable_gathering_share_usage_size",
        default=False,
        mutable=True,
        help="Whether back ends are asked how much their shares hold, for notifications of it. "
        "It costs a call for 500 shares, and a notification for each of them.",
    ),
    cfg.IntOpt(
        "share_usage_size_update_interval",
        default=300,
        min=1,
        mutable=True,
        help="Seconds between two times that a back end is asked how much its shares hold.",
    ),
    cfg.StrOpt(
        "share_usage_audit_period",
        default="month",
        choices=PERIODS,
        help="The period of fileshare-usage-audit where no start and end are given: the last "
        "hour, day, month or year of the calendar (UTC) that is over. Let cron run the command "
        "once in each such period, soon after its end and before deleted shares are purged.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
