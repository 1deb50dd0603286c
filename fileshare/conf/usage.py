"""[DEFAULT]: which period the usage audit tells of where none is named."""

from __future__ import annotations

from oslo_config import cfg

from fileshare.domain.periods import PERIODS

GROUP = "DEFAULT"

OPTS = [
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
