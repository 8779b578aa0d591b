"""How deep the columns of a Parquet file lie, by its footer alone: Arrow calls itself for each level.

A footer is a struct of Thrift's compact protocol, whose second field lists the columns, each before those inside it:
of a column the fifth field says how many these are.
"""

from collections.abc import Iterator
from typing import Final

_BINARY, _LIST, _SET, _MAP, _STRUCT = 8, 9, 10, 11, 12
_FIXED: Final = {1: 0, 2: 0, 3: 1, 7: 8}
"""Bytes of values by their type; a truth value stands in the head of its field."""
_NUMBERS: Final = (4, 5, 6)
_LONG_LIST: Final = 15
_COLUMNS, _INSIDE = 2, 5
_BITS: Final = 64


def columns_inside(footer: bytes) -> int:
    """How many columns lie inside of others; of the footer its beginning is enough.

    Raises:
        LookupError: it is no footer, or not enough of one.

    """
    place, count = _column_list(footer)
    return count - 1 - _column(footer, place)[1]


def levels(footer: bytes) -> int:
    """On how many levels columns lie.

    Raises:
        LookupError: it is no footer.

    """
    (place, count), deepest = _column_list(footer), 0
    left: list[int] = []
    for _ in range(count):
        place, inside = _column(footer, place)
        while left and not left[-1]:
            left.pop()
        if left:
            left[-1] -= 1
        if inside > 0:
            left.append(inside)
            deepest = max(deepest, len(left))
    return deepest


def _column_list(footer: bytes) -> tuple[int, int]:
    """Where the first column stands, and how many there are."""
    for field, kind, place in _fields(footer, 0):
        if field == _COLUMNS and kind == _LIST:
            return _list_head(footer, place)[:2]
    raise LookupError("the footer lists no columns")


def _column(data: bytes, place: int) -> tuple[int, int]:
    """The place behind a column, and how many columns lie in it."""
    inside = 0
    for field, kind, value in _fields(data, place):
        if field == 0:
            return value, inside
        if field == _INSIDE and kind in _NUMBERS:
            number = _number(data, value)[0]
            inside = number >> 1 if not number & 1 else 0
    raise LookupError("the column has no end")


def _fields(data: bytes, place: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a struct with their types and the places of their values; at last field 0 at the struct's end."""
    field = 0
    while (head := data[place]) != 0:
        kind, step, place = head & 15, head >> 4, place + 1
        if step:
            field += step
        else:
            number, place = _number(data, place)
            field = number >> 1
        yield field, kind, place
        place = _behind(data, place, kind)
    yield 0, 0, place + 1


def _behind(data: bytes, place: int, kind: int) -> int:
    """The place behind a value."""
    if kind in _FIXED:
        return place + _FIXED[kind]
    if kind in _NUMBERS:
        return _number(data, place)[1]
    if kind == _BINARY:
        length, place = _number(data, place)
        return place + length
    if kind == _STRUCT:
        *_, (_, _, end) = _fields(data, place)
        return end
    if kind in (_LIST, _SET):
        place, count, inner = _list_head(data, place)
        for _ in range(count):
            place = place + 1 if inner in (1, 2) else _behind(data, place, inner)
        return place
    raise LookupError(f"a value of the type {kind}")


def _list_head(data: bytes, place: int) -> tuple[int, int, int]:
    """Where the first value of a list stands, how many there are, and their type."""
    head, place = data[place], place + 1
    count, kind = head >> 4, head & 15
    if count == _LONG_LIST:
        count, place = _number(data, place)
    return place, count, kind


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of seven bits a byte, and the place behind it."""
    number = 0
    for shift in range(0, _BITS, 7):
        byte = data[place]
        place += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, place
    raise LookupError("a number has no end")
