"""Extra specs of share types: what they may say, and whether a pool's capabilities meet them.

A spec ``key = value`` without a scope, or with the scope ``capabilities:``, asks something of
the capability *key* of a pool; ``capabilities:a:b`` asks it of *b* inside of *a*.  Specs of any
other scope are for drivers.  The value may begin with an operator:

========================  =====================================================================
``<is> True``             the same yes or no
``<in> TEXT``             the capability holds TEXT
``<or> A <or> B``         the capability equals one of them
``= 5``                   at least 5 (so for historical reasons)
``== != >= <=``           numbers
``s== s!= s< s<= s> s>=`` texts
(none)                    equal; upper and lower case are one, and so are ways to write yes
========================  =====================================================================

A capability that is a list meets a spec as soon as one of its members does.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from fileshare import errors

SHARE_SERVERS: Final = "driver_handles_share_servers"
SNAPSHOT: Final = "snapshot_support"
CREATE_FROM_SNAPSHOT: Final = "create_share_from_snapshot_support"
REVERT: Final = "revert_to_snapshot_support"
MOUNT_SNAPSHOT: Final = "mount_snapshot_support"
INHERIT_ACCESS: Final = "snapshot_inherit_share_access_support"
MOUNT_POINT_NAME: Final = "mount_point_name_support"
REPLICATION_TYPE: Final = "replication_type"
REPLICATION_DOMAIN: Final = "replication_domain"
ZONES: Final = "availability_zones"
LEAST_SIZE: Final = "provisioning:min_share_size"
MOST_SIZE: Final = "provisioning:max_share_size"
MOST_EXTEND_SIZE: Final = "provisioning:max_share_extend_size"
PROTOCOL: Final = "storage_protocol"
BACKEND_NAME: Final = "share_backend_name"
THIN: Final = "thin_provisioning"
QOS_TYPE: Final = "default_qos_type"
QOS_SUPPORT: Final = "qos_type_support"
MOUNT_POINT_PREFIX: Final = "provisioning:mount_point_prefix"

REQUIRED: Final = (SHARE_SERVERS,)
FEATURES: Final = (
    SNAPSHOT,
    CREATE_FROM_SNAPSHOT,
    REVERT,
    MOUNT_SNAPSHOT,
    MOUNT_POINT_NAME,
    INHERIT_ACCESS,
)
"""What a type may promise to its shares; each is yes or no, and unset is no."""

BOOLEANS: Final = (SHARE_SERVERS, *FEATURES)
SIZES: Final = (LEAST_SIZE, MOST_SIZE, MOST_EXTEND_SIZE)
TENANT_VISIBLE: Final = (*REQUIRED, *FEATURES, REPLICATION_TYPE, ZONES, *SIZES)
"""Specs that every user of a type sees; the others name what only operators know."""

REPLICATION_TYPES: Final = ("writable", "readable", "dr")
MOUNT_POINT: Final = re.compile(r"[A-Za-z0-9_-]{1,255}")
NOT_CAPABILITIES: Final = frozenset({ZONES, QOS_TYPE})

TRUE: Final = frozenset({"true", "t", "yes", "y", "on", "1"})
FALSE: Final = frozenset({"false", "f", "no", "n", "off", "0"})


def boolean(value: object) -> bool | None:
    """Yes or no as people write it, with or without ``<is>``; None where it is neither."""
    text = str(value).strip().lower().removeprefix("<is>").strip()
    return True if text in TRUE else False if text in FALSE else None


def flag(specs: Mapping[str, str], key: str) -> bool:
    """Whether the type promises *key*; unset and unreadable are no."""
    return boolean(specs.get(key, "")) is True


@dataclasses.dataclass(frozen=True, slots=True)
class SizeLimits:
    """Sizes in GiB that a type allows; None where it sets no limit."""

    least: int | None = None
    most: int | None = None
    most_extend: int | None = None

    def refusal(self, size: int, *, extend: bool = False) -> str | None:
        """Why a share may not have this size, or None."""
        most = self.most_extend if extend else self.most
        if self.least is not None and size < self.least:
            return f"share size {size} must be at least {self.least} GiB for this share type"
        if most is not None and size > most:
            return f"share size {size} must be at most {most} GiB for this share type"
        return None


def size_limits(specs: Mapping[str, str]) -> SizeLimits:
    """The limits of a type; an extend without a limit of its own is held to the general one."""
    least, most, most_extend = (_whole_number(specs.get(key)) for key in SIZES)
    return SizeLimits(least, most, most if most_extend is None else most_extend)


def _whole_number(value: object) -> int | None:
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdecimal() else None


def zones(specs: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the zones that the type is kept to; empty: all."""
    return tuple(name.strip() for name in specs.get(ZONES, "").split(",") if name.strip())


def validate(key: str, value: object) -> None:
    """Refuse a value that the well-known spec *key* cannot have; raises InvalidInput."""
    reason = _refusal(key, value)
    if reason is not None:
        raise errors.InvalidInput(field=f"extra_specs.{key}", reason=reason)


def validate_all(specs: Mapping[str, object]) -> None:
    """Refuse a new type's specs: one that is required is missing, or a value is impossible."""
    for key in REQUIRED:
        if key not in specs:
            raise errors.InvalidInput(field=f"extra_specs.{key}", reason="it is required")
    for key, value in specs.items():
        validate(key, value)
    validate_sizes({key: str(value) for key, value in specs.items()})


def validate_sizes(specs: Mapping[str, str]) -> None:
    """Refuse a least size above the most; raises InvalidInput."""
    limits = size_limits(specs)
    if limits.least is not None and limits.most is not None and limits.least > limits.most:
        raise errors.InvalidInput(field=f"extra_specs.{LEAST_SIZE}", reason=f"above {MOST_SIZE}")


def normalized(specs: Mapping[str, str]) -> dict[str, str]:
    """The specs as they are kept: no blanks around the names of zones."""
    kept = dict(specs)
    if ZONES in kept:
        kept[ZONES] = ",".join(zones(kept))
    return kept


def has_all(specs: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether a type has all the *wanted* specs.

    Of zones it must offer all that are wanted; a type that is kept to no zones offers every one.
    """
    for key, value in wanted.items():
        if key == ZONES:
            offered = zones(specs)
            if offered and not set(zones(wanted)) <= set(offered):
                return False
        elif specs.get(key) != value:
            return False
    return True


def _refusal(key: str, value: object) -> str | None:
    text = str(value).strip()
    checks = (
        (key in REQUIRED and text.lower() not in TRUE | FALSE, "a boolean"),
        (key in FEATURES and boolean(text) is None, "a boolean"),
        (
            key == REPLICATION_TYPE and text not in REPLICATION_TYPES,
            f"one of {', '.join(REPLICATION_TYPES)}",
        ),
        (key in SIZES and not _whole_number(text), "a size in GiB above 0"),
        (
            key == ZONES and not all(name.strip() for name in text.split(",")),
            "names of availability zones with commas between them",
        ),
        (
            key == MOUNT_POINT_PREFIX and not MOUNT_POINT.fullmatch(text),
            "letters, digits, underscores and hyphens",
        ),
    )
    return next((f"it must be {wanted}" for is_wrong, wanted in checks if is_wrong), None)


def with_defaults(specs: Mapping[str, str], protocol: str | None = None) -> dict[str, str]:
    """The specs as the scheduler reads them.

    Booleans are compared as such, and the back end must speak the share's protocol, unless
    the type says something else about it.
    """
    prepared = dict(specs)
    for key in BOOLEANS:
        value = prepared.get(key)
        if value is not None and not value.strip().startswith("<is>"):
            prepared[key] = f"<is> {value.strip()}"
    if protocol and PROTOCOL not in prepared and f"capabilities:{PROTOCOL}" not in prepared:
        prepared[PROTOCOL] = f"<in> {protocol}"
    return prepared


@dataclasses.dataclass(frozen=True, slots=True)
class Want:
    """One spec that asks something of a capability: where it is, and what it must be."""

    key: str
    path: tuple[str, ...]
    text: str
    _meets: Callable[[Any], bool] = dataclasses.field(repr=False, compare=False)

    def met(self, capabilities: Mapping[str, Any]) -> bool:
        """Whether the capability is there and one of its values is as wanted."""
        found: Any = capabilities
        for part in self.path:
            if not isinstance(found, Mapping) or part not in found:
                return False
            found = found[part]
        if isinstance(found, (list, tuple, set, frozenset)):
            return any(self._meets(member) for member in found)
        return found is not None and self._meets(found)


def wants(specs: Mapping[str, str]) -> tuple[Want, ...]:
    """What the specs ask of capabilities; the others are left out."""
    asked = []
    for key, value in specs.items():
        path = _path(key)
        if path is not None:
            asked.append(Want(key, path, value, _predicate(value)))
    if QOS_TYPE in specs:
        asked.append(Want(QOS_TYPE, (QOS_SUPPORT,), "<is> True", _predicate("<is> True")))
    return tuple(asked)


def _path(key: str) -> tuple[str, ...] | None:
    scope, *rest = key.split(":")
    if not rest:
        return None if key in NOT_CAPABILITIES else (key,)
    return tuple(rest) if scope == "capabilities" else None


def capabilities_match(specs: Mapping[str, str], capabilities: Mapping[str, Any]) -> str | None:
    """Why the capabilities do not meet the specs (the first that they fail), or None."""
    for want in wants(specs):
        if not want.met(capabilities):
            return f"{want.key} is not {want.text}"
    return None


def matches(value: str, capability: object) -> bool:
    """Whether one capability (no list) meets the value of a spec."""
    return _predicate(value)(capability)


@functools.lru_cache(maxsize=2048)
def _predicate(value: str) -> Callable[[Any], bool]:
    first, _space, rest = value.strip().partition(" ")
    rest = rest.strip()
    if first == "<is>":
        return _same_flag(rest)
    if first == "<in>":
        return lambda capability: rest in str(capability)
    if first == "<or>":
        options = [_equal(part.strip()) for part in rest.split("<or>")]
        return lambda capability: any(option(capability) for option in options)
    if first in NUMBERS:
        return _numeric(NUMBERS[first], rest)
    if first in TEXTS:
        compare = TEXTS[first]
        return lambda capability: compare(str(capability), rest)
    return _equal(value)


def _same_flag(wanted: str) -> Callable[[Any], bool]:
    meaning = boolean(wanted) is True
    return lambda capability: (boolean(capability) is True) is meaning


def _equal(wanted: str) -> Callable[[Any], bool]:
    text, meaning = wanted.strip().lower(), boolean(wanted)

    def equal(capability: object) -> bool:
        if isinstance(capability, bool):
            return capability is meaning
        return str(capability).strip().lower() == text

    return equal


def _numeric(compare: Callable[[float, float], bool], wanted: str) -> Callable[[Any], bool]:
    def meets(capability: object) -> bool:
        try:
            return compare(float(str(capability)), float(wanted))
        except ValueError:
            return False

    return meets


NUMBERS: Final[dict[str, Callable[[float, float], bool]]] = {
    "=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
}
TEXTS: Final[dict[str, Callable[[str, str], bool]]] = {
    "s==": operator.eq,
    "s!=": operator.ne,
    "s<": operator.lt,
    "s<=": operator.le,
    "s>": operator.gt,
    "s>=": operator.ge,
}
