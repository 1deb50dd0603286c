"""From method and path to the operations that may answer; compiled once, when the program starts.

A dictionary of (first segment, number of segments) stands before Routes, so that a request is
compared with a handful of patterns and not with all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import routes

from fileshare import errors
from fileshare.api.microversions import Version
from fileshare.api.resource import Operation, Resource, check

ROOT = "/v2/"
_GENERIC = re.compile(r"/[\w-]+(/detail|/{id}(/\w+)?)?")
_SUFFIX = re.compile(r"\.(json|xml)$")
# What a collection routes even where it serves nothing, by number of segments.
_PLAIN = {1: {"GET": "index", "POST": "create"}, 2: {"PUT": "update", "DELETE": "delete"}}
_PLAIN[2]["GET"] = "show"
_PLAIN[3] = {"GET": "edit"}


@dataclass(frozen=True, slots=True)
class Match:
    """The operations behind a path, the values of its variables, and the project id if it had one.

    Without operations the path is one that collections route and do not serve; *plain* is then
    the name of what was tried, and *has_actions* says what kind of refusal it gets.
    """

    operations: tuple[Operation, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    project_id: str | None = None
    plain: str = ""
    has_actions: bool = False


class Router:
    """All operations of all resources."""

    def __init__(self, resources: Iterable[Resource], project_id_regex: str) -> None:
        resources = list(resources)
        self.operations = [operation for resource in resources for operation in resource]
        check(self.operations)
        self._project_id = re.compile(project_id_regex)
        self._mappers: dict[tuple[str, int], routes.Mapper] = {}
        self._behind: dict[str, tuple[Operation, ...]] = {}
        self._root = tuple(op for op in self.operations if op.path == ROOT)
        self._collections = self._find_collections(resources)
        self._connect()
        self._firsts = {first for first, _ in self._mappers} | set(self._collections)

    def _find_collections(self, resources: Iterable[Resource]) -> dict[str, bool]:
        """The first segments of plain collections, and whether they have actions."""
        found: dict[str, bool] = {}
        for resource in resources:
            paths = {resource.path, resource.legacy or "", *(op.path for op in resource)}
            for path in paths if resource.listed else ():
                if path.count("/") == 1 and path != "/":
                    name = path[1:]
                    found[name] = found.get(name, False) or any(op.actions for op in resource)
        return found

    def _connect(self) -> None:
        patterns: dict[tuple[str, str], list[Operation]] = {}
        for operation in self.operations:
            if operation.path not in {"/", ROOT}:
                patterns.setdefault((operation.path, operation.method), []).append(operation)
        # A literal segment wins over a variable one.
        for path, method in sorted(patterns, key=lambda key: key[0].replace("{", "\x7f")):
            segments = path[1:].split("/")
            mapper = self._mappers.setdefault((segments[0], len(segments)), _mapper())
            name = f"{method} {path}"
            self._behind[name] = tuple(patterns[path, method])
            mapper.connect(name, path, conditions={"method": [method]})
        for mapper in self._mappers.values():
            mapper.create_regs([])

    def match(self, method: str, path: str) -> Match | None:
        """What is behind a path below /v2; None when no route leads there."""
        if path == "/":
            return Match(self._root)
        if "\x00" in path:
            return None
        segments = path.lstrip("/").split("/")
        project_id = None
        if _SUFFIX.sub("", segments[0]) not in self._firsts and len(segments) > 1:
            project_id, *segments = segments
        found = self._find(method, segments, project_id)
        if found is not None and project_id is not None and _is_generic(found):
            return found if self._project_id.fullmatch(project_id) else None
        return found

    def _find(self, method: str, segments: list[str], project_id: str | None) -> Match | None:
        found = self._mapped(method, segments, project_id)
        if _SUFFIX.search(segments[-1]) and (found is None or _is_generic(found)):
            segments = [*segments[:-1], _SUFFIX.sub("", segments[-1])]
            found = self._mapped(method, segments, project_id) or found
        return found or self._plain(method, segments, project_id)

    def _mapped(self, method: str, segments: list[str], project_id: str | None) -> Match | None:
        mapper = self._mappers.get((segments[0], len(segments)))
        if mapper is None:
            return None
        result = mapper.routematch("/" + "/".join(segments), {"REQUEST_METHOD": method})
        if result is None:
            return None
        variables, route = result
        return Match(self._behind[route.name], variables, project_id)

    def _plain(self, method: str, segments: list[str], project_id: str | None) -> Match | None:
        if segments[0] not in self._collections or "" in segments:
            return None
        tried = _PLAIN.get(len(segments), {}).get(method)
        if tried is None or (tried == "edit" and segments[2] != "edit"):
            return None
        actions = self._collections[segments[0]] and tried in {"create", "delete"}
        return Match(project_id=project_id, plain=tried, has_actions=actions)


def _mapper() -> routes.Mapper:
    mapper = routes.Mapper(controller_scan=None, explicit=True, register=False)
    mapper.minimization = False
    return mapper


def _is_generic(match: Match) -> bool:
    return not match.operations or _GENERIC.fullmatch(match.operations[0].path) is not None


def choose(
    match: Match, payload: object, version: Version, experimental: bool
) -> tuple[Operation, str | None]:
    """The operation of a match that is served at this version, and the action of the body.

    Raises RouteNotFound, or NoSuchAction and MalformedBody for bodies that name no action.
    """
    if match.plain:
        if match.has_actions:
            raise errors.NoSuchAction(action=match.plain)
        raise (
            errors.RouteNotFound
            if payload is None
            else errors.MalformedBody(reason="no body is expected")
        )
    candidates, action = match.operations, None
    if any(operation.actions for operation in candidates):
        candidates, action = _with_action(candidates, payload, version)
    for operation in candidates:
        if version not in operation.span:
            continue
        if experimental or not any(version in tried for tried in operation.experimental):
            return operation, action
    raise errors.RouteNotFound


def _with_action(
    candidates: Sequence[Operation], payload: object, version: Version
) -> tuple[tuple[Operation, ...], str]:
    if payload is None:
        raise errors.NoSuchAction(action="none")
    if not isinstance(payload, dict) or len(payload) != 1:
        raise errors.MalformedBody(reason="an action is an object with one key")
    (action,) = payload
    known = [(op, served) for op in candidates for name, served in op.actions if name == action]
    if not known:
        raise errors.NoSuchAction(action=action)
    return tuple(op for op, served in known if version in served), action
