"""Rows of tables that differ in the types of their keys, of their partitions and of what they are ordered by."""

import datetime as dt
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from hudi_adapter.logical_types import parse_type
from hudi_adapter.values import encode_value
from hudi_model.files import Field, Schema, Value

from hudi_conformance.corpus.golden.rides import Row
from hudi_conformance.corpus.table_shapes import TableShape
from hudi_conformance.corpus.writing.shapes import ALONE, shapes

MARK: Final = "_hoodie_is_deleted"
LOW, MIDDLE, HIGH, TOP = range(4)
"""The ordering values of a kind of rows, from the least to the greatest."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Columns of keys, partitions and ordering with their types; six keys, at least one partition, four moments."""

    key: Mapping[str, str]
    keys: tuple[tuple[Value, ...], ...]
    order: Mapping[str, str]
    orders: tuple[tuple[Value, ...], ...]
    part: Mapping[str, str]
    parts: tuple[tuple[Value, ...], ...] = ((),)

    @property
    def schema(self) -> Schema:
        """All columns: those with a part in the table, a note, a number, and the mark of a deleted row.

        Those of partitions stand the other way round than in their paths.
        """
        own = {**self.key, **dict(reversed(list(self.part.items()))), **self.order}
        columns = {**own, "note": "string", "score": "int64", MARK: "boolean"}
        return Schema(tuple(Field(name, kind) for name, kind in columns.items()))

    def row(self, number: int, level: int, *, part: int | None = None, **changes: Value) -> Row:
        """The row of a key, by its number, at one of the moments; its partition follows from the number by default."""
        place = self.parts[(number if part is None else part) % len(self.parts)]
        return {
            **dict(zip(self.key, self.keys[number], strict=True)),
            **dict(zip(self.part, place, strict=True)),
            **dict(zip(self.order, self.orders[level], strict=True)),
            "note": f"note {number}.{level}",
            "score": 100 * number + level,
            MARK: None,
            **changes,
        }

    def rows(self, numbers: Iterable[int], level: int, **changes: Value) -> list[Row]:
        """A row for each of the numbers."""
        return [self.row(number, level, part=None, **changes) for number in numbers]

    def is_key(self, number: int) -> Any:
        """A filter that one key meets; a part that is null is looked up as null."""
        tests = [self._is(name, value) for name, value in zip(self.key, self.keys[number], strict=True)]
        return tests[0] if len(tests) == 1 else ["and", *tests]

    def _is(self, name: str, value: Value) -> Any:
        return [name, "is_null"] if value is None else [name, "=", self.json(name, value)]

    def json(self, name: str, value: Value) -> Any:
        """A value of a column as filters spell it."""
        kinds = {**self.key, **self.part, **self.order}
        return encode_value(value, parse_type(kinds[name]))


_CITY: Final = {"city": "string"}
_CITIES: Final = (("oslo",), ("são paulo",))
_NOON: Final = dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)


def _moments(*microseconds: int) -> tuple[dt.datetime, ...]:
    return tuple(_NOON + dt.timedelta(microseconds=each) for each in microseconds)


def _ones(*values: Value) -> tuple[tuple[Value, ...], ...]:
    return tuple((one,) for one in values)


KINDS: Final[Mapping[str, Kind]] = {
    "int_keys": Kind(
        {"id": "int64"},
        _ones(0, -1, 7, 10, 2**53 + 1, -(2**63)),
        {"weight": "float64"},
        _ones(-1.75, -1.25, 0.25, 0.75),
        _CITY,
        _CITIES,
    ),
    "date_keys": Kind(
        {"id": "date"},
        _ones(
            *(
                dt.date(year, month, 28)
                for year, month in ((1969, 12), (1970, 1), (2024, 2), (2024, 12), (1, 1), (9999, 12))
            )
        ),
        {"price": "decimal(10,2)"},
        _ones(*map(Decimal, ("-10.50", "9.50", "10.25", "100.00"))),
        {},
    ),
    "decimal_keys": Kind(
        {"id": "decimal(12,3)"},
        _ones(*map(Decimal, ("0.001", "-0.001", "1.500", "10.000", "123456789.123", "-999999999.999"))),
        {"seen": "timestamp-micros"},
        _ones(*_moments(0, 1, 999, 1000)),
        {"shelf": "int32"},
        _ones(10, 9, -1),
    ),
    "moment_keys": Kind(
        {"id": "timestamp-micros"},
        _ones(*_moments(0, 1, -1, 1_000_000, 86_400_000_000, -(2**50))),
        {"day": "date"},
        _ones(*(dt.date(*each) for each in ((1969, 12, 31), (1970, 1, 1), (1999, 12, 31), (2000, 1, 1)))),
        {"on": "date"},
        _ones(dt.date(2024, 2, 29), dt.date(1969, 12, 31)),
    ),
    "milli_keys": Kind(
        {"id": "string"},
        _ones("a", "b", "c", "d", "e", "é"),
        {"seen": "timestamp-millis"},
        _ones(*_moments(0, 1_000, 999_000, 1_000_000)),
        _CITY,
        _CITIES,
    ),
    "mixed_case": Kind(
        {"Id": "string"},
        _ones("a", "A", "Ab", "aB", "É", "é"),
        {"seenAt": "int64"},
        _ones(-7, -1, 0, 3),
        {"City": "string"},
        _CITIES,
    ),
    "text_keys": Kind(
        {"id": "string"},
        _ones("a,b:c", "10:30", "\uffee-é", "$x\\$", "50% off/now", "🚲"),
        {"name": "string"},
        _ones("\uffee", "🚲", "🚲10", "🚲9"),
        {"city": "string"},
        _ones("oslo/ü=1", "50% é", "a b"),
    ),
    "two_keys": Kind(
        {"id": "string", "number": "int64"},
        (("a", 1), ("a", 2), ("a:1,b", 2), ("", 3), (None, 3), ("ü,number:2", 10)),
        {"ts": "int64", "rank": "float64"},
        ((1, 0.5), (1, 0.75), (2, -1.5), (2, -1.25)),
        {},
    ),
    "three_keys": Kind(
        {"id": "string", "day": "date", "price": "decimal(6,2)"},
        (
            ("a", dt.date(2024, 1, 1), Decimal("1.00")),
            ("a", dt.date(2024, 1, 1), Decimal("1.10")),
            ("a", dt.date(2024, 1, 2), Decimal("1.00")),
            ("a,day:2024-01-02", None, Decimal("1.00")),
            ("é:", dt.date(1970, 1, 1), Decimal("-0.50")),
            (None, dt.date(2024, 1, 1), Decimal("1.00")),
        ),
        {"price_at": "float64"},
        _ones(-0.0, 0.0, math.inf, math.nan),
        {"city": "string", "shelf": "int32"},
        (("oslo", 1), ("oslo", 2)),
    ),
}


def typed(names: Iterable[str], versions: Iterable[int], types: Iterable[str], **more: Any) -> tuple[TableShape, ...]:
    """A shape for each kind of rows, version and type, which bears the name of its kind."""
    each, kinds = tuple(versions), tuple(types)
    return tuple(
        one
        for name in names
        for one in shapes(
            each,
            kinds,
            label=name,
            record_key=tuple(KINDS[name].key),
            partition_by=tuple(KINDS[name].part),
            ordering=tuple(KINDS[name].order),
            **{"configs": ALONE, **more},
        )
    )
