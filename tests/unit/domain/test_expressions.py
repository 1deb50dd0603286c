from __future__ import annotations

import pytest

from fileshare.domain import expressions
from fileshare.domain.expressions import ExpressionError, UnknownNameError, parse

NAMES = {
    "stats": {"free_capacity_gb": 50.0, "total_capacity_gb": 100, "vendor": "Acme", "none": None},
    "share": {"size": 5, "share_proto": "NFS", "metadata": {"tier": "gold"}},
    "extra": {"least": "7", "fast": "true"},
    "capabilities": {"dedupe": True},
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 4 - 3", 3),
        ("16 / 4 / 2", 2),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("- - 3", 3),
        (".5 + 1.", 1.5),
        ("1e3", 1000),
        ("3 == 3.0", True),
        ("3 <> 4", True),
        ("3 != 3", False),
        ("1 < 2 < 3", True),
        ("1 < 3 < 2", False),
        ("1 < 2 and 2 < 1", False),
        ("1 > 2 or 2 > 1 and 1 > 2", False),
        ("not 1 > 2", True),
        ("!(1 < 2)", False),
        ("not not true", True),
        ("1 < 2 ? 10 : 20", 10),
        ("false ? 1 : false ? 2 : 3", 3),
        ("max(1, 7, 3) - min(4, 2) + abs(-1)", 6),
        ("stats.free_capacity_gb / stats.total_capacity_gb", 0.5),
        ("(share.share_proto == 'NFS') ? 100 : 50", 100),
        ('share.share_proto == "CIFS"', False),
        ("share.metadata.tier == 'gold'", True),
        ("share.size < extra.least", True),
        ("extra.least + 1", 8),
        ("capabilities.dedupe == 'True'", True),
        ("extra.fast == true", True),
        ("'abc' < 'abd'", True),
        ("false and share.absent", False),
        ("true or share.absent", True),
    ],
)
def test_value(text, value):
    assert parse(text).value(NAMES) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "(1",
        "1)",
        "1 2",
        "? 1 : 2",
        "1 ? 2",
        "and",
        "a b",
        "max()",
        "abs(1, 2)",
        "open('x')",
        "share.size.__class__()",
        "'unfinished",
        "1 @ 2",
        "[1]",
        "1 or or 2",
        "(" * 200 + "1" + ")" * 200,
        "+".join(["1"] * 1000),
        "1" * 5000,
    ],
)
def test_no_formula(text):
    with pytest.raises(ExpressionError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "9 ^ 9 ^ 9 ^ 9",
        "(0 - 8) ^ 0.5",
        "'text' * 2",
        "stats.vendor + 1",
        "0 ^ -1",
        "1e308 * 10",
    ],
)
def test_no_value(text):
    with pytest.raises(ExpressionError):
        parse(text).value(NAMES)


@pytest.mark.parametrize(
    "text", ["stats.unknown", "nothing", "stats.none", "share.size.real", "share.__class__"]
)
def test_unknown_names_have_no_value(text):
    with pytest.raises(UnknownNameError):
        parse(text).value(NAMES)


def test_longest_chain_can_be_worked_out():
    words = expressions.MOST_WORDS // 2 - 1
    assert parse("+".join(["1"] * words)).value({}) == words
    assert parse("-" * (expressions.MOST_WORDS - 2) + "1").value({}) == 1


def test_names_are_known_before_the_value():
    formula = parse("share.size > 1 and max(stats.a, 2) == 2")
    assert formula.names == {"share.size", "stats.a"}
    assert formula.truth({"share": {"size": 2}, "stats": {"a": 1}}) is True


@pytest.mark.parametrize(
    ("text", "truth"),
    [("''", False), ("'no'", False), ("'0'", False), ("'x'", True), ("0", False), ("2", True)],
)
def test_truth(text, truth):
    assert parse(text).truth({}) is truth


def test_a_formula_is_read_once():
    assert parse("1 + 1 + 40") is parse("1 + 1 + 40")
