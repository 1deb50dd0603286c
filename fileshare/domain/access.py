"""Access rules: what may be written in one, and how two compare."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Final

from fileshare import errors
from fileshare.domain.statuses import RuleState

IP: Final = "ip"
USER: Final = "user"
CERT: Final = "cert"
CEPHX: Final = "cephx"
TYPES: Final = (IP, USER, CERT, CEPHX)
READ_WRITE: Final = "rw"
READ_ONLY: Final = "ro"
LEVELS: Final = (READ_WRITE, READ_ONLY)

HIDDEN: Final = "******"
"""What others see of a rule whose visibility is locked."""

LOCK_TOO_LATE: Final = frozenset({RuleState.QUEUED_TO_DENY, RuleState.DENYING, RuleState.ERROR})
"""States of a rule whose deletion cannot be locked any more."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Windows and LDAP names: no control characters, no shell or path characters.
_USER = re.compile(r"[\w .\-$@'`;()\[\]{}\\]{4,255}")
_CEPHX = re.compile(r"[\x20-\x2d\x2f-\x7e]{1,255}")
_CERT_MAX = 64
_LONGEST = 255
_IPV6 = 6


def _refuse(reason: str) -> errors.InvalidInput:
    return errors.InvalidInput(field="access_to", reason=reason)


def _network(text: str) -> Network:
    """The network that *text* writes: an address, or one with a mask and no bits below it."""
    address, slash, mask = text.partition("/")
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise _refuse(f"{text!r} is no IP address or network: {error}.") from None
    if "%" in address:
        raise _refuse(f"{text!r} names an interface of one machine.")
    # Of dotted masks the inverted form is taken by some programs and not by others.
    if slash and not mask.isdigit() and mask != str(network.netmask):
        raise _refuse(f"The mask of {text!r} must be a number of bits.")
    return network


def _check_ip(text: str, *, ipv6: bool) -> None:
    if _network(text).version == _IPV6 and not ipv6:
        raise _refuse("IPv6 addresses need microversion 2.38 or newer.")


def _check_user(text: str) -> None:
    if not _USER.fullmatch(text):
        raise _refuse("A user or group name has 4 to 255 letters, digits and ` .-$@'();[]{}\\_`.")


def _check_cert(text: str) -> None:
    if not 1 <= len(text) <= _CERT_MAX or not text.isprintable():
        raise _refuse("A common name has 1 to 64 printable characters.")


def _check_cephx(text: str) -> None:
    if not _CEPHX.fullmatch(text):
        raise _refuse("A Ceph identity is printable ASCII without periods, 255 at most.")


def validate(access_type: str, access_to: str, *, ipv6: bool = True, cephx: bool = True) -> str:
    """The cleaned *access_to*; raises InvalidInput where it is not one of its type."""
    text = access_to.strip()
    if access_type == IP:
        _check_ip(text, ipv6=ipv6)
    elif access_type == USER:
        _check_user(text)
    elif access_type == CERT:
        _check_cert(text)
    elif access_type == CEPHX and cephx:
        _check_cephx(text)
    else:
        raise errors.InvalidInput(field="access_type", reason=f"{access_type!r} is not supported.")
    if max(len(text), len(canonical(access_type, text))) > _LONGEST:
        raise _refuse(f"It may have {_LONGEST} characters.")
    return text


def canonical(access_type: str, access_to: str) -> str:
    """One spelling for all ways to write a rule: 10.0.0.1 and 10.0.0.1/32 are the same."""
    if access_type == IP:
        return str(_network(access_to))
    return unicodedata.normalize("NFC", access_to)


def for_driver(access_type: str, access_to: str) -> str:
    """The spelling that drivers are told: an address bare, a network with its bits."""
    if access_type != IP:
        return access_to
    network = _network(access_to)
    single = network.prefixlen == network.max_prefixlen
    return str(network.network_address if single else network)
