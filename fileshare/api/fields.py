"""Bodies, queries and views as tables of fields; what a microversion sees of them is derived.

A version adds a field, or a row with another span; it never copies a table.  Schemas, validators
and renderers are made once for each version that is asked for.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, cast

import jsonschema

from fileshare import errors
from fileshare.api.encoding import Json
from fileshare.api.microversions import ALWAYS, Span, Version
from fileshare.api.rules import Rule
from fileshare.api.shapes import ANY, Shape

ACTION: Final = "$action"  # the wrapper of POST …/action: the name of the action
FREE: Final = "*"  # a field that stands for every key

_LONGEST_REASON = 300
_UNPROCESSABLE = 422
_NEVER: Json = {"not": {}}


class Unset:
    """The value of nothing: no default, or a field of a view that shall be left out."""

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()
OMIT: Final = UNSET


class Asker(Protocol):
    """What tables need to know of a request."""

    @property
    def version(self) -> Version: ...
    @property
    def is_admin(self) -> bool: ...
    def allowed(self, rule: Rule | str) -> bool: ...
    def authorize(self, rule: Rule | str) -> None: ...


Source = str | Callable[[Any, Any], object]


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One row of a table.

    *before*: what happens to a body's or query's field outside its span.  *admin*: shown to, and
    heard from, administrators only.  *policy*: the rule that gates it; *denied* says whether a
    caller who lacks it is refused or not heard.  *source*: an attribute of the row (dots allowed),
    or a function of row and request; it may answer OMIT.  *to*: the argument of the handler.
    """

    name: str
    shape: Shape = ANY
    required: bool = False
    span: Span = ALWAYS
    before: Literal["ignore", "reject"] = "ignore"
    admin: bool = False
    policy: Rule | str | None = None
    denied: Literal["refuse", "ignore"] = "refuse"
    source: Source | None = None
    to: str | None = None
    default: object = UNSET
    about: str = ""

    @property
    def argument(self) -> str:
        return self.to or self.name


def present(fields: Iterable[Field], version: Version) -> tuple[Field, ...]:
    return tuple(field for field in fields if version in field.span)


def is_variable(name: str) -> bool:
    """Whether a name is ``{x}``: the one key that equals the variable of the path."""
    return name.startswith("{")


def _refuse(field: str, reason: str) -> errors.InvalidInput:
    return errors.InvalidInput(field=field, reason=reason[:_LONGEST_REASON])


def _explain(fault: jsonschema.ValidationError, where: str) -> errors.InvalidInput:
    path = [str(part) for part in fault.absolute_path]
    if fault.schema == _NEVER:
        return _refuse(".".join(path) or where, "it is not accepted at this microversion")
    if fault.validator == "required":
        needed, given = cast("list[str]", fault.validator_value), cast("Json", fault.instance)
        missing = [name for name in needed if name not in given]
        return _refuse(".".join([*path, *missing[:1]]), "it is required")
    return _refuse(".".join(path) or where, fault.message)


def convert(field: Field, value: object) -> object:
    """The value that a handler gets; raises InvalidInput where the schema was not sharp enough."""
    if field.shape.load is None:
        return value
    try:
        return field.shape.load(value)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise _refuse(field.name, f"{value!r} is not valid") from error


def _gate(field: Field, value: object, asker: Asker) -> bool:
    """Whether the caller is heard about this field; raises Forbidden where it is refused."""
    if field.admin and not asker.is_admin:
        return False
    if field.policy is None or not value:
        return True
    if field.denied == "refuse":
        asker.authorize(field.policy)
        return True
    return asker.allowed(field.policy)


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The body of a request: ``{key: {fields…}}``; key None is a bare object, ACTION an action's.

    *unknown* keys are ignored, rejected or kept (handed on as they are).  *missing_status* is the
    answer to a missing wrapper, *required_status* to a missing field.  *nullable* takes null for
    the object, *value* is the field that stands in place of an object (``{"restore": "id"}``),
    *anything* takes whatever is there.  *bare*: clients send the object without the key, too.
    """

    key: str | None
    fields: tuple[Field, ...] = ()
    unknown: Literal["ignore", "reject", "keep"] = "ignore"
    missing_status: Literal[400, 422] = 400
    required_status: Literal[400, 422] = 400
    aliases: tuple[str, ...] = ()
    nullable: bool = False
    value: Field | None = None
    anything: bool = False
    bare: bool = False

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - tables live as long as the program
    def schema(self, version: Version) -> Json:
        """The JSON schema of what is inside the wrapper."""
        if self.anything:
            return {}
        if self.value is not None and version in self.value.span:
            return self.value.shape.schema
        inner = self._object(version)
        if self.nullable or self.value is not None:
            return {"anyOf": [inner, {"type": "null"}]} if self.fields else {"type": "null"}
        return inner

    def _object(self, version: Version) -> Json:
        here = present(self.fields, version)
        names = {field.name for field in here}
        free = next((f for f in here if f.name == FREE or is_variable(f.name)), None)
        properties: dict[str, Any] = {f.name: f.shape.schema for f in here if f is not free}
        for field in self.fields:
            if field.name not in names and field.before == "reject":
                properties[field.name] = _NEVER
        inner: Json = {"type": "object", "properties": properties}
        required = [f.name for f in here if f.required and f is not free]
        if required:
            inner["required"] = required
        if free is not None:
            inner["additionalProperties"] = free.shape.schema
            inner["propertyNames"] = {"minLength": 1, "maxLength": 255}
            if is_variable(free.name):
                inner |= {"minProperties": 1, "maxProperties": 1}
        elif self.unknown == "reject":
            inner["additionalProperties"] = False
        return inner

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - tables live as long as the program
    def validator(self, version: Version) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator(self.schema(version))

    def document(self, version: Version, action: str | None = None) -> Json:
        """The JSON schema of the whole body."""
        if self.key is None:
            return self.schema(version)
        key = action if self.key == ACTION and action else self.key
        wrapped: Json = {
            "type": "object",
            "properties": {key: self.schema(version)},
            "required": [key],
        }
        return {"anyOf": [wrapped, self.schema(version)]} if self.bare else wrapped

    def read(
        self, payload: object, version: Version, asker: Asker, action: str | None = None
    ) -> dict[str, Any]:
        """The arguments of the handler; raises InvalidInput, MalformedBody, UnprocessableBody."""
        value = self._unwrap(payload, action)
        if self.anything:
            return {}
        where = action or self.key or "body"
        for fault in self.validator(version).iter_errors(value):
            error = _explain(fault, where)
            if self.required_status == _UNPROCESSABLE and fault.validator == "required":
                raise errors.UnprocessableBody(reason=str(error))
            raise error
        if self.value is not None and version in self.value.span:
            return {self.value.argument: convert(self.value, value)}
        if value is None:
            return self._defaults(version, {})
        return self._arguments(value, version, asker)

    def _unwrap(self, payload: object, action: str | None) -> Any:
        if payload is None:
            raise errors.MalformedBody(reason="a JSON body is needed")
        if self.key is None:
            return payload
        if action is not None:
            return payload[action] if isinstance(payload, dict) else None
        if isinstance(payload, dict):
            for key in (self.key, *self.aliases):
                value = payload.get(key)
                if isinstance(value, dict):
                    return value
        if self.bare:
            return payload
        raise self._missing()

    def _missing(self) -> errors.FileshareError:
        reason = f"it must hold an object under the key {self.key!r}"
        if self.missing_status == _UNPROCESSABLE:
            return errors.UnprocessableBody(reason=reason)
        return errors.MalformedBody(reason=reason)

    def _arguments(
        self, value: Mapping[str, Any], version: Version, asker: Asker
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        table = {field.name: field for field in present(self.fields, version)}
        free = next((f for n, f in table.items() if n == FREE or is_variable(n)), None)
        if free is not None:
            pairs = {k: convert(free, v) for k, v in value.items() if k not in table}
            found[free.to or "values"] = pairs
        for field in table.values():
            if field is free or field.name not in value:
                continue
            item = convert(field, value[field.name])
            if _gate(field, item, asker):
                found.setdefault(field.argument, item)
        if self.unknown == "keep" and free is None:
            found |= {k: v for k, v in value.items() if k not in table and k not in found}
        return self._defaults(version, found)

    def _defaults(self, version: Version, found: dict[str, Any]) -> dict[str, Any]:
        for field in present(self.fields, version):
            if field.default is not UNSET:
                found.setdefault(field.argument, field.default)
        return found

    def arguments(self) -> set[str]:
        """The names of all arguments that a handler of this body may be given."""
        fields = [*self.fields, *([self.value] if self.value else [])]
        return {
            f.to or "values" if f.name == FREE or is_variable(f.name) else f.argument
            for f in fields
        }


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The parameters behind the question mark.

    *unknown* ones are ignored, rejected, or kept as texts.  *once*: a repeated parameter is
    refused, instead of the last one counting.
    """

    fields: tuple[Field, ...] = ()
    unknown: Literal["ignore", "reject", "keep"] = "ignore"
    once: bool = False

    def read(self, given: Iterable[tuple[str, str]], asker: Asker) -> dict[str, Any]:
        """The values by argument; raises InvalidInput with the parameter's name."""
        table = {field.name: field for field in present(self.fields, asker.version)}
        texts: dict[str, str] = {}
        for name, text in given:
            if self.once and name in texts:
                raise _refuse(name, "it is given more than once")
            texts[name] = text
        found: dict[str, Any] = {}
        for name, text in texts.items():
            field = table.get(name)
            if field is None:
                self._stray(name, text, found)
            elif self._heard(field, asker):
                value = field.shape.parse(name, text)
                if _gate(field, value, asker):
                    found[field.argument] = value
        return self._complete(table.values(), found)

    def _heard(self, field: Field, asker: Asker) -> bool:
        return asker.is_admin or not field.admin

    def _stray(self, name: str, text: str, found: dict[str, Any]) -> None:
        known = next((field for field in self.fields if field.name == name), None)
        if known is None and self.unknown == "keep":
            found[name] = text
        elif known.before == "reject" if known else self.unknown == "reject":
            raise _refuse(name, "there is no such query parameter at this microversion")

    def _complete(self, fields: Iterable[Field], found: dict[str, Any]) -> dict[str, Any]:
        for field in fields:
            if field.default is not UNSET:
                found.setdefault(field.argument, field.default)
            elif field.required and field.argument not in found:
                raise _refuse(field.name, "it is required")
        return found


NO_QUERY = Query()

Renderer = Callable[[Any, Any], Json]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What an answer shows of a row.

    Two fields of one name with spans that do not meet are one field that changed.  A row is an
    object with attributes; with *mapping* it is a mapping, and keys that it lacks are left out.
    """

    fields: tuple[Field, ...]
    mapping: bool = False

    def renderer(self, asker: Asker) -> Renderer:
        """The function of row and request that makes one object of the answer."""
        gates = tuple(asker.allowed(rule) for rule in self._gates())
        return self._compiled(asker.version, asker.is_admin, gates)

    @functools.lru_cache(maxsize=1024)  # noqa: B019 - tables live as long as the program
    def _gates(self) -> tuple[Rule | str, ...]:
        return tuple(dict.fromkeys(f.policy for f in self.fields if f.policy is not None))

    def visible(
        self, version: Version, is_admin: bool = True, gates: Sequence[bool] | None = None
    ) -> tuple[Field, ...]:
        rules = self._gates()
        open_ = set(rules) if gates is None else {r for r, ok in zip(rules, gates) if ok}  # noqa: B905
        return tuple(
            field
            for field in present(self.fields, version)
            if (is_admin or not field.admin or field.policy is not None)
            and (field.policy is None or field.policy in open_)
        )

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - tables live as long as the program
    def _compiled(self, version: Version, is_admin: bool, gates: tuple[bool, ...]) -> Renderer:
        fields = self.visible(version, is_admin, gates)
        if any(field.name == FREE or is_variable(field.name) for field in fields):
            return lambda row, _request: dict(row)
        plain = {f.name: f.source or f.name for f in fields if not callable(f.source)}
        computed = tuple((f.name, f.source) for f in fields if callable(f.source))
        if self.mapping:
            return _render_mapping(plain, computed)
        return _render_with(tuple(plain), _getter([str(s) for s in plain.values()]), computed)

    def schema(self, version: Version) -> Json:
        """The JSON schema of one object, as an administrator sees it."""
        fields = self.visible(version)
        if any(field.name == FREE or is_variable(field.name) for field in fields):
            return {"type": "object", "additionalProperties": fields[0].shape.answer}
        return {
            "type": "object",
            "properties": {field.name: field.shape.answer for field in fields},
            "additionalProperties": False,
        }


def _getter(names: list[str]) -> Callable[[Any], Sequence[Any]]:
    owners = {name.rpartition(".")[0] for name in names}
    if len(names) > 1 and len(owners) == 1 and (owner := owners.pop()):
        # All hang on one thing, which is looked up once for all of them.
        part = operator.attrgetter(owner)
        inner = operator.attrgetter(*(name.rpartition(".")[2] for name in names))
        return lambda row: inner(part(row))
    if len(names) > 1:
        return operator.attrgetter(*names)
    if not names:
        return lambda _row: ()
    single = operator.attrgetter(names[0])
    return lambda row: (single(row),)


def _render_with(
    keys: tuple[str, ...],
    values: Callable[[Any], Sequence[Any]],
    computed: tuple[tuple[str, Callable[[Any, Any], object]], ...],
) -> Renderer:
    if not computed:
        return lambda row, _request: dict(zip(keys, values(row), strict=True))

    def render(row: Any, request: Any) -> Json:
        shown = dict(zip(keys, values(row), strict=True))
        for name, source in computed:
            value = source(row, request)
            if value is not OMIT:
                shown[name] = value
        return shown

    return render


def _render_mapping(
    plain: Mapping[str, Any], computed: tuple[tuple[str, Callable[[Any, Any], object]], ...]
) -> Renderer:
    def render(row: Any, request: Any) -> Json:
        shown = {name: row[key] for name, key in plain.items() if key in row}
        for name, source in computed:
            value = source(row, request)
            if value is not OMIT:
                shown[name] = value
        return shown

    return render


def mask(attribute: str, shown_as: Mapping[Any, object]) -> Callable[[Any, Any], object]:
    """A source that shows some values of an attribute as others."""
    value_of = operator.attrgetter(attribute)

    def source(row: Any, _request: Any) -> object:
        value = value_of(row)
        return shown_as.get(value, value)

    return source
