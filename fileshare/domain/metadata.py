"""Metadata as it changes: what is merged, replaced and removed, and which keys are operators'."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from fileshare import errors


def refuse(keys: Iterable[str], locked: Collection[str]) -> None:
    """Raise Refused where one of *keys* is *locked* for the caller."""
    for key in keys:
        if key in locked:
            raise errors.Refused(reason=f"Only administrators may change the metadata key {key}.")


def refuse_twins(keys: Collection[str]) -> None:
    """Raise InvalidInput for two keys that differ in blanks at the end: one, to MariaDB."""
    if len({key.rstrip(" ") for key in keys}) < len(keys):
        reason = "Two keys are the same but for blanks at the end."
        raise errors.InvalidInput(field="metadata", reason=reason)


def replaced(
    old: Mapping[str, str], new: Mapping[str, str], locked: Collection[str]
) -> dict[str, str]:
    """*new*, and those of *old* that are *locked*."""
    kept = {key: value for key, value in old.items() if key in locked}
    return {**new, **kept}


def without(pairs: Mapping[str, str], key: str) -> dict[str, str]:
    """All but *key*."""
    return {name: value for name, value in pairs.items() if name != key}


def item(pairs: Mapping[str, str], key: str) -> dict[str, str]:
    """The one pair of *key*; raises NotFound."""
    if key not in pairs:
        raise errors.NotFound(resource="Metadata item", id=key, exception="MetadataItemNotFound")
    return {key: pairs[key]}
