"""Client machines for trying things out: network namespaces, each with an address of its own.

One end of every wire is in this machine's network, under a bridge that holds the address at which
shares are exported; nothing leaves the machine.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

BRIDGE = "fileshare0"
NETWORK = "10.254.86"
GATEWAY = f"{NETWORK}.1"


def _ip(*arguments: str) -> None:
    done = subprocess.run(("ip", *arguments), check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


def _namespace(number: int) -> str:
    return f"{BRIDGE}-c{number}"


def address(number: int) -> str:
    """The address of a client machine."""
    return f"{NETWORK}.{number}"


def network() -> str:
    """Make the bridge unless it is there; return the address that it holds."""
    if not Path(f"/sys/class/net/{BRIDGE}").exists():
        _ip("link", "add", BRIDGE, "type", "bridge")
        _ip("address", "add", f"{GATEWAY}/24", "dev", BRIDGE)
        _ip("link", "set", BRIDGE, "up")
    return GATEWAY


def client(number: int) -> str:
    """Make a client machine unless it is there; return the name of its namespace."""
    name = _namespace(number)
    if not Path(f"/run/netns/{name}").exists():
        _ip("netns", "add", name)
        _ip("link", "add", f"fileshare-p{number}", "type", "veth",
            "peer", "name", "eth0", "netns", name)  # fmt: skip
        _ip("link", "set", f"fileshare-p{number}", "master", BRIDGE, "up")
        _ip("-n", name, "address", "add", f"{address(number)}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
    return name


def clear() -> None:
    """Remove the client machines and the bridge."""
    for namespace in Path("/run/netns").glob(f"{BRIDGE}-c*"):
        _ip("netns", "delete", namespace.name)
    if Path(f"/sys/class/net/{BRIDGE}").exists():
        _ip("link", "delete", BRIDGE)
