"""What is found by entry points, and what drivers can do."""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Iterator

from fileshare.drivers import base
from fileshare.drivers.conformance import SUITES, AccessSuite, SharesSuite
from reference.markdown import about, code, table


def _plugins(group: str) -> Iterator[tuple[str, type]]:
    found = {point.name: point for point in importlib.metadata.entry_points(group=group)}
    for name in sorted(found):
        yield name, found[name].load()


def drivers() -> str:
    """The installed drivers with their capabilities."""
    rows = (
        (
            code(name),
            about(cls),
            ", ".join(code(one.__name__) for one in base.CAPABILITIES if issubclass(cls, one)),
        )
        for name, cls in _plugins("fileshare.drivers")
    )
    return table(("`share_driver`", "What it is", "Capabilities"), rows)


def capabilities() -> str:
    """The required interface and the capability classes, with their methods and suites."""
    rows = (
        (
            code(cls.__name__),
            about(cls),
            ", ".join(code(name) for name in _required(cls)),
            ", ".join(code(suite.__name__) for suite in _suites(cls)),
        )
        for cls in (base.Driver, *base.CAPABILITIES)
    )
    return table(("Class", "What it is", "Methods", "Conformance suite"), rows)


def _suites(cls: type) -> tuple[type, ...]:
    if cls is base.Driver:
        return (SharesSuite, AccessSuite)
    return (SUITES[cls.__name__],)


def _required(cls: type) -> list[str]:
    return [
        name
        for name, member in vars(cls).items()
        if inspect.isfunction(member) and getattr(member, "__isabstractmethod__", False)
    ]


def filters() -> str:
    """The installed filters."""
    rows = ((code(name), about(cls)) for name, cls in _plugins("fileshare.scheduler.filters"))
    return table(("Filter", "What passes"), rows)


def weighers() -> str:
    """The installed weighers."""
    rows = ((code(name), about(cls)) for name, cls in _plugins("fileshare.scheduler.weighers"))
    return table(("Weigher", "What it prefers"), rows)
