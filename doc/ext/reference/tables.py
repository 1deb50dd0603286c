"""Errors, lifecycles, microversions, user messages and policies, as tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator

from fileshare import errors as catalogue
from fileshare.api import policy
from fileshare.api.microversions import HISTORY
from fileshare.domain import messages as texts
from fileshare.domain.lifecycle import LIFECYCLES, Lifecycle
from reference.markdown import about, anchor, code, plain, table


def known_errors() -> list[type[catalogue.FileshareError]]:
    """The catalogue's own classes; drivers make children of some for themselves."""
    return [cls for cls in catalogue.catalogue() if cls.__module__ == catalogue.__name__]


def errors() -> str:
    """Every class of the catalogue, in the order of their codes."""
    rows = [
        (
            code(cls.code),
            str(cls.status),
            _template(cls),
            about(cls) if cls.__doc__ else "",
            plain(cls.remedy.value),
        )
        for cls in known_errors()
    ]
    return table(("Code", "Status", "Text", "What it is", "What to do"), rows)


def _template(cls: type[catalogue.FileshareError]) -> str:
    return plain(cls.template.replace("{", "‹").replace("}", "›"))


def lifecycles() -> str:
    """A table for each resource, and its diagram where graphviz can draw it."""
    return "\n".join(part for life in LIFECYCLES.values() for part in _lifecycle(life))


def _lifecycle(life: Lifecycle) -> Iterator[str]:
    yield f"({anchor('lifecycle', life.resource)})=\n## {life.resource}\n"
    if shutil.which("dot"):
        yield f"```{{graphviz}}\n{dot(life)}\n```\n"
    yield table(
        ("Verb", "From", "During", "Done", "Failed", "Refused, nothing changed", "Worker lost"),
        (
            (
                code(verb.name),
                _statuses(verb.sources) or "(new)",
                code(verb.during),
                code(verb.done),
                code(verb.failed),
                code(verb.declined or verb.failed),
                verb.recovery.value,
            )
            for verb in life
        ),
    )
    over = [verb.name for verb in life if verb.takes_over]
    if over:
        named = ", ".join(code(name) for name in over)
        yield f"{named} does not wait for work that holds the resource: it takes over.\n"


_FEW = 8


def _statuses(found: Iterable[str]) -> str:
    names = sorted(found)
    return ", ".join(code(name) for name in names) if len(names) <= _FEW else "any status"


def dot(life: Lifecycle) -> str:
    """The diagram of a lifecycle in graphviz' language."""
    head = [f'digraph "{life.resource}" {{', "  rankdir=LR;", "  node [shape=box];"]
    return "\n".join([*head, *dict.fromkeys(_arrows(life)), "}"])


def _arrows(life: Lifecycle) -> Iterator[str]:
    for verb in life:
        sources = sorted(verb.sources) if len(verb.sources) <= _FEW else ["(any)"]
        for source in sources or ["(new)"]:
            yield f'  "{source}" -> "{verb.during}" [label="{verb.name}"];'
        for end in (verb.done, verb.failed, verb.declined or verb.failed):
            yield f'  "{verb.during}" -> "{end}";'


def microversions() -> str:
    """The history, newest first."""
    rows = ((version, plain(text)) for version, text in reversed(HISTORY.items()))
    return table(("Version", "What changed"), rows)


def messages() -> str:
    """Actions and details with their ids on the wire."""
    parts = []
    for title, known in (("Actions", texts.ACTIONS), ("Details", texts.DETAILS)):
        rows = ((code(row.id), code(row.code), plain(row.text)) for row in known.values())
        parts.append(f"## {title}\n\n" + table(("Id", "Name", "Text"), rows))
    last: dict[str, list[str]] = {}
    for name, detail in texts.FILTER_DETAILS.items():
        last.setdefault(detail, []).append(name)
    pairs = ((", ".join(map(code, names)), code(detail)) for detail, names in last.items())
    parts.append("## Which filter says what\n\n" + table(("Last filter", "Detail"), pairs))
    return "\n".join(parts)


def policies() -> str:
    """Every rule with its default, its paths and who passed before the roles."""
    return "\n".join(_rule(rule) for rule in policy.list_rules())


def _rule(rule: object) -> str:
    name = str(getattr(rule, "name", ""))
    lines = [f"({anchor('policy', name)})=", f"## {code(name)}", ""]
    lines += [plain(str(getattr(rule, "description", "") or "")), ""]
    lines.append(f"- Default: {code(getattr(rule, 'check_str', ''))}")
    scopes = getattr(rule, "scope_types", None)
    if scopes:
        lines.append(f"- Scopes: {', '.join(scopes)}")
    old = getattr(rule, "deprecated_rule", None)
    if old is not None:
        lines.append(
            f"- Also allowed unless `[oslo_policy] enforce_new_defaults` is set: "
            f"{code(old.check_str or '(everybody)')}"
        )
    for path in getattr(rule, "operations", ()):
        lines.append(f"- {code(path['method'] + ' ' + path['path'])}")
    return "\n".join([*lines, ""])
