"""Options of the scheduler."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "DEFAULT"

OPTS: tuple[cfg.Opt, ...] = (
    cfg.ListOpt(
        "scheduler_default_filters",
        default=[
            "OnlyHostFilter",
            "AvailabilityZoneFilter",
            "CapacityFilter",
            "CapabilitiesFilter",
            "DriverFilter",
            "ShareReplicationFilter",
            "CreateFromSnapshotFilter",
            "AffinityFilter",
            "AntiAffinityFilter",
        ],
        mutable=True,
        help=(
            "Filters that a pool must pass to get a share: names in the entry point group "
            "fileshare.scheduler.filters. The order changes which reason a user is told, not "
            "the result. A name that is unknown keeps the scheduler from starting, and a running "
            "one as it is."
        ),
    ),
    cfg.ListOpt(
        "scheduler_default_weighers",
        default=["CapacityWeigher", "GoodnessWeigher", "HostAffinityWeigher"],
        mutable=True,
        help=(
            "Weighers whose sum decides among the pools that passed: names in the entry point "
            "group fileshare.scheduler.weighers."
        ),
    ),
    cfg.ListOpt(
        "scheduler_default_extend_filters",
        default=["CapacityFilter", "DriverFilter"],
        mutable=True,
        help="Filters that the pool of a share must pass before the share is made larger.",
    ),
    cfg.ListOpt(
        "scheduler_default_share_group_filters",
        default=["AvailabilityZoneFilter", "ConsistentSnapshotFilter"],
        help="Filters that a pool must pass, after those of its share types, to get a group.",
    ),
    cfg.IntOpt(
        "scheduler_max_attempts",
        default=3,
        min=1,
        help=(
            "Pools on which the creation of one share is tried. After a failure the capacity is "
            "given back and another pool is chosen; 1 means that the first failure is final."
        ),
    ),
    cfg.FloatOpt(
        "capacity_weight_multiplier",
        default=1.0,
        mutable=True,
        help=(
            "How much free capacity counts. Above 0 spreads shares, below 0 fills one pool "
            "after the other, and 0 ignores it."
        ),
    ),
    cfg.FloatOpt(
        "pool_weight_multiplier",
        default=1.0,
        mutable=True,
        help="How much it counts that a share server of the network lives on a pool already.",
    ),
    cfg.IntOpt(
        "scheduler_driver_init_wait_time",
        default=60,
        min=0,
        help=(
            "Seconds that a request waits while no back end has reported yet, before it fails. "
            "Back ends report once they are ready, so a new deployment needs a while. So long "
            "waits as well who extends a share whose back end is down."
        ),
    ),
)


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options with *conf*; a second time changes nothing."""
    conf.register_opts(OPTS)
