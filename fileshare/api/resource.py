"""A REST resource, declared once: routes, versions, policy, body, query and answer.

Handlers are plain functions ``def show(request, id)``: variables of the path and fields of the
body arrive as keyword arguments, the query as ``request.query``.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fileshare.api.fields import NO_QUERY, Body, Query, View
from fileshare.api.microversions import ALWAYS, Span, before, span
from fileshare.api.rules import Rule
from fileshare.errors import FileshareError

Handler = Callable[..., Any]
Decorated = TypeVar("Decorated", bound=Handler)
Policy = Rule | str
Spans = tuple[Span, ...]


class DeclarationError(Exception):
    """Two declarations that contradict each other; found when the program starts."""


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """An answer with one object under a key (None: bare), and the same under *also*."""

    key: str | None
    view: View
    also: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Many:
    """An answer with a list under a key.

    *links*: the key of the next-page links.  *count_since*: the first version at which
    ``with_count`` adds the number of all rows; the handler then answers a Page.
    """

    key: str
    view: View
    links: str | None = None
    count_since: str | None = None
    also: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a list, with the number of all rows where it was asked for."""

    rows: Sequence[Any]
    count: int | None = None


Answer = One | Many | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Operation:
    """What one route does at the versions of its span.

    *idle* is the status of an answer when there was nothing to do, where it is another one.
    *keyed*: it takes an Idempotency-Key, with which it makes something once.
    """

    id: str
    method: str
    path: str
    handler: Handler
    span: Span = ALWAYS
    experimental: Spans = ()
    policy: tuple[Policy, ...] = ()
    late_policy: bool = False
    body: Body | None = None
    query: Query = NO_QUERY
    answer: Answer = None
    status: int = 200
    idle: int | None = None
    faults: Mapping[type[FileshareError], int] = field(default_factory=dict)
    actions: tuple[tuple[str, Span], ...] = ()
    keyed: bool = False

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.handler) or ""

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(re.findall(r"{(\w+)}", self.path))


class Resource:
    """A family of operations whose ids begin with *id* and whose paths begin with *path*.

    *legacy* is the path that the same operations had up to 2.6.  *experimental* are the spans at
    which they ask for the experimental header.  *listed*: whether the plain paths of a collection
    (``/x``, ``/x/{id}``) answer «not found» in the API's own form where no operation serves them.
    """

    def __init__(
        self,
        id: str,
        path: str,
        *,
        since: str | None = None,
        until: str | None = None,
        legacy: str | None = None,
        experimental: Spans = (),
        listed: bool = True,
    ) -> None:
        self.id, self.path, self.legacy, self.listed = id, path, legacy, listed
        self.since, self.until, self.experimental = since, until, experimental
        self.operations: list[Operation] = []

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)

    def route(
        self,
        method: str,
        path: str = "",
        *,
        id: str | None = None,
        since: str | None = None,
        until: str | None = None,
        legacy: str | None = None,
        experimental: Spans | None = None,
        policy: Policy | tuple[Policy, ...] = (),
        late_policy: bool = False,
        body: Body | None = None,
        query: Query = NO_QUERY,
        answer: Answer = None,
        status: int = 200,
        faults: Mapping[type[FileshareError], int] | None = None,
        keyed: bool = False,
    ) -> Callable[[Decorated], Decorated]:
        """Declare one route; *path* is appended to the resource's.

        *legacy* is the whole path that it had up to 2.6.  *policy* names the main rule first, then
        those that handlers ask on some branches.  *faults* are statuses that differ here.
        """
        legacy = legacy or (self.legacy + path if self.legacy else None)
        rules = policy if isinstance(policy, tuple) else (policy,)

        def declare(handler: Decorated) -> Decorated:
            common: dict[str, Any] = {
                "method": method,
                "handler": handler,
                "experimental": self.experimental if experimental is None else experimental,
                "policy": rules,
                "late_policy": late_policy,
                "body": body,
                "query": query,
                "answer": answer,
                "status": status,
                "faults": faults or {},
                "keyed": keyed,
            }
            name = f"{self.id}.{id or handler.__name__}"
            first, last = since or self.since, until or self.until
            if legacy and (first is None or span(first).since < span("2.7").since):
                old = span(first, "2.6")
                self._add(Operation(id=f"{name}.legacy", path=legacy, span=old, **common))
                first = "2.7"
            spans = span(first, last)
            self._add(Operation(id=name, path=self.path + path, span=spans, **common))
            return handler

        return declare

    def get(self, path: str = "", **row: Any) -> Callable[[Decorated], Decorated]:
        return self.route("GET", path, **row)

    def post(self, path: str = "", **row: Any) -> Callable[[Decorated], Decorated]:
        return self.route("POST", path, **row)

    def put(self, path: str = "", **row: Any) -> Callable[[Decorated], Decorated]:
        return self.route("PUT", path, **row)

    def delete(
        self, path: str = "", *, status: int = 202, **row: Any
    ) -> Callable[[Decorated], Decorated]:
        return self.route("DELETE", path, status=status, **row)

    def action(
        self,
        name: str,
        *,
        renamed: str | None = None,
        path: str = "/{id}/action",
        since: str | None = None,
        until: str | None = None,
        experimental: Spans | None = None,
        policy: Policy | tuple[Policy, ...] = (),
        late_policy: bool = False,
        body: Body,
        answer: Answer = None,
        status: int = 202,
        idle: int | None = None,
        faults: Mapping[type[FileshareError], int] | None = None,
    ) -> Callable[[Decorated], Decorated]:
        """Declare ``POST path`` with a body of one key, *name*.

        *renamed* is the version in which the action lost the os- before its name.
        """
        first, last = since or self.since, until or self.until
        names: list[tuple[str, Span]] = [(name, span(renamed or first, last))]
        if renamed:
            names.insert(0, (f"os-{name}", span(first, before(renamed))))

        def declare(handler: Decorated) -> Decorated:
            self._add(
                Operation(
                    id=f"{self.id}.action.{name}",
                    method="POST",
                    path=self.path + path,
                    handler=handler,
                    span=span(first, last),
                    experimental=self.experimental if experimental is None else experimental,
                    policy=policy if isinstance(policy, tuple) else (policy,),
                    late_policy=late_policy,
                    body=body,
                    answer=answer,
                    status=status,
                    idle=idle,
                    faults=faults or {},
                    actions=tuple(names),
                )
            )
            return handler

        return declare

    def _add(self, operation: Operation) -> None:
        _check_arguments(operation)
        self.operations.append(operation)


def _check_arguments(operation: Operation) -> None:
    """The handler must take what the path and the body will give it."""
    parameters = inspect.signature(operation.handler).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return
    given = set(operation.variables)
    given |= operation.body.arguments() if operation.body else set()
    missing = given - {parameter.name for parameter in parameters}
    if missing:
        raise DeclarationError(f"{operation.id}: the handler lacks {sorted(missing)}")


def check(operations: Sequence[Operation]) -> None:
    """Ids are unique; the spans of one (method, path, action) neither overlap nor leave a gap."""
    ids: set[str] = set()
    spans: dict[tuple[str, str, str], list[Span]] = {}
    for operation in operations:
        if operation.id in ids:
            raise DeclarationError(f"{operation.id} is declared twice")
        ids.add(operation.id)
        path = re.sub(r"{\w+}", "{}", operation.path)
        for name, served in operation.actions or (("", operation.span),):
            spans.setdefault((operation.method, path, name), []).append(served)
    for key, found in spans.items():
        found.sort(key=lambda served: served.since)
        for one, two in itertools.pairwise(found):
            if one.meets(two):
                raise DeclarationError(f"{key}: {one} and {two} overlap")
            if one.last.minor + 1 != two.since.minor:
                raise DeclarationError(f"{key}: a gap between {one} and {two}")
