"""All options of the program, for the sample generator and the manual."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from oslo_config import cfg

from fileshare import conf as options


def list_opts() -> list[tuple[str, Sequence[cfg.Opt]]]:
    """(section, options) of every module of the package that has options of its own."""
    found = [(module.GROUP, list(module.OPTS)) for module in options.sections() if module.OPTS]
    found.sort(key=lambda pair: pair[0])
    return [
        (group, list(itertools.chain.from_iterable(opts for _, opts in pairs)))
        for group, pairs in itertools.groupby(found, key=lambda pair: pair[0])
    ]
