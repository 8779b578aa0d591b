"""Values of TLA+ as values of Python: numbers, texts, truth values, sets, sequences, functions and records."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Value: TypeAlias = "int | str | bool | frozenset[Value] | tuple[Value, ...] | Function"
TOKEN = re.compile(r'\s*(-?\d+|"(?:[^"\\]|\\.)*"|<<|>>|\|->|:>|@@|\w+|[{}\[\](),])')
CLOSING = {"{": "}", "[": "]", "<<": ">>", "(": ")"}


class Function(NamedTuple):
    """A function or a record: its pairs of argument and value."""

    pairs: "frozenset[tuple[Value, Value]]"

    def mapping(self) -> "dict[Value, Value]":
        """The same to look things up in."""
        return dict(self.pairs)


class ExpressionError(ValueError):
    """A text is no value as TLC prints them."""


def function(pairs: "Mapping[str, Value]") -> Function:
    """A function or a record of Python's mapping."""
    return Function(frozenset(pairs.items()))


@lru_cache(maxsize=100_000)
def parse_value(text: str) -> Value:
    """A value as TLC prints it.

    Raises:
        ExpressionError: it is none.

    """
    tokens, position = [], 0
    while position < len(text.rstrip()):
        match = TOKEN.match(text, position)
        if not match:
            raise ExpressionError(f"{text[position : position + 20]!r} in {text[:80]!r} is no part of a value")
        tokens.append(match[1])
        position = match.end()
    value, rest = _value(tokens)
    if rest:
        raise ExpressionError(f"{' '.join(rest)[:40]!r} follows a value in {text[:80]!r}")
    return value


def _value(tokens: list[str]) -> tuple[Value, list[str]]:  # noqa: PLR0911 - one for each kind
    if not tokens:
        raise ExpressionError("a value breaks off")
    first, rest = tokens[0], tokens[1:]
    match first:
        case "{":
            items, rest = _items(rest, "}")
            return frozenset(items), rest
        case "<<":
            items, rest = _items(rest, ">>")
            return tuple(items), rest
        case "[":
            return _pairs(rest, "|->", ",", "]")
        case "(":
            return _pairs(rest, ":>", "@@", ")")
        case "TRUE" | "FALSE":
            return first == "TRUE", rest
    if first.startswith('"'):
        return re.sub(r"\\(.)", r"\1", first[1:-1]), rest
    if first.lstrip("-").isdigit():
        return int(first), rest
    raise ExpressionError(f"{first!r} begins no value")


def _items(tokens: list[str], end: str) -> tuple[list[Value], list[str]]:
    found: list[Value] = []
    while tokens and tokens[0] != end:
        value, tokens = _value(tokens[1:] if found else tokens)
        found.append(value)
    if not tokens:
        raise ExpressionError(f"{end} is missing")
    return found, tokens[1:]


def _pairs(tokens: list[str], arrow: str, comma: str, end: str) -> tuple[Value, list[str]]:
    found: list[tuple[Value, Value]] = []
    while tokens and tokens[0] != end:
        tokens = tokens[1:] if found and tokens[0] == comma else tokens
        key, tokens = (tokens[0], tokens[1:]) if arrow == "|->" else _value(tokens)
        if not tokens or tokens[0] != arrow:
            raise ExpressionError(f"{arrow} is missing after {key}")
        value, tokens = _value(tokens[1:])
        found.append((key, value))
    if not tokens:
        raise ExpressionError(f"{end} is missing")
    return Function(frozenset(found)), tokens[1:]


def show(value: Value) -> str:
    """A value as TLA+ spells it, the parts in order."""
    match value:
        case bool():
            return str(value).upper()
        case str():
            return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
        case Function(pairs):
            return "[" + ", ".join(sorted(f"{_key(key)} |-> {show(one)}" for key, one in pairs)) + "]"
        case frozenset():
            return "{" + ", ".join(sorted(map(show, value))) + "}"
        case tuple():
            return "<<" + ", ".join(map(show, value)) + ">>"
    return str(value)


def _key(key: Value) -> str:
    return key if isinstance(key, str) else show(key)
