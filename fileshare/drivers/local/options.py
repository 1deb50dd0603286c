"""Options of the local driver."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from oslo_config import cfg

from fileshare import errors
from fileshare.drivers.exports.config import SQUASHES, Settings

DEFAULT_STATE = Path("/var/lib/fileshare/local")

OPTS: tuple[cfg.Opt, ...] = (
    cfg.StrOpt(
        "local_share_path",
        help=(
            "Existing directory that takes the shares. On btrfs each share is a subvolume and "
            "its size is enforced; elsewhere shares are plain directories and it is not."
        ),
    ),
    cfg.IntOpt(
        "local_share_size",
        min=1,
        help=(
            "GiB of a btrfs in a file under local_state_path, made and mounted when there is no "
            "local_share_path. The file takes disk space as shares fill."
        ),
    ),
    cfg.StrOpt(
        "local_state_path",
        help=(
            "Directory of the back end's own files, absolute and without blanks. "
            "Default: /var/lib/fileshare/local/SECTION."
        ),
    ),
    cfg.ListOpt(
        "local_export_ips",
        default=[],
        help="Addresses of this machine in the export locations, the preferred one first.",
    ),
    cfg.StrOpt(
        "local_nfs_bind_address",
        help="Address that NFS listens at. Default: the only export address, or all.",
    ),
    cfg.PortOpt(
        "local_nfs_port",
        default=2049,
        help="Port that NFS listens at; clients of another one than 2049 must name it.",
    ),
    cfg.StrOpt(
        "local_nfs_squash",
        default="none",
        choices=tuple(SQUASHES),
        help="Whose identity a client loses: nobody's, root's or everybody's.",
    ),
    cfg.StrOpt(
        "local_root_mode",
        default="0777",
        regex=r"0[0-7]{3,4}",
        help="Mode of the root directory of a new share, octal.",
    ),
    cfg.StrOpt(
        "local_ganesha_bus",
        help=(
            "D-Bus address of an NFS-Ganesha that the operator runs and whose configuration "
            "includes STATE/ganesha/exports.conf. Default: the back end runs one of its own, "
            "which goes on serving when the daemon stops."
        ),
    ),
)


def state_path(name: str, section: cfg.ConfigOpts.GroupAttr) -> Path:
    """The directory of the back end's own files."""
    path = section.local_state_path
    return Path(path) if path else DEFAULT_STATE / name


def export_addresses(section: cfg.ConfigOpts.GroupAttr) -> list[str]:
    """The addresses as they stand in an export location; raises BadConfiguration."""
    try:
        addresses = [ipaddress.ip_address(text) for text in section.local_export_ips]
    except ValueError as error:
        text = f"local_export_ips: {error}"
        raise errors.BadConfiguration(operator_text=text) from error
    if not addresses:
        raise errors.BadConfiguration(operator_text="local_export_ips is not set.")
    return [f"[{address}]" if address.version == 6 else str(address) for address in addresses]  # noqa: PLR2004  (a version)


def settings(name: str, section: cfg.ConfigOpts.GroupAttr) -> Settings:
    """How Ganesha is run."""
    addresses = section.local_export_ips
    bind = section.local_nfs_bind_address or (addresses[0] if len(addresses) == 1 else "::")
    return Settings(
        state=state_path(name, section) / "ganesha",
        port=section.local_nfs_port,
        bind_address=bind,
        squash=section.local_nfs_squash,
        bus_address=section.local_ganesha_bus,
    )
