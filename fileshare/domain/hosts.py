"""``host@backend#pool`` as a value: where a share lives, and who serves it.

The three parts are compared exactly; ``node1`` is never a prefix of ``node10``.
"""

from __future__ import annotations

import dataclasses

from fileshare import errors


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Location:
    """A node, a back end on it, or a pool of that back end; the missing parts are None."""

    node: str
    backend: str | None = None
    pool: str | None = None

    def __str__(self) -> str:
        text = self.node
        if self.backend is not None:
            text += f"@{self.backend}"
        if self.pool is not None:
            text += f"#{self.pool}"
        return text

    @property
    def backend_host(self) -> str:
        """``host@backend``: the identity that owns shares, without the pool."""
        return str(Location(self.node, self.backend))


def parse(text: str) -> Location:
    """The parts of *text*; raises InvalidInput where one that is announced is empty."""
    address, hash_sign, pool = text.partition("#")
    node, at_sign, backend = address.partition("@")
    if not node or (at_sign and not backend) or (hash_sign and not pool):
        raise errors.InvalidInput(field="host", reason=f"{text!r} is no host@backend#pool")
    return Location(node, backend if at_sign else None, pool if hash_sign else None)


def backend_of(host: str) -> str:
    """``host@backend`` of a host with or without a pool."""
    return host.partition("#")[0]


def pool_of(host: str) -> str | None:
    """The pool of a host; None where it names none."""
    return host.partition("#")[2] or None


def pool_host(backend: str, pool: str) -> str:
    """``host@backend#pool`` from ``host@backend`` and the name of a pool."""
    return f"{backend}#{pool}"
