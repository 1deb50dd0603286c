"""[quota]: default limits."""

from __future__ import annotations

from oslo_config import cfg

from fileshare.domain.quotas import RESOURCES

GROUP = "quota"

_WHAT = {"gigabytes": "GiB of share space", "per_share_gigabytes": "GiB of a single share"}

OPTS = [
    cfg.IntOpt(
        resource.name,
        default=resource.default,
        min=-1,
        help=f"Limit of {_WHAT.get(resource.name, resource.name.replace('_', ' '))} of a project "
        "where neither its quota set nor the default class says otherwise. -1: no limit.",
    )
    for resource in RESOURCES
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS, group=GROUP)
