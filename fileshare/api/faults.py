"""From the catalogue of errors to answers: the only place that knows both.

A handler raises a class of ``fileshare.errors``; nothing else in the program raises HTTP.
"""

from __future__ import annotations

from typing import Any

import webob
import webob.exc

from fileshare import errors
from fileshare.api import encoding
from fileshare.api.resource import Operation

_NAMES = {
    400: "badRequest",
    401: "unauthorized",
    403: "forbidden",
    404: "itemNotFound",
    405: "badMethod",
    409: "conflictingRequest",
    413: "overLimit",
    415: "badMediaType",
    501: "notImplemented",
    503: "serviceUnavailable",
}
_OTHER = "computeFault"
_OVER_LIMIT = 413
_JSON = "application/json"
UNEXPECTED = "The server has either erred or is incapable of performing the requested operation."


def status_of(error: errors.FileshareError, operation: Operation | None) -> int:
    """The status of an error, after what the operation says about its own."""
    if operation is not None:
        for cls in type(error).__mro__:
            if cls in operation.faults:
                return operation.faults[cls]
    return error.status


def text_of(error: errors.FileshareError) -> str:
    """The message on the wire; not-found errors name their class before the text."""
    if type(error) is errors.NotFound:
        return f"{error.facts.get('exception', 'NotFound')}: {error}"
    return str(error)


def response(error: errors.FileshareError, operation: Operation | None = None) -> webob.Response:
    """The answer in the API's own form."""
    return envelope(status_of(error, operation), text_of(error))


def envelope(status: int, message: str) -> webob.Response:
    inner: dict[str, Any] = {"code": status, "message": message}
    answer = webob.Response(status=status, content_type=_JSON, charset="UTF-8")
    if status == _OVER_LIMIT:
        inner["retryAfter"] = "0"
        answer.headers["Retry-After"] = "0"
    answer.headers["Content-Type"] = _JSON
    answer.body = encoding.dump({_NAMES.get(status, _OTHER): inner})
    return answer


def unexpected() -> webob.Response:
    """The answer to what nobody foresaw; the request id in its headers leads to the log."""
    return envelope(500, UNEXPECTED)


def unrouted() -> webob.Response:
    """The answer to a path that no route leads to; its form follows the Accept header."""
    return webob.exc.HTTPNotFound()


def moved(location: str) -> webob.Response:
    return webob.exc.HTTPFound(location=location)


def unauthenticated(uri: str) -> webob.Response:
    """The answer to a missing or unknown token, as the identity service's middleware gives it."""
    message = str(errors.Unauthorized())
    body = {"error": {"code": 401, "title": "Unauthorized", "message": message}}
    answer = webob.Response(status=401, body=encoding.dump(body))
    answer.headers["Content-Type"] = _JSON
    answer.headers["WWW-Authenticate"] = f'Keystone uri="{uri}"'
    return answer
