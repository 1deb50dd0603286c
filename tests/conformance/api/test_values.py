"""What a field of a request takes, at the bounds that the contract names, and what it does not."""

from __future__ import annotations

import contract
import jsonschema
import pytest

from fileshare import errors
from fileshare.api.fields import convert

DECLARED = sorted(set(contract.operations()) & set(contract.routes()))


def pairs(part):
    """(id of operation, entry of the contract, declared field) of bodies or queries."""
    for id in DECLARED:
        route, operation = contract.routes()[id], contract.operations()[id]
        if part == "query":
            entries, fields = route["query"], operation.query.fields
        else:
            entries = (route["request"] or {}).get("fields", [])
            fields = operation.body.fields if operation.body else ()
        by_name = {field.name: field for field in fields}
        for entry in entries:
            if entry["n"] in by_name:
                yield pytest.param(
                    part, entry, by_name[entry["n"]], id=f"{id}-{part}-{entry['n']}"
                )


ALL = [*pairs("body"), *pairs("query")]


def takes(part, field, value):
    try:
        if part == "query":
            field.shape.parse(field.name, value)
        else:
            jsonschema.Draft202012Validator(field.shape.schema).validate(value)
            convert(field, value)
    except (errors.InvalidInput, jsonschema.ValidationError):
        return False
    return True


# By type: values of it, and values of none.  Null is not among these: older clients send it
# for what they do not set, and most fields let it pass.
TYPES = {
    "str": (["x"], [1, {}, []]),
    "int": ([1, "1"], ["x", {}, 1.5]),
    "bool": ([True, False, "true", "0"], ["x", {}, 2]),
    "uuid": (["ffffffff-ffff-4fff-8fff-ffffffffffff"], [1, {}]),
    "dict": ([{}], ["x", 1, []]),
    "list<str>": ([["x"]], ["x", {}, [1]]),
    "dict<str>": ([{"k": "v"}], ["x", {"k": 1}]),
    "datetime": (["2026-01-01T00:00:00"], ["yesterday"]),
    "null": ([None], []),
}

# What monitors ask for must not fail because of a word they do not know.
LENIENT = {("services", "status"), ("services", "ensuring")}


def by_type(part, entry):
    """Values that a field takes by its type, and values that it does not."""
    if "enum" in entry:
        return list(entry["enum"]), ["banana"]
    kinds = entry["t"].split("|")
    if part == "query":
        kinds = [kind for kind in kinds if kind != "null"]
    good = [value for kind in kinds for value in TYPES[kind][0]]
    if entry["t"] == "int":
        good = [max(entry.get("min", 1), 1)]
    bad = [value for value in TYPES[kinds[0]][1] if part == "body" or isinstance(value, str)]
    others = [value for kind in kinds[1:] for value in TYPES[kind][0]]
    return good, [value for value in bad if value not in others]


def at_bounds(entry):
    good, bad = [], []
    if "min" in entry:
        good.append(entry["min"])
        bad.append(entry["min"] - 1)
    if "minlen" in entry:
        good.append("x" * entry["minlen"])
        bad.append("x" * (entry["minlen"] - 1))
    if "maxlen" in entry:
        good.append("x" * entry["maxlen"])
        bad.append("x" * (entry["maxlen"] + 1))
    return good, bad


@pytest.mark.parametrize(("part", "entry", "field"), [*pairs("body"), *pairs("query")])
def test_values(request, part, entry, field):
    good, bad = (
        one + two for one, two in zip(by_type(part, entry), at_bounds(entry), strict=True)
    )
    if part == "query":
        good, bad = [str(value) for value in good], [str(value) for value in bad]
    if (contract_family(request), entry["n"]) in LENIENT:
        good, bad = good + bad, []
    assert [value for value in good if not takes(part, field, value)] == []
    assert [value for value in bad if takes(part, field, value)] == []
    # That a list is sorted by its creation and not filtered is what absence means.
    if entry.get("default") and part == "body" and not field.name.startswith("os-"):
        assert field.default == entry["default"]


def contract_family(request):
    return request.node.callspec.id.partition(".")[0]
