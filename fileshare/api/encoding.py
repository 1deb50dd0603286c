"""JSON of requests and answers, and the one form of a moment on the wire."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

import orjson

from fileshare import errors

Json = dict[str, Any]

_NULL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME


def moment(value: dt.datetime) -> str:
    """UTC with microseconds and without a zone, as clients have always read it."""
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return value.isoformat(timespec="microseconds")


def _other(value: object) -> object:
    if isinstance(value, dt.datetime):
        return moment(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(type(value).__name__)


def dump(value: object) -> bytes:
    return orjson.dumps(value, _other, _OPTIONS)


def holds_null(data: bytes) -> bool:
    """Whether JSON holds a null character, which some databases do not keep."""
    return b"\\u0000" in data and _NULL.search(data) is not None


def load(data: bytes) -> Any:
    """The value of a body; raises MalformedBody when it is no JSON, or holds a null character."""
    if holds_null(data):
        raise errors.MalformedBody(reason="a null character is not accepted")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise errors.MalformedBody(reason="cannot understand JSON") from error
