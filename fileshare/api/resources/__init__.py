"""The REST resources: one module for each, found by walking this package."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from fileshare.api.resource import Resource


@functools.cache
def all_resources() -> tuple[Resource, ...]:
    """Every Resource that a module of this package holds, in the order of the modules."""
    found: dict[int, Resource] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        names = vars(importlib.import_module(f"{__name__}.{module.name}"))
        for value in names.values():
            if isinstance(value, Resource):
                found.setdefault(id(value), value)
    return tuple(found.values())
