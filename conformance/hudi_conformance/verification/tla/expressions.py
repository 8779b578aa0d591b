"""Values of TLA+ as values of Python: numbers, texts, truth values, sets, sequences, functions and records."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Value: TypeAlias = "int | str | bool | frozenset[Value] | tuple[Value, ...] | Function"
TOKEN = re.compile(r'\s*(-?\d+|"(?:[^"\\]|\\.)*"|<<|>>|\|->|:>|@@|\w+|[{}\[\](),])')


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
    waiting = tokens[::-1]
    value = _value(waiting)
    if waiting:
        raise ExpressionError(f"{' '.join(waiting[::-1])[:40]!r} follows a value in {text[:80]!r}")
    return value


def _value(waiting: list[str]) -> Value:
    """The value that begins next; `waiting` holds the tokens from the last to the next."""
    if not waiting:
        raise ExpressionError("a value breaks off")
    match waiting.pop():
        case "{":
            return frozenset(_items(waiting, "}"))
        case "<<":
            return tuple(_items(waiting, ">>"))
        case "[":
            return _pairs(waiting, "|->", ",", "]")
        case "(":
            return _pairs(waiting, ":>", "@@", ")")
        case first:
            return _plain(first)


def _plain(word: str) -> Value:
    if word in {"TRUE", "FALSE"}:
        return word == "TRUE"
    if word.startswith('"'):
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    if word.lstrip("-").isdigit():
        return int(word)
    raise ExpressionError(f"{word!r} begins no value")


def _items(waiting: list[str], end: str) -> list[Value]:
    found: list[Value] = []
    while not _ends(waiting, end):
        _pass_by(waiting, "," if found else "")
        found.append(_value(waiting))
    return found


def _pairs(waiting: list[str], arrow: str, comma: str, end: str) -> Function:
    found: list[tuple[Value, Value]] = []
    while not _ends(waiting, end):
        _pass_by(waiting, comma if found else "")
        key = waiting.pop() if arrow == "|->" and waiting else _value(waiting)
        if not waiting or waiting.pop() != arrow:
            raise ExpressionError(f"{arrow} is missing after {key}")
        found.append((key, _value(waiting)))
    return Function(frozenset(found))


def _ends(waiting: list[str], end: str) -> bool:
    """Whether the closing token is next, which is taken; its absence is an error."""
    if not waiting:
        raise ExpressionError(f"{end} is missing")
    if waiting[-1] != end:
        return False
    waiting.pop()
    return True


def _pass_by(waiting: list[str], separator: str) -> None:
    if separator and waiting and waiting.pop() != separator:
        raise ExpressionError(f"{separator} is missing between values")


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
