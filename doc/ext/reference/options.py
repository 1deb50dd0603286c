"""Configuration options and quotas, from where they are declared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fileshare.conf import backend, opts
from fileshare.domain.quotas import RESOURCES
from fileshare.drivers import loader
from reference.markdown import code, plain, table


def sections() -> str:
    """Every option of the program by section; those of a back end among them."""
    return "\n".join(_section(name, found) for name, found in opts.list_opts())


def drivers() -> str:
    """Options that drivers add to the section of their back end."""
    return "\n".join(_list(found) for _, found in loader.list_opts())


def _section(name: str, found: Sequence[Any]) -> str:
    title = "The section of a back end" if name == backend.GROUP else f"`[{name}]`"
    return f"## {title}\n\n{_list(found)}"


def _list(found: Iterable[Any]) -> str:
    return "\n".join(_option(option) for option in sorted(found, key=lambda option: option.name))


def _option(option: Any) -> str:
    facts = [f"Default: {_default(option)}."]
    choices = getattr(option.type, "choices", None)
    if choices:
        facts.append(f"One of {_choices(choices)}.")
    if option.mutable:
        facts.append("Read again on SIGHUP.")
    return f"{code(option.dest)}\n: {plain(option.help)} {' '.join(facts)}\n"


def _choices(choices: Any) -> str:
    if isinstance(choices, dict):
        return "; ".join(
            f"{code(value)} ({plain(text)})" if text else code(value)
            for value, text in choices.items()
        )
    return ", ".join(code(value) for value in choices)


def _default(option: Any) -> str:
    value = option.default if option.sample_default is None else option.sample_default
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(code(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(code(f"{key}:{item}") for key, item in value.items())
    return code(value)


def quotas() -> str:
    """What is counted, with the limit of a new installation."""
    rows = (
        (code(resource.name), "none" if resource.default < 0 else str(resource.default))
        for resource in RESOURCES
    )
    return table(("Quota", "Default limit"), rows)
