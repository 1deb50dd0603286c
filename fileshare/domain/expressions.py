"""The formulas of operators (filter_function, goodness_function), parsed and worked out safely.

Numbers, quoted strings, ``true`` and ``false``; ``+ - * / ^``; ``== != <> < > <= >=`` (which may
be chained); ``and or not !``; ``condition ? this : that``; ``abs max min``; and names such as
``stats.free_capacity_gb`` or ``share.share_proto``, looked up in what the caller offers.
A text that comes from a back end's report decides nothing but its own value: there are no
attributes, no calls but the three, and no unbounded numbers.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

Value: TypeAlias = float | int | bool | str
Names: TypeAlias = Mapping[str, Any]
Node: TypeAlias = Callable[[Names], Value]

LONGEST: Final = 4000
MOST_WORDS: Final = 500
DEEPEST: Final = 30


class ExpressionError(ValueError):
    """A formula that cannot be read, or that has no value for these facts."""


class UnknownNameError(ExpressionError):
    """A name in a formula for which there is no value."""


@dataclasses.dataclass(frozen=True, slots=True)
class Expression:
    """A formula that was read once: its text, the names in it, and how to work it out."""

    text: str
    names: frozenset[str]
    _node: Node = dataclasses.field(repr=False, compare=False)

    def value(self, names: Names) -> Value:
        """The value for these names; raises ExpressionError where there is none."""
        try:
            return self._node(names)
        except ExpressionError:
            raise
        except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
            raise ExpressionError(f"{self.text!r}: {error}") from error

    def truth(self, names: Names) -> bool:
        """The value as yes or no: 0, false and the empty string are no."""
        return truth(self.value(names))


TOKENS: Final = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<string>'[^']*'|"[^"]*")
    |(?P<name>[A-Za-z_]\w*(?:\.\w+)*)
    |(?P<sign><=|>=|==|!=|<>|[-+*/^<>!?:(),]))""",
    re.VERBOSE,
)


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """The words of a formula with their sort; raises ExpressionError at what is none."""
    position, text = 0, text.rstrip()
    while position < len(text):
        found = TOKENS.match(text, position)
        if found is None:
            raise ExpressionError(f"cannot read {text[position : position + 20]!r}")
        yield str(found.lastgroup), found.group(str(found.lastgroup))
        position = found.end()
    yield "end", ""


def parse(text: str) -> Expression:
    """Read a formula; raises ExpressionError for one that is none, is too long or too deep."""
    if len(text) > LONGEST:
        raise ExpressionError(f"longer than {LONGEST} characters")
    return _parse(text)


@functools.lru_cache(maxsize=512)
def _parse(text: str) -> Expression:
    reader = _Reader(text)
    node = reader.ternary()
    reader.expect("")
    return Expression(text, frozenset(reader.names), node)


class _Reader:
    """Recursive descent, one method for each level of precedence, weakest first."""

    def __init__(self, text: str) -> None:
        self.words = list(itertools.islice(tokens(text), MOST_WORDS + 1))
        if len(self.words) > MOST_WORDS:
            raise ExpressionError(f"more than {MOST_WORDS} words")
        self.at = 0
        self.depth = 0
        self.names: set[str] = set()

    def peek(self) -> str:
        sort, word = self.words[self.at]
        return word if sort in {"sign", "name", "end"} else "\0" + word

    def take(self, *wanted: str) -> str | None:
        word = self.peek()
        if word not in wanted or not word:
            return None
        self.at += 1
        return word

    def expect(self, wanted: str) -> None:
        if self.peek() != wanted:
            missing = wanted or "the end"
            raise ExpressionError(f"{missing} is missing before {self.words[self.at][1]!r}")
        self.at += 1

    def ternary(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested deeper than {DEEPEST}")
        node = self.disjunction()
        if self.take("?"):
            yes = self.ternary()
            self.expect(":")
            node = _choice(node, yes, self.ternary())
        self.depth -= 1
        return node

    def disjunction(self) -> Node:
        node = self.conjunction()
        while self.take("or"):
            node = _either(node, self.conjunction())
        return node

    def conjunction(self) -> Node:
        node = self.negation()
        while self.take("and"):
            node = _both(node, self.negation())
        return node

    def negation(self) -> Node:
        negative = False
        found = False
        while self.take("not", "!"):
            negative, found = not negative, True
        node = self.comparison()
        return _negation(node, negative) if found else node

    def comparison(self) -> Node:
        nodes, signs = [self.sum()], []
        while sign := self.take("==", "!=", "<>", "<", ">", "<=", ">="):
            signs.append(sign)
            nodes.append(self.sum())
        return _comparison(nodes, signs) if signs else nodes[0]

    def sum(self) -> Node:
        node = self.product()
        while sign := self.take("+", "-"):
            node = _arithmetic(SUMS[sign], node, self.product())
        return node

    def product(self) -> Node:
        node = self.signed()
        while sign := self.take("*", "/"):
            node = _arithmetic(SUMS[sign], node, self.signed())
        return node

    def signed(self) -> Node:
        negative = False
        while sign := self.take("+", "-"):
            negative ^= sign == "-"
        node = self.power()
        return _arithmetic(operator.mul, _constant(-1), node) if negative else node

    def power(self) -> Node:
        base = self.atom()
        if not self.take("^"):
            return base
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested deeper than {DEEPEST}")
        node = _arithmetic(_power, base, self.signed())
        self.depth -= 1
        return node

    def atom(self) -> Node:
        if self.take("("):
            node = self.ternary()
            self.expect(")")
            return node
        sort, word = self.words[self.at]
        self.at += sort != "end"
        if sort == "number":
            return _constant(float(word))
        if sort == "string":
            return _constant(word[1:-1])
        if sort == "name":
            return self.named(word)
        raise ExpressionError(f"a value is missing before {word or 'the end'!r}")

    def named(self, word: str) -> Node:
        if word in FUNCTIONS and self.take("("):
            arguments = [self.ternary()]
            while self.take(","):
                arguments.append(self.ternary())
            self.expect(")")
            return _call(word, arguments)
        if word.lower() in {"true", "false"}:
            return _constant(word.lower() == "true")
        if word in {"and", "or", "not"}:
            raise ExpressionError(f"a value is missing before {word!r}")
        self.names.add(word)
        return _lookup(word)


def _constant(value: Value) -> Node:
    return lambda _names: value


def _choice(test: Node, yes: Node, no: Node) -> Node:
    return lambda names: yes(names) if truth(test(names)) else no(names)


def _either(left: Node, right: Node) -> Node:
    return lambda names: truth(left(names)) or truth(right(names))


def _both(left: Node, right: Node) -> Node:
    return lambda names: truth(left(names)) and truth(right(names))


def _negation(node: Node, negative: bool) -> Node:
    return lambda names: truth(node(names)) is not negative


def _comparison(nodes: list[Node], signs: list[str]) -> Node:
    def compare(names: Names) -> bool:
        values = [node(names) for node in nodes]
        pairs = zip(values, values[1:], signs, strict=False)
        return all(COMPARISONS[sign](*_alike(left, right)) for left, right, sign in pairs)

    return compare


def _arithmetic(function: Callable[[float, float], float], left: Node, right: Node) -> Node:
    return lambda names: _finite(function(number(left(names)), number(right(names))))


def _call(name: str, arguments: list[Node]) -> Node:
    if name == "abs" and len(arguments) != 1:
        raise ExpressionError("abs takes one value")
    function = FUNCTIONS[name]
    return lambda names: function([number(argument(names)) for argument in arguments])


def _power(base: float, exponent: float) -> float:
    result = base**exponent
    if isinstance(result, complex):
        raise ExpressionError(f"{base} ^ {exponent} is no real number")
    return float(result)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ExpressionError("the value is not finite")
    return value


def _lookup(path: str) -> Node:
    parts = path.split(".")

    def lookup(names: Names) -> Value:
        found: Any = names
        for part in parts:
            if type(found) is not dict and not isinstance(found, Mapping):
                raise UnknownNameError(f"{path} is not known here")
            found = found.get(part)
        if found is None:
            raise UnknownNameError(f"{path} has no value")
        return found if isinstance(found, (bool, int, float)) else str(found)

    return lookup


def number(value: Value) -> float:
    """A value as a number; texts that read as one count as one (extra specs are texts)."""
    try:
        return float(value)
    except ValueError:
        raise ExpressionError(f"{value!r} is no number") from None


def truth(value: Value) -> bool:
    """A value as yes or no."""
    if isinstance(value, str):
        return value.strip().lower() not in {"", "0", "false", "no", "off"}
    return bool(value)


def _alike(left: Value, right: Value) -> tuple[Any, Any]:
    """Both as numbers where they can be, as booleans where one is; else as texts."""
    if isinstance(left, bool) and isinstance(right, str):
        return left, truth(right)
    if isinstance(right, bool) and isinstance(left, str):
        return truth(left), right
    try:
        return float(left), float(right)
    except ValueError:
        return str(left), str(right)


SUMS: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
FUNCTIONS: Final[dict[str, Callable[[list[float]], float]]] = {
    "abs": lambda values: abs(values[0]),
    "max": max,
    "min": min,
}
