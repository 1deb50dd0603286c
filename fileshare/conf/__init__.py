"""Options, one module for each section; each has ``GROUP``, ``OPTS`` and ``register``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from types import ModuleType

from oslo_config import cfg

_NOT_SECTIONS = {"opts"}


def sections() -> Iterator[ModuleType]:
    """The modules of this package that declare options."""
    for found in pkgutil.iter_modules(__path__):
        if found.name not in _NOT_SECTIONS:
            yield importlib.import_module(f"{__name__}.{found.name}")


def register_all(conf: cfg.ConfigOpts) -> cfg.ConfigOpts:
    for section in sections():
        section.register(conf)
    return conf


def load(
    args: Sequence[str] = (), files: Sequence[str] | None = None, program: str = "fileshare"
) -> cfg.ConfigOpts:
    """The options of *args* and *files* (default: the places that oslo.config looks at)."""
    conf = register_all(cfg.ConfigOpts())
    conf(
        args=list(args),
        project="fileshare",
        prog=program,
        default_config_files=list(files) if files is not None else None,
    )
    return conf
