"""The decision records, which live beside the sources of the manual."""

from __future__ import annotations

from pathlib import Path

ADR = Path(__file__).resolve().parents[2] / "adr"


def pages() -> dict[str, str]:
    """One page each, by the name of its file, and an index."""
    found = {path.stem: path.read_text() for path in sorted(ADR.glob("[0-9]*.md"))}
    listed = "\n".join(found)
    index = f"# Decisions\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    return {"index": index, **found}
