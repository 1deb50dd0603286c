"""What a value may look like: JSON schema, reading from a query's text, conversion.

A shape serves bodies, queries and answers alike, so that a field says once what it is.
"""

from __future__ import annotations

import ast
import datetime as dt
import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jsonschema

from fileshare import errors
from fileshare.api import encoding
from fileshare.api.encoding import Json

BIGGEST = 2**31 - 1
_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0"})
_BOOLEAN = (
    r"^\s*([Tt]([Rr][Uu][Ee])?|[Yy]([Ee][Ss])?|[Oo][Nn]|1"
    r"|[Ff]([Aa][Ll][Ss][Ee])?|[Nn][Oo]?|[Oo][Ff][Ff]|0)\s*$"
)
_UNREADABLE = (
    ValueError,
    TypeError,
    OverflowError,
    SyntaxError,
    RecursionError,
    MemoryError,
)
_UUID = r"^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$"


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of value.

    *schema* is for requests; *shown* for answers, where it differs; *load* converts a valid JSON
    value; *read* makes the JSON value from a query's text, and raises ValueError when it cannot.
    """

    schema: Json
    load: Callable[[Any], Any] | None = None
    read: Callable[[str], Any] = str
    shown: Json | None = None

    def __hash__(self) -> int:
        return id(self)

    def parse(self, name: str, text: str) -> Any:
        """The value of a query parameter; raises InvalidInput with its name."""
        try:
            value = self.read(text)
        except _UNREADABLE as error:
            reason = f"{text[:64]!r} is not valid"
            raise errors.InvalidInput(field=name, reason=reason) from error
        for fault in _validator(self).iter_errors(value):
            raise errors.InvalidInput(field=name, reason=fault.message[:300])
        return self.load(value) if self.load else value

    @property
    def answer(self) -> Json:
        return self.schema if self.shown is None else self.shown


@functools.lru_cache(maxsize=1024)
def _validator(shape: Shape) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(shape.schema)


def boolean(value: object) -> bool:
    """The truth that a JSON value or text means; raises ValueError when it means none."""
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError(value)


def _whole(text: str) -> int:
    if not re.fullmatch(r"\s*[+-]?\d{1,20}\s*", text, re.ASCII):
        raise ValueError(text)
    return int(text)


def _literal(text: str) -> Any:
    """A dict written as JSON or as a Python literal."""
    try:
        value = json.loads(text)
    except ValueError:
        value = ast.literal_eval(text)
    if isinstance(value, dict) and not all(isinstance(key, str) for key in value):
        raise ValueError(text)
    # Escapes can write what no body may hold, and no database: halves of characters, and null.
    if encoding.holds_null(encoding.dump(value)):
        raise ValueError(text)
    return value


def _moment(value: str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(value)
    if moment.tzinfo is None:
        return moment
    return moment.astimezone(dt.UTC).replace(tzinfo=None)


def _checked_moment(text: str) -> str:
    text = text.strip()
    _moment(text)
    return text


def text(most: int | None = None, least: int = 0, pattern: str | None = None) -> Shape:
    """A text with at least and at most so many characters."""
    schema: Json = {"type": "string"}
    if most is not None:
        schema["maxLength"] = most
    if least:
        schema["minLength"] = least
    if pattern:
        schema["pattern"] = pattern
    return Shape(schema, shown={"type": "string"})


def integer(least: int | None = None, most: int = BIGGEST) -> Shape:
    """A whole number, or the text of one; *most* is what a column can hold."""
    schema: Json = {"type": ["integer", "string"], "pattern": r"^\s*[+-]?[0-9]{1,20}\s*$"}
    schema["maximum"] = most
    if least is not None:
        schema["minimum"] = least
    shown: Json = {"type": "integer"}

    def load(value: float | str) -> int:
        number = _whole(value) if isinstance(value, str) else int(value)
        if number > most or (least is not None and number < least):
            raise ValueError(value)
        return number

    return Shape(schema, load, _whole, shown)


def choice(*values: str | None, any_case: bool = False) -> Shape:
    """One of the named values; *any_case* takes them in upper and lower case."""
    shown: Json = {"enum": list(values)}
    if not any_case:
        return Shape(shown, shown=shown)
    pattern = "|".join(
        "".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else re.escape(c) for c in value)
        for value in values
        if value is not None
    )
    by_case = {value.lower(): value for value in values if value is not None}
    schema = {"type": "string", "pattern": f"^({pattern})$"}
    return Shape(schema, lambda value: by_case[value.lower()], shown=shown)


def nullable(shape: Shape) -> Shape:
    """The same, or null; the text of a query cannot be null but by the word."""

    def widen(schema: Json) -> Json:
        if "enum" in schema:
            return schema | {"enum": [*schema["enum"], None]}
        if "type" not in schema:
            return {"anyOf": [schema, {"type": "null"}]}
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return schema | {"type": [*kinds, "null"]}

    load = shape.load
    return replace(
        shape,
        schema=widen(shape.schema),
        shown=widen(shape.answer),
        load=None if load is None else lambda value: None if value is None else load(value),
    )


def listing(of: Shape, least: int = 0) -> Shape:
    """A list of at least so many values of one shape."""
    load = of.load
    return Shape(
        {"type": "array", "items": of.schema} | ({"minItems": least} if least else {}),
        None if load is None else lambda values: [load(value) for value in values],
        _literal,
        {"type": "array", "items": of.answer},
    )


def mapping(of: Shape, pattern: str | None = None, most: int = 255) -> Shape:
    """An object with free keys of 1 to *most* characters and values of one shape."""
    names: Json = {"minLength": 1, "maxLength": most}
    if pattern:
        names["pattern"] = pattern
    load = of.load
    return Shape(
        {"type": "object", "propertyNames": names, "additionalProperties": of.schema},
        None if load is None else lambda pairs: {k: load(v) for k, v in pairs.items()},
        _literal,
        {"type": "object", "additionalProperties": of.answer},
    )


def structure(**members: Shape) -> Shape:
    """An object of known members, as it stands in answers."""
    schema = {
        "type": "object",
        "properties": {name: shape.answer for name, shape in members.items()},
        "required": list(members),
    }
    return Shape(schema, read=_literal)


ANY = Shape({})
TEXT = text()
NAME = nullable(text(255))
UUID = Shape(
    {"type": "string", "pattern": _UUID}, shown={"type": "string", "minLength": 1, "maxLength": 64}
)
UUID_OR_NULL = nullable(UUID)
TEXT_OR_NULL = nullable(TEXT)
# What a new object is to belong to.  No form is asked of it: an id that names nothing is not
# found, and forms of web pages send an empty text where nothing was chosen.
REFERENCE = replace(TEXT_OR_NULL, load=lambda value: value or None)
BOOLEAN = Shape(
    {"type": ["boolean", "string", "integer"], "pattern": _BOOLEAN, "minimum": 0, "maximum": 1},
    boolean,
    shown={"type": "boolean"},
)
INTEGER = integer()
COUNT = integer(0)


def _unpadded(text: str) -> int:
    if text[:1].isspace():
        raise ValueError(text)
    return _whole(text)


# Of lists whose queries a schema has always checked.
PAGE_NUMBER = replace(COUNT, read=_unpadded)
MOMENT = Shape(
    {"type": "string"},
    _moment,
    _checked_moment,
    {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$"},
)
MOMENT_OR_NULL = nullable(MOMENT)
OBJECT = Shape({"type": "object"}, read=_literal)
TEXTS = mapping(TEXT)
METADATA = mapping(text(1023, least=1))
# Programs also send sizes as numbers; they are kept as text.
SPECS = mapping(
    Shape({"type": ["string", "boolean", "number"], "minLength": 1, "maxLength": 255}, str)
)
LINKS = listing(structure(rel=TEXT, href=TEXT))
