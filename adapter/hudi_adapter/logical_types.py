"""Logical types: what a column means, whatever the file format or the engine calls it.

Written as text: `int64`, `decimal(10,2)`, `list<T>`, `map<string,T>`, `struct<name:T,...>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Union

PRIMITIVES = frozenset(
    {
        "boolean",
        "int32",
        "int64",
        "float32",
        "float64",
        "string",
        "binary",
        "date",
        "time-millis",
        "time-micros",
        "timestamp-millis",
        "timestamp-micros",
        "local-timestamp-millis",
        "local-timestamp-micros",
    }
)

_FAMILIES = {
    "int32": "int",
    "int64": "int",
    "float32": "float",
    "float64": "float",
    "time-millis": "time",
    "time-micros": "time",
    "timestamp-millis": "instant",
    "timestamp-micros": "instant",
    "local-timestamp-millis": "local-timestamp",
    "local-timestamp-micros": "local-timestamp",
}
_DECIMAL = re.compile(r"decimal\((\d{1,3}),(\d{1,3})\)")
_MAX_DEPTH = 64
_MAX_LENGTH = 100_000


class LogicalTypeError(ValueError):
    """A type that is not one of the logical types."""


@dataclass(frozen=True)
class Primitive:
    """A type without parts; `name` is one of PRIMITIVES."""

    name: str


@dataclass(frozen=True)
class DecimalType:
    """Digits in all, and digits after the point."""

    precision: int
    scale: int


@dataclass(frozen=True)
class ListType:
    """Values of one type, in order."""

    element: LogicalType


@dataclass(frozen=True)
class MapType:
    """Text keys to values of one type."""

    value: LogicalType


@dataclass(frozen=True)
class StructType:
    """Named values."""

    fields: tuple[tuple[str, LogicalType], ...]


LogicalType = Union[Primitive, DecimalType, ListType, MapType, StructType]


def parse_type(text: str) -> LogicalType:
    """The type that a text such as `map<string,list<int64>>` names.

    Raises:
        LogicalTypeError: the text names no logical type.

    """
    if len(text) > _MAX_LENGTH:
        raise LogicalTypeError(f"{text[:80]!r}...: longer than {_MAX_LENGTH} characters")
    parsed, rest = _parse(text, text, 0)
    if rest:
        raise LogicalTypeError(f"{text!r}: unexpected {rest!r} after the type")
    return parsed


def type_name(logical: LogicalType) -> str:
    """The text that `parse_type` reads back as this type."""
    if isinstance(logical, Primitive):
        return logical.name
    if isinstance(logical, DecimalType):
        return f"decimal({logical.precision},{logical.scale})"
    if isinstance(logical, ListType):
        return f"list<{type_name(logical.element)}>"
    if isinstance(logical, MapType):
        return f"map<string,{type_name(logical.value)}>"
    return f"struct<{','.join(f'{name}:{type_name(field)}' for name, field in logical.fields)}>"


def family(logical: LogicalType) -> str:
    """The name under which two types compare: int32 and int64 are one family, instants and local timestamps two."""
    if isinstance(logical, Primitive):
        return _FAMILIES.get(logical.name, logical.name)
    if isinstance(logical, DecimalType):
        return "decimal"
    if isinstance(logical, ListType):
        return f"list<{family(logical.element)}>"
    if isinstance(logical, MapType):
        return f"map<string,{family(logical.value)}>"
    return f"struct<{','.join(f'{name}:{family(field)}' for name, field in sorted(logical.fields))}>"


def _parse(rest: str, whole: str, depth: int) -> tuple[LogicalType, str]:
    if depth > _MAX_DEPTH:
        raise LogicalTypeError(f"{whole[:80]!r}...: nested deeper than {_MAX_DEPTH}")
    rest = rest.lstrip()
    if rest.startswith("list<"):
        element, rest = _parse(rest[5:], whole, depth + 1)
        return ListType(element), _expect(">", rest, whole)
    if rest.startswith("map<string,"):
        value, rest = _parse(rest[11:], whole, depth + 1)
        return MapType(value), _expect(">", rest, whole)
    if rest.startswith("struct<"):
        return _parse_struct(rest[7:], whole, depth)
    return _parse_plain(rest, whole)


def _parse_struct(rest: str, whole: str, depth: int) -> tuple[LogicalType, str]:
    fields: list[tuple[str, LogicalType]] = []
    while not rest.startswith(">"):
        name, colon, rest = rest.partition(":")
        if not colon or not name.strip():
            raise LogicalTypeError(f"{whole!r}: a struct field is `name:type`")
        field, rest = _parse(rest, whole, depth + 1)
        fields.append((name.strip(), field))
        if not rest.startswith(">"):
            rest = _expect(",", rest, whole)
    return StructType(tuple(fields)), rest[1:]


def _parse_plain(rest: str, whole: str) -> tuple[LogicalType, str]:
    decimal = _DECIMAL.match(rest)
    if decimal:
        return DecimalType(int(decimal[1]), int(decimal[2])), rest[decimal.end() :]
    name = re.match(r"[a-z0-9-]*", rest)
    found = name[0] if name else ""
    if found not in PRIMITIVES:
        raise LogicalTypeError(f"{whole!r}: {found or rest!r} is no logical type")
    return Primitive(found), rest[len(found) :]


def _expect(character: str, rest: str, whole: str) -> str:
    rest = rest.lstrip()
    if not rest.startswith(character):
        raise LogicalTypeError(f"{whole!r}: expected {character!r} before {rest!r}")
    return rest[1:].lstrip() if character == "," else rest[1:]
