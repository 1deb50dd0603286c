"""Match, authorise, validate, act, render: the way of every request below /v2."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jsonschema
import webob
import webob.exc

from fileshare import errors
from fileshare.api import encoding, faults, pagination, policy
from fileshare.api.microversions import Version, negotiate, span
from fileshare.api.middleware.identity import OPERATION
from fileshare.api.request import Request, rebased
from fileshare.api.resource import Many, One, Operation, Page, Resource
from fileshare.api.routing import Match, Router, choose
from fileshare.api.shapes import boolean
from fileshare.operations.away import of_the_database

LOG = logging.getLogger(__name__)

VERSION_HEADER = "X-OpenStack-Manila-API-Version"
EXPERIMENTAL_HEADER = "X-OpenStack-Manila-API-Experimental"
_JSON = "application/json"


class Application:
    """The WSGI application of all versioned resources; expects a context in the environment."""

    def __init__(self, runtime: Any, resources: Iterable[Resource]) -> None:
        conf = runtime.conf
        self.runtime = runtime
        self.router = Router(resources, conf.project_id_regex)
        self.enforcer = policy.Enforcer(conf, self.router.operations)
        self._checked = conf.api.response_validation

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        http = webob.Request(environ)
        return self.respond(http)(environ, start_response)

    def respond(self, http: webob.Request) -> webob.Response:
        if http.environ["PATH_INFO"] == "":
            return faults.moved(http.application_url + "/")
        try:
            match = self.router.match(http.method, http.path_info)
        except UnicodeDecodeError:
            match = None
        if match is None:
            return faults.unrouted()
        try:
            asked = http.headers.get(VERSION_HEADER)
            version = negotiate(asked)
        except errors.InvalidVersion as error:
            return _identified(faults.response(error), http)
        except errors.UnsupportedVersion as error:
            return _stamped(_identified(faults.response(error), http), str(asked), http)
        answer = self._serve(http, version, match)
        return _stamped(_identified(answer, http), str(version), http)

    def _serve(self, http: webob.Request, version: Version, match: Match) -> webob.Response:
        operation = None
        try:
            payload = _payload(http)
            operation, action = choose(match, payload, version, _experimental(http))
            http.environ[OPERATION] = f"{operation.id} at {version}"
            request = Request(
                http, self.runtime, self.enforcer, version, operation, match.project_id
            )
            _check_project(request)
            return self._act(request, dict(match.variables), payload, action)
        except errors.FileshareError as error:
            if error.status >= 500:  # noqa: PLR2004 - the class of server errors
                LOG.exception("%s %s failed", http.method, http.path)
            return faults.response(error, operation)
        except webob.exc.HTTPException:
            raise  # the size limiter's, while the body is read
        except Exception as error:
            LOG.exception("%s %s failed unexpectedly", http.method, http.path)
            away = of_the_database(error)
            return faults.unexpected() if away is None else faults.response(away)

    def _act(
        self, request: Request, arguments: dict[str, Any], payload: object, action: str | None
    ) -> webob.Response:
        operation = request.operation
        if not operation.late_policy:
            _authorize(request)
        request.query = operation.query.read(_parameters(request.http), request)
        if operation.body is not None:
            given = operation.body.read(payload, request.version, request, action)
            _check_key(operation, given, arguments)
            arguments |= given
        if operation.late_policy:
            _authorize(request)
        return self._render(request, operation.handler(request, **arguments))

    def _render(self, request: Request, result: Any) -> webob.Response:
        operation = request.operation
        response = webob.Response(status=request.status, charset="UTF-8")
        response.headers["Content-Type"] = _JSON
        answer = operation.answer
        if answer is None:
            return response
        if isinstance(answer, One):
            shown = answer.view.renderer(request)(result, request)
            body: Any = shown if answer.key is None else {answer.key: shown}
        else:
            body = self._listed(request, answer, result)
        if answer.also:
            body[answer.also] = body[answer.key]
        if self._checked != "ignore":
            self._validate(operation, body, request.version)
        response.body = encoding.dump(body)
        return response

    def _listed(
        self, request: Request, answer: Many, result: Page | Sequence[Any]
    ) -> dict[str, Any]:
        page = result if isinstance(result, Page) else Page(result)
        render = answer.view.renderer(request)
        rows = [render(row, request) for row in page.rows]
        body: dict[str, Any] = {answer.key: rows}
        since = answer.count_since
        if page.count is not None and since and request.has(span(since)):
            body["count"] = page.count
        if answer.links:
            url = rebased(request.http.path_url, self.runtime.conf.osapi_share_base_URL)
            given = _parameters(request.http)
            links = pagination.next_link(url, given, rows)
            if links:
                body[answer.links] = links
        return body

    def _validate(self, operation: Operation, body: Any, version: Version) -> None:
        """Compare an answer with its schema; on by configuration, always in tests."""
        answer = operation.answer
        if answer is None:
            return
        inner = body if answer.key is None else body[answer.key]
        schema = answer.view.schema(version)
        data = encoding.load(encoding.dump(inner))
        for item in data if isinstance(answer, Many) else [data]:
            for fault in jsonschema.Draft202012Validator(schema).iter_errors(item):
                where = ".".join(str(part) for part in fault.absolute_path)
                LOG.warning("The answer of %s at %s: %s", operation.id, where, fault.message)
                if self._checked == "error":
                    raise ValueError(f"{operation.id}: {where}: {fault.message}")


def _check_project(request: Request) -> None:
    if request.project_id is not None and request.project_id != request.ctx.project_id:
        raise errors.MalformedUrl


def _authorize(request: Request) -> None:
    """Ask the main rule of the operation."""
    rules = request.operation.policy
    if rules and not request.allowed(rules[0]):
        raise errors.Refused(reason=policy.DENIED)


def _check_key(operation: Operation, given: dict[str, Any], variables: dict[str, Any]) -> None:
    """A body of one free key must hold the key that the path names."""
    for field in operation.body.fields if operation.body else ():
        if field.name.startswith("{"):
            key = variables[field.name[1:-1]]
            if list(given[field.to or "values"]) != [key]:
                raise errors.InvalidInput(field=key, reason="the body must hold this key alone")


def _parameters(http: webob.Request) -> list[tuple[str, str]]:
    try:
        pairs = list(http.GET.items())
    except UnicodeDecodeError as error:
        raise errors.InvalidInput(field="query", reason="it is not UTF-8") from error
    if any("\x00" in name or "\x00" in text for name, text in pairs):
        raise errors.InvalidInput(field="query", reason="a null character is not accepted")
    return pairs


def _payload(http: webob.Request) -> Any:
    """The JSON of the body; a body of another type counts as none."""
    if http.content_type != _JSON:
        return None
    stream, length = http.environ["wsgi.input"], http.content_length
    if length is not None:
        data = stream.read(length)
    else:
        data = stream.read() if http.environ.get("wsgi.input_terminated") else b""
    return encoding.load(data) if data else None


def _experimental(http: webob.Request) -> bool:
    try:
        return boolean(http.headers.get(EXPERIMENTAL_HEADER, "false"))
    except ValueError:
        return False


def _identified(response: webob.Response, http: webob.Request) -> webob.Response:
    response.headers["x-compute-request-id"] = http.environ["fileshare.context"].request_id
    return response


def _stamped(response: webob.Response, version: str, http: webob.Request) -> webob.Response:
    response.headers[VERSION_HEADER] = version
    response.headers["Vary"] = VERSION_HEADER
    if _experimental(http):
        response.headers[EXPERIMENTAL_HEADER] = "True"
    return response
