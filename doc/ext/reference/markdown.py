"""Markdown, written."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence


def plain(text: str) -> str:
    """*text* as one line that Markdown takes literally; roles and arguments become code."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"``\1``", " ".join(text.split()))
    text = re.sub(r"(?<![\w*`])\*(\w+)\*(?![\w*`])", r"``\1``", text)
    parts = re.split(r"(`+[^`]*`+)", text)
    shown = [_code_of(part) if part.startswith("`") else _escaped(part) for part in parts]
    return "".join(shown)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|$])", r"\\\1", text)


def _code_of(part: str) -> str:
    return code(part.strip("`"))


def code(text: object) -> str:
    """*text* as code in a line; a bar would end a table's cell."""
    shown = str(text).replace("|", "\\|")
    return f"`{shown}`" if shown else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing where there are no rows."""
    lines = ["| " + " | ".join(cell or " " for cell in row) + " |" for row in rows]
    if not lines:
        return ""
    rule = "|" + "---|" * len(head)
    return "\n".join(["| " + " | ".join(head) + " |", rule, *lines, ""])


def about(thing: object) -> str:
    """The first paragraph of the docstring of a class or function, without what a base says."""
    doc = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return plain(doc.partition("\n\n")[0])


def prose(thing: object) -> str:
    """All paragraphs of a docstring."""
    doc = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return "\n\n".join(plain(paragraph) for paragraph in doc.split("\n\n"))


def anchor(*words: str) -> str:
    """The name of a place, for links."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-") for word in words)
