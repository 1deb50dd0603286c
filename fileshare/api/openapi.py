"""The OpenAPI document of the API at any microversion, derived from the declarations."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import orjson

from fileshare.api.encoding import Json
from fileshare.api.fields import ACTION, Field, present
from fileshare.api.microversions import HISTORY, MAX, MIN, Version
from fileshare.api.request import KEY_HEADER, LONGEST_KEY
from fileshare.api.resource import Many, Operation

_ERRORS = {
    "400": "The request is malformed, or a value is refused; the message names the field.",
    "401": "The token is missing or not valid.",
    "403": "Policy does not allow it, or the object is protected.",
    "404": "No such object, or none that the caller may know of.",
    "409": "The object is in a state, or has others around it, that exclude it.",
    "413": "A quota would be passed, or the body is too long.",
}
_MORE_ERRORS = {
    "422": "The body lacks the object that belongs there, or one of its fields.",
}
_LINK = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"rel": {"const": "next"}, "href": {"type": "string"}},
        "required": ["rel", "href"],
    },
}
_FAULT = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": {
        "type": "object",
        "properties": {"code": {"type": "integer"}, "message": {"type": "string"}},
        "required": ["code", "message"],
    },
}


def document(operations: Iterable[Operation], version: Version = MAX) -> Json:
    """The whole document; actions of one path are one operation with several bodies."""
    grouped: dict[tuple[str, str], list[Operation]] = {}
    for operation in operations:
        if version in operation.span and operation.path != "/":
            path = operation.path.removeprefix("/v2/") or "/"
            grouped.setdefault((path, operation.method), []).append(operation)
    paths: dict[str, Json] = {}
    for (path, method), served in sorted(grouped.items()):
        paths.setdefault(_distinct(path, paths), {})[method.lower()] = _operation(served, version)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Shared File Systems",
            "version": str(version),
            "description": HISTORY[str(version)],
        },
        "servers": [{"url": "/v2"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": {"type": "apiKey", "in": "header", "name": "X-Auth-Token"}
            },
            "schemas": {"Fault": _FAULT},
        },
    }


def _distinct(path: str, paths: Iterable[str]) -> str:
    """Paths that differ in the names of their variables only are one path in OpenAPI."""
    for known in paths:
        if _bare(known) == _bare(path):
            return known
    return path


def _bare(path: str) -> str:
    return "/".join("{}" if part.startswith("{") else part for part in path.split("/"))


def _operation(served: list[Operation], version: Version) -> Json:
    first = served[0]
    id = first.id.partition(".action.")[0] + ".action" if first.actions else first.id
    found: Json = {
        "operationId": id,
        "summary": " / ".join(operation.doc.partition("\n")[0] for operation in served),
        "tags": [first.id.partition(".")[0]],
        "parameters": _parameters(first, version),
        "responses": _responses(served, version),
        "x-openstack-policies": sorted({_name(rule) for op in served for rule in op.policy}),
        "x-openstack-microversions": {op.id: str(op.span) for op in served},
    }
    if any(version in span for operation in served for span in operation.experimental):
        found["x-openstack-experimental"] = True
    bodies = [body for operation in served for body in _bodies(operation, version)]
    if bodies:
        schema = bodies[0] if len(bodies) == 1 else {"oneOf": bodies}
        found["requestBody"] = {"required": True, "content": {"application/json": _of(schema)}}
    return found


def _of(schema: Json) -> Json:
    return {"schema": schema}


def _name(rule: Any) -> str:
    return rule if isinstance(rule, str) else str(rule.name)


def _bodies(operation: Operation, version: Version) -> list[Json]:
    body = operation.body
    if body is None:
        return []
    if body.key != ACTION:
        return [body.document(version)]
    return [
        body.document(version, name) | {"additionalProperties": False}
        for name, span in operation.actions
        if version in span
    ]


def _parameters(operation: Operation, version: Version) -> list[Json]:
    found: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in operation.variables
    ]
    found += [_query(field) for field in present(operation.query.fields, version)]
    asked: Json = {"type": "string", "const": str(version)}
    found.append(_header("X-OpenStack-Manila-API-Version", asked, required=version != MIN))
    if operation.keyed:
        found.append(
            _header(KEY_HEADER, {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY})
        )
    return found


def _header(name: str, schema: Json, *, required: bool = False) -> Json:
    return {"name": name, "in": "header", "required": required, "schema": schema}


def _query(field: Field) -> Json:
    entry: Json = {"name": field.name, "in": "query", "schema": _as_text(field.shape.schema)}
    if field.about:
        entry["description"] = field.about
    if field.required:
        entry["required"] = True
    return entry


def _as_text(schema: Json) -> Json:
    """Objects and lists stand in a query as text."""
    kinds = schema.get("type", [])
    structured = {"object", "array"} & set(kinds if isinstance(kinds, list) else [kinds])
    return {"type": "string"} if structured else schema


def _responses(served: list[Operation], version: Version) -> Json:
    found: Json = {}
    empty: set[str] = set()
    for operation in served:
        answer: Json = {"description": operation.doc.partition("\n")[0] or "Done."}
        schema = _answer(operation, version)
        status = str(operation.status)
        if schema is None:
            empty.add(status)
        else:
            answer["content"] = {"application/json": _of(schema)}
        if status in found and "content" in found[status] and schema is not None:
            before = found[status]["content"]["application/json"]["schema"]
            answer["content"] = {"application/json": _of({"anyOf": [before, schema]})}
        found[status] = found.get(status, {}) | answer
        if operation.idle is not None:
            empty.add(str(operation.idle))
            found.setdefault(str(operation.idle), {"description": "There was nothing to do."})
    for status in empty:
        if "content" in found[status]:
            found[status]["x-openstack-may-be-empty"] = True
    reference = {"application/json": _of({"$ref": "#/components/schemas/Fault"})}
    for status, text in _errors(served).items():
        found.setdefault(status, {"description": text, "content": reference})
    return found


def _errors(served: list[Operation]) -> dict[str, str]:
    """The statuses of refusals: those that every operation may give, and those of these."""
    bodies = [operation.body for operation in served if operation.body is not None]
    more = {
        str(status) for body in bodies for status in (body.missing_status, body.required_status)
    }
    more |= {str(status) for operation in served for status in operation.faults.values()}
    return _ERRORS | {status: _MORE_ERRORS[status] for status in more - set(_ERRORS)}


def _answer(operation: Operation, version: Version) -> Json | None:
    answer = operation.answer
    if answer is None:
        return None
    schema = answer.view.schema(version)
    if answer.key is None:
        return schema
    if not isinstance(answer, Many):
        return _object(answer.key, schema, answer.also)
    found = _object(answer.key, {"type": "array", "items": schema}, answer.also)
    if answer.links:
        found["properties"][answer.links] = _LINK
    if answer.count_since:
        found["properties"]["count"] = {"type": "integer"}
    return found


def _object(key: str, schema: Json, also: str | None) -> Json:
    keys = [key, also] if also else [key]
    return {"type": "object", "properties": dict.fromkeys(keys, schema), "required": keys}


def digest(found: Json) -> str:
    """A fingerprint of what a document promises; prose does not count."""
    return hashlib.sha256(orjson.dumps(_bones(found), option=orjson.OPT_SORT_KEYS)).hexdigest()


def _bones(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _bones(v) for k, v in value.items() if k not in {"summary", "description"}}
    return [_bones(item) for item in value] if isinstance(value, list) else value
