"""The text of NFS-Ganesha's configuration; nothing unchecked gets into it.

Two habits of Ganesha shape it.  The first CLIENT block that matches a client decides, so the
narrowest come first.  And a network of all addresses is no client to it, so one is written as
its two halves.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import json
from collections.abc import Iterable
from pathlib import Path

from fileshare import errors
from fileshare.drivers.names import checked_client, checked_path

Client = tuple[str, str]
"""An address or network in canonical form, and ``rw`` or ``ro``."""

SQUASHES = {"none": "None", "root": "Root_Squash", "all": "All_Squash"}

_LEVELS = {"rw": "RW", "ro": "RO"}

_HALVES = {
    "0.0.0.0/0": ("0.0.0.0/1", "128.0.0.0/1"),
    "::/0": ("::/1", "8000::/1"),
}
_WHOLES = {half: whole for whole, halves in _HALVES.items() for half in halves}


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """How a Ganesha is run, or reached.

    ``bus_address`` names the message bus of a Ganesha that the operator runs, whose
    configuration includes ``STATE/exports.conf``; without it the back end runs its own.
    """

    state: Path
    port: int = 2049
    bind_address: str = "::"
    squash: str = "none"
    bus_address: str | None = None
    namespace: str | None = None

    @property
    def bus(self) -> str:
        """Address of the message bus."""
        return self.bus_address or f"unix:path={self.state}/run/bus"


@dataclasses.dataclass(frozen=True, slots=True)
class Exported:
    """One export: *key* is the caller's name for it, *id* what Ganesha knows it by."""

    key: str
    id: int
    path: str
    pseudo: str
    clients: tuple[Client, ...] = ()


def server_text(settings: Settings, plugins: str) -> str:
    """The main file of a Ganesha of our own.

    Without a grace period: exports are back at once after a restart, and clients open again.
    Subvolumes of one btrfs share its UUID, so file systems are told apart by device.
    """
    state = checked_path(str(settings.state))
    return f"""\
NFS_CORE_PARAM {{
    Protocols = 4;
    NFS_Port = {int(settings.port)};
    Bind_addr = {ipaddress.ip_address(settings.bind_address)};
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Enable_UDP = false;
    Plugins_Dir = {checked_path(plugins)};
    fsid_device = true;
}}
NFSv4 {{
    Graceless = true;
    RecoveryBackend = fs;
    RecoveryRoot = {state}/recovery;
    Minor_Versions = 0, 1, 2;
    Allow_Numeric_Owners = true;
}}
NFS_KRB5 {{ Active_krb5 = false; }}
EXPORT_DEFAULTS {{
    Access_Type = None;
    SecType = sys;
    Squash = {SQUASHES[settings.squash]};
    Protocols = 4;
    Transports = TCP;
}}
%include "{state}/exports.conf"
"""


def bus_text(settings: Settings) -> str:
    """The configuration of a message bus that only root and we can reach (by its directory)."""
    state = checked_path(str(settings.state))
    return f"""\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={state}/run/bus</listen>
  <pidfile>{state}/run/bus.pid</pidfile>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="false"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"""


def export_text(export: Exported) -> str:
    """The file of one export, its clients the narrowest first.

    The first line keeps for :func:`parse_export` what cannot be read from the rest.
    """
    facts = {"id": export.id, "path": export.path, "pseudo": export.pseudo}
    line = json.dumps({**facts, "clients": export.clients})
    blocks = "".join(_client_text(client) for client in in_order(export.clients))
    return f"""\
# {line}
EXPORT {{
    Export_Id = {int(export.id)};
    Path = {checked_path(export.path)};
    Pseudo = {checked_path(export.pseudo)};
    FSAL {{ Name = VFS; }}
{blocks}}}
"""


def parse_export(key: str, text: str) -> Exported:
    """What :func:`export_text` was made from."""
    facts = json.loads(text.partition("\n")[0].removeprefix("# "))
    clients = tuple((to, level) for to, level in facts["clients"])
    return Exported(key, facts["id"], facts["path"], facts["pseudo"], clients)


def _client_text(client: Client) -> str:
    to, level = client
    to = checked_client(to)
    if level not in _LEVELS:
        raise errors.InvalidAccess(f"Access level {level!r} is not offered.")
    clients = ", ".join(_HALVES.get(to, (to,)))
    return (
        f"    CLIENT {{ Clients = {clients}; Access_Type = {_LEVELS[level]}; Protocols = 4; }}\n"
    )


def index_text(files: Iterable[str]) -> str:
    """The file that includes those of all exports."""
    return "".join(f'%include "{checked_path(path)}"\n' for path in files)


def in_order(clients: Iterable[Client]) -> list[Client]:
    """The narrowest first, so that a rule for one address wins over one for its network.

    Raises InvalidAccess for what is no client.
    """

    def width(client: Client) -> tuple[int, str]:
        network = ipaddress.ip_network(checked_client(client[0]))
        return network.max_prefixlen - network.prefixlen, client[0]

    return sorted(clients, key=width)


def clients_of(told: Iterable[Client]) -> set[Client]:
    """Clients as Ganesha tells of them, in canonical form again."""
    found: set[Client] = set()
    for to, level in told:
        client = str(ipaddress.ip_network(to))
        found.add((checked_client(_WHOLES.get(client, client)), level))
    return found
