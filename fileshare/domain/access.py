"""Access rules: what may be written in one, and how two compare."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from fileshare import errors

TYPES: Final = ("ip", "user", "cert", "cephx")
LEVELS: Final = ("rw", "ro")
READ_WRITE: Final = "rw"

# Windows and LDAP names: no control characters, no shell or path characters.
_USER = re.compile(r"[\w .\-$@'`;()\[\]{}\\+]{4,255}")
_CEPHX = re.compile(r"[\x20-\x2d\x2f-\x7e]+")
_CERT_MAX = 64


def _refuse(reason: str) -> errors.InvalidInput:
    return errors.InvalidInput(field="access_to", reason=reason)


def _check_ip(text: str, *, ipv6: bool) -> None:
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise _refuse(f"{text!r} is no IP address or network.") from None
    if "/" in text and not text.rpartition("/")[2].isdigit():
        raise _refuse(f"The mask of {text!r} must be a number of bits.")
    if network.version == 6 and not ipv6:  # noqa: PLR2004  (the version of the protocol)
        raise _refuse("IPv6 addresses need microversion 2.38 or newer.")


def _check_user(text: str) -> None:
    if not _USER.fullmatch(text):
        raise _refuse("A user or group name has 4 to 255 letters, digits and ` .-$@'();[]{}\\_+`.")


def _check_cert(text: str) -> None:
    if not 1 <= len(text.strip()) <= _CERT_MAX or not text.isprintable():
        raise _refuse("A common name has 1 to 64 printable characters.")


def _check_cephx(text: str) -> None:
    if not text.strip() or not _CEPHX.fullmatch(text):
        raise _refuse("A Ceph identity is printable ASCII without periods.")


def validate(access_type: str, access_to: str, *, ipv6: bool = True, cephx: bool = True) -> str:
    """The cleaned *access_to*; raises InvalidInput where it is not one of its type."""
    text = access_to.strip()
    if access_type == "ip":
        _check_ip(text, ipv6=ipv6)
    elif access_type == "user":
        _check_user(text)
    elif access_type == "cert":
        _check_cert(text)
    elif access_type == "cephx" and cephx:
        _check_cephx(text)
    else:
        raise errors.InvalidInput(field="access_type", reason=f"{access_type!r} is not supported.")
    return text


def canonical(access_type: str, access_to: str) -> str:
    """One spelling for all ways to write a rule: 10.0.0.1 and 10.0.0.1/32 are the same."""
    if access_type == "ip":
        return str(ipaddress.ip_network(access_to, strict=False))
    return access_to
