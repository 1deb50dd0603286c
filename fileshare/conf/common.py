"""[DEFAULT]: the node, its back ends, and what is the same for all processes."""

from __future__ import annotations

import socket

from oslo_config import cfg

from fileshare.domain import hints

GROUP = "DEFAULT"

OPTS = [
    cfg.HostAddressOpt(
        "host",
        default=socket.gethostname(),
        sample_default="<hostname>",
        help="Name of this node. Schedulers and data daemons are known by it; a back end is "
        "known by its own name, see backend_host in the back end's section.",
    ),
    cfg.StrOpt(
        "state_path",
        default="/var/lib/fileshare",
        help="Directory for what a process keeps on its node: locks, tokens of the stand-alone.",
    ),
    cfg.ListOpt(
        "enabled_share_backends",
        default=[],
        help="Names of the sections that describe the back ends of this node. The share daemon "
        "runs one child process for each.",
    ),
    cfg.ListOpt(
        "enabled_share_protocols",
        default=["NFS", "CIFS"],
        item_type=cfg.types.String(
            choices=["NFS", "CIFS", "GLUSTERFS", "HDFS", "CEPHFS", "MAPRFS", "LUSTRE"]
        ),
        help="Protocols that a share may ask for.",
    ),
    cfg.StrOpt(
        "storage_availability_zone",
        default="nova",
        help="Availability zone of the services of this node, unless a back end names its own.",
    ),
    cfg.StrOpt(
        "default_share_type",
        help="Name of the share type that a create without one uses. Without it such a request "
        "is refused.",
    ),
    cfg.StrOpt(
        "default_share_group_type",
        help="Name of the share group type that is shown as the default.",
    ),
    cfg.IntOpt(
        "service_down_time",
        default=60,
        min=1,
        mutable=True,
        help="Seconds after its last heartbeat at which a service counts as down. Must be more "
        "than report_interval; otherwise the daemons refuse to start, and to read options again.",
    ),
    cfg.IntOpt(
        "report_interval",
        default=10,
        min=1,
        mutable=True,
        help="Seconds between two heartbeats of a daemon.",
    ),
    cfg.StrOpt(
        "default_mount_point_prefix",
        default="{project_id}_",
        mutable=True,
        help="What stands before the mount point name that a caller chooses, where the share "
        "type sets no provisioning:mount_point_prefix. Without {project_id} projects can choose "
        "each other's names.",
    ),
    cfg.BoolOpt(
        "enable_new_services",
        default=True,
        help="Let new back ends take shares at once. Off: a share daemon that is seen for the "
        "first time is disabled until an administrator enables it.",
    ),
    cfg.ListOpt(
        "admin_only_metadata",
        default=[*hints.METADATA.values(), "__managed_at"],
        help="Keys of share metadata that only administrators may set or delete.",
    ),
    cfg.ListOpt(
        "driver_updatable_metadata",
        default=[],
        mutable=True,
        help="Keys of share metadata that are handed to the back end when somebody sets them. "
        "Their values change how a back end serves the share; which keys it knows, its driver "
        "says. Deleting a key changes nothing there.",
    ),
    cfg.ListOpt(
        "admin_only_el_metadata",
        default=["preferred"],
        help="Keys of the metadata of export locations that only administrators may set or "
        "delete.",
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    conf.register_opts(OPTS)
