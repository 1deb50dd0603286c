"""The manual's generated parts: a Sphinx extension that reads the program.

Two kinds of them.  A line ``<!-- generated: errors -->`` in a page becomes what the function of
that name in :data:`BLOCKS` writes.  Whole pages (:data:`PAGES`) are written into the directory
that ``generated_pages`` names for them, before Sphinx looks for sources; they are not kept.
"""

from __future__ import annotations

# Threads are chosen before anything of the program is imported, as its own programs do.
from fileshare.cmd import concurrency

concurrency.initialise()

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from reference import api, commands, coverage, decisions, options, plugins, tables

BLOCKS: Mapping[str, Callable[[], str]] = {
    "errors": tables.errors,
    "lifecycles": tables.lifecycles,
    "microversions": tables.microversions,
    "messages": tables.messages,
    "policies": tables.policies,
    "options": options.sections,
    "driver-options": options.drivers,
    "quotas": options.quotas,
    "commands": commands.all_commands,
    "programs": commands.programs,
    "drivers": plugins.drivers,
    "capabilities": plugins.capabilities,
    "filters": plugins.filters,
    "weighers": plugins.weighers,
    "routes": api.routes,
    "coverage": coverage.coverage,
}
PAGES: Mapping[str, Callable[[], dict[str, str]]] = {
    "api": api.pages,
    "decisions": decisions.pages,
}

_MARK = re.compile(r"^<!-- generated: ([a-z-]+) -->$", re.MULTILINE)


def fill(text: str) -> str:
    """*text* with its marks replaced; an unknown name is a KeyError."""
    return _MARK.sub(lambda mark: BLOCKS[mark[1]](), text)


def write_pages(directory: Path, pages: Mapping[str, str]) -> None:
    """Make *directory* hold these pages and no others; what is the same stays untouched."""
    directory.mkdir(parents=True, exist_ok=True)
    wanted = {directory / f"{name}.md": text for name, text in pages.items()}
    for path in set(directory.glob("*.md")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _pages(app: Any, config: Any) -> None:
    for name, directory in config.generated_pages.items():
        write_pages(Path(app.srcdir) / directory, PAGES[name]())
    if config.generated_openapi:
        api.write_documents(Path(app.srcdir) / config.generated_openapi)


def _fill(_app: Any, _docname: str, source: list[str]) -> None:
    source[0] = fill(source[0])


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("generated_pages", {}, "env")
    app.add_config_value("generated_openapi", "", "env")
    app.connect("config-inited", _pages)
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
