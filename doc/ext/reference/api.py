"""The API reference: routes, versions, policies and fields, from the declarations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fileshare.api import openapi
from fileshare.api.fields import ACTION, FREE, Field
from fileshare.api.microversions import ALWAYS, MAX, MIN, Span
from fileshare.api.policy import all_operations
from fileshare.api.resource import Many, One, Operation
from fileshare.api.rules import Rule
from reference.markdown import anchor, code, plain, table

_MANY_WORDS = 10


def families() -> dict[str, list[Operation]]:
    """Operations by the first part of their ids."""
    found: dict[str, list[Operation]] = {}
    for operation in all_operations():
        found.setdefault(operation.id.partition(".")[0], []).append(operation)
    return dict(sorted(found.items()))


def pages() -> dict[str, str]:
    """A page for each family of resources."""
    found = {name: _page(name, operations) for name, operations in families().items()}
    return {"index": _index(found), **found}


def _index(names: Iterable[str]) -> str:
    listed = "\n".join(names)
    return f"# Resources\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"


def write_documents(directory: Path) -> None:
    """Write the OpenAPI document of the first and of the newest microversion."""
    directory.mkdir(parents=True, exist_ok=True)
    for version in (MIN, MAX):
        document = openapi.document(all_operations(), version)
        text = json.dumps(document, indent=1, sort_keys=True)
        (directory / f"openapi-{version}.json").write_text(text + "\n")


def routes() -> str:
    """One line for each route."""
    rows = []
    for operation in sorted(all_operations(), key=lambda found: (found.path, found.method)):
        for name, served in operation.actions or (("", operation.span),):
            rows.append(
                (
                    code(f"{operation.method} {_path(operation)}")
                    + (f" {code(name)}" * bool(name)),
                    _title(operation),
                    _span(served),
                    str(operation.status),
                )
            )
    return table(("Route", "What it does", "Microversions", "Status"), rows)


def _path(operation: Operation) -> str:
    return operation.path if operation.path == "/" else f"/v2{operation.path}"


def _title(operation: Operation) -> str:
    return plain(operation.doc.partition("\n")[0].removesuffix("."))


def _page(name: str, operations: list[Operation]) -> str:
    current = [operation for operation in operations if not operation.id.endswith(".legacy")]
    old = [operation for operation in operations if operation.id.endswith(".legacy")]
    title = name.replace("_", " ").capitalize()
    parts = [f"({anchor('api', name)})=", f"# {title}", ""]
    for operation in current:
        parts += [*_operation(operation), ""]
    if old:
        rows = [(code(f"{one.method} {_path(one)}"), _span(one.span), _title(one)) for one in old]
        parts += ["## Earlier paths", "", "The same operations, where they were before.", ""]
        parts.append(table(("Route", "Microversions", "What it does"), rows))
    return "\n".join(parts)


def _operation(operation: Operation) -> Iterator[str]:
    yield f"## {_title(operation)}"
    yield ""
    for name, served in operation.actions or (("", operation.span),):
        action = f" with {code(name)}" if name else ""
        yield f"- {code(f'{operation.method} {_path(operation)}')}{action}, {_span(served)}"
    yield f"- Status: {operation.status}"
    yield f"- Policies: {_policies(operation)}"
    for error, status in operation.faults.items():
        yield f"- The error {code(error.code)} is {status} here"
    for span in operation.experimental:
        yield (
            f"- Experimental, {_span(span)}: "
            "served with the header `X-OpenStack-Manila-API-Experimental: true` only"
        )
    yield ""
    for paragraph in operation.doc.split("\n\n")[1:]:
        yield plain(paragraph)
        yield ""
    yield from _query(operation)
    yield from _body(operation)
    yield from _answer(operation)


def _policies(operation: Operation) -> str:
    names = [rule.name if isinstance(rule, Rule) else rule for rule in operation.policy]
    return ", ".join(code(name) for name in names) or "none; anybody may ask"


def _query(operation: Operation) -> Iterator[str]:
    if operation.query.fields:
        yield "**Query**\n"
        yield _fields(operation.query.fields, operation.span)


def _body(operation: Operation) -> Iterator[str]:
    body = operation.body
    if body is None:
        return
    if body.anything or not (body.fields or body.value):
        yield "**Body**: nothing in it is looked at.\n"
        return
    name = operation.actions[-1][0] if operation.actions else body.key
    inside = f" in `{name}`" if name and name != ACTION else ""
    yield f"**Body**{inside}\n"
    fields = [*body.fields, *([body.value] if body.value else [])]
    yield _fields(fields, operation.span, required=True)


def _answer(operation: Operation) -> Iterator[str]:
    answer = operation.answer
    if not isinstance(answer, (One, Many)):
        return
    kind = "A list of objects" if isinstance(answer, Many) else "An object"
    inside = f" in `{answer.key}`" if answer.key else ""
    also = f" and, the same, in `{answer.also}`" if answer.also else ""
    yield f"**Answer**: {kind.lower()}{inside}{also}.\n"
    yield _fields(answer.view.fields, operation.span, shown=True)


def _fields(
    fields: Iterable[Field], served: Span, *, required: bool = False, shown: bool = False
) -> str:
    rows = [
        (
            _name(field),
            _value(field, shown=shown),
            _span(field.span) if field.span not in (ALWAYS, served) else "",
            "; ".join(_notes(field, required=required)),
        )
        for field in fields
    ]
    return table(("Name", "Value", "Microversions", "Notes"), rows)


def _value(field: Field, *, shown: bool) -> str:
    schema, answer = field.shape.schema, field.shape.shown or {}
    # Words of a request may be written in any case, which their pattern says and no reader wants.
    if "enum" in answer or (shown and answer and "pattern" not in schema):
        return _kind(answer)
    return _kind(schema)


def _name(field: Field) -> str:
    return "(any key)" if field.name == FREE else code(field.name)


def _notes(field: Field, *, required: bool) -> Iterator[str]:
    if required and field.required:
        yield "required"
    if isinstance(field.default, bool | int | str):
        yield f"default {code(json.dumps(field.default))}"
    if field.before == "reject":
        yield "refused at other microversions"
    if field.admin:
        yield "administrators only"
    if field.policy is not None:
        name = field.policy.name if isinstance(field.policy, Rule) else field.policy
        yield f"needs {code(name)}"
    if field.about:
        yield plain(field.about)


def _span(span: Span) -> str:
    if span.until is None:
        return f"from {span.since}"
    return f"{span.since} to {span.until}" if span.since != span.until else str(span.since)


def _kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "enum" in schema:
        values = [code(json.dumps(value).strip('"')) for value in schema["enum"]]
        return " ".join(values) if len(values) <= _MANY_WORDS else "a status"
    kinds = schema.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    null = " or null" if "null" in kinds else ""
    return next((text for text in _words(schema, kinds) if text), "anything") + null


def _words(schema: Mapping[str, Any], kinds: list[str]) -> Iterator[str]:
    if "boolean" in kinds and "number" not in kinds:
        yield "true or false"
    if "integer" in kinds:
        least = schema.get("minimum")
        yield "whole number" + (f" ≥ {least}" if least is not None else "")
    if "array" in kinds:
        items = _kind(schema.get("items", {}))
        yield f"list of {items}"
    if "object" in kinds:
        yield "object"
    if "string" in kinds:
        yield _text(schema)


def _text(schema: Mapping[str, Any]) -> str:
    pattern = str(schema.get("pattern", ""))
    if "{8}" in pattern:
        return "UUID"
    most = schema.get("maxLength")
    return "text" + (f" ≤ {most}" if most else "")
