"""[coordination]: locks between processes and nodes (tooz)."""

from __future__ import annotations

from oslo_config import cfg

GROUP = "coordination"

OPTS = [
    cfg.StrOpt(
        "backend_url",
        default="file://$state_path/coordination",
        secret=True,
        help="URL of the tooz back end. A directory serves the processes of one node; several "
        "nodes need etcd, Redis or MySQL.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS, group=GROUP)
