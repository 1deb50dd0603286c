"""Checks of what comes from outside before it becomes part of a path or a configuration file."""

from __future__ import annotations

import ipaddress
import re

from fileshare import errors

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_PATH = re.compile(r"(/(?!\.{1,2}(?:/|$))[A-Za-z0-9_.+@=:,-]+)+")

LONGEST_PATH = 1024


def checked_id(id: str) -> str:
    """*id*, when it may be a file name (letters, digits, «-», «_»); raises DriverError."""
    if not _ID.fullmatch(id):
        raise errors.DriverError(operator_text=f"Id {id!r} may not be part of a path.")
    return id


def checked_path(path: str) -> str:
    """*path*, when it is absolute and plain: no «..», blank, quote, glob or control character."""
    if len(path) > LONGEST_PATH or not _PATH.fullmatch(path):
        raise errors.DriverError(operator_text=f"Path {path!r} may not be exported.")
    return path


def checked_client(to: str) -> str:
    """An address or network in its canonical form; raises InvalidAccess for anything else.

    A single address stays one (``10.0.0.1``), a network gets its own base (``10.0.0.1/24`` is
    ``10.0.0.0/24``).
    """
    try:
        if "%" in to:  # a zone id is no part of a rule
            raise ValueError(to)
        network = ipaddress.ip_network(to, strict=False)
    except ValueError as error:
        text = f"{to!r} is not an IP address or network."
        raise errors.InvalidAccess(text) from error
    if network.prefixlen == network.max_prefixlen:
        return str(network.network_address)
    return str(network)
