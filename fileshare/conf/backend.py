"""Options of a back end: one section for each name in ``enabled_share_backends``.

The names and meanings are the field's, so that a section can be carried over.  A driver adds
its own options to the section (see ``drivers/loader.py``).
"""

from __future__ import annotations

from oslo_config import cfg

GROUP = "backend"
"""Name under which the sample file shows the section; real ones carry the back end's name."""

OPTS: tuple[cfg.Opt, ...] = (
    cfg.StrOpt(
        "share_driver",
        help="Driver of the back end: a name in the entry point group fileshare.drivers.",
    ),
    cfg.StrOpt(
        "share_backend_name",
        help="Name that the back end reports and that share types match; default: the section.",
    ),
    cfg.BoolOpt(
        "driver_handles_share_servers",
        help="Whether the driver makes share servers on tenants' networks. Must be set.",
    ),
    cfg.StrOpt(
        "backend_availability_zone",
        help="Availability zone of the back end, where it is not that of its daemon.",
    ),
    cfg.StrOpt(
        "backend_host",
        help="Host part of the back end's identity, where several daemons serve one back end.",
    ),
    cfg.StrOpt(
        "replication_domain",
        help="Back ends with the same text replicate to each other.",
    ),
    cfg.FloatOpt(
        "max_over_subscription_ratio",
        default=20.0,
        min=1.0,
        help="How much more than its total size a thin pool may promise to shares.",
    ),
    cfg.IntOpt(
        "reserved_share_percentage",
        default=0,
        min=0,
        max=100,
        help="Percent of a pool that is kept free when new shares are placed.",
    ),
    cfg.IntOpt(
        "reserved_share_from_snapshot_percentage",
        min=0,
        max=100,
        help="The same for shares from a snapshot; default: reserved_share_percentage.",
    ),
    cfg.IntOpt(
        "reserved_share_extend_percentage",
        min=0,
        max=100,
        help="The same for shares that grow; default: reserved_share_percentage.",
    ),
    cfg.StrOpt(
        "filter_function",
        help="Expression that decides whether a share may go to a pool of this back end.",
    ),
    cfg.StrOpt(
        "goodness_function",
        help="Expression (0 to 100) that says how good a pool of this back end is for a share.",
    ),
    cfg.IntOpt(
        "max_shares_per_share_server",
        default=-1,
        min=-1,
        help="Share instances on one share server; -1: no limit.",
    ),
    cfg.IntOpt(
        "max_share_server_size",
        default=-1,
        min=-1,
        help="GiB of shares and snapshots on one share server; -1: no limit.",
    ),
)


def register(conf: cfg.ConfigOpts) -> None:
    """Register nothing: which sections there are is known only when the file has been read."""
    del conf


def register_backend(conf: cfg.ConfigOpts, name: str) -> None:
    """Register the options of the back end whose section is *name*; a second time is fine."""
    conf.register_opts(OPTS, group=name)
