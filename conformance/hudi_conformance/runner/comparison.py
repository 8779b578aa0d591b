"""Rows compared as a typed bag of logical values: column order, row order and physical widths do not count."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hudi_adapter.logical_types import ListType, LogicalType, MapType, StructType, family, parse_type
from hudi_adapter.rows import Rows, Value, encode_value

Row = tuple[Any, ...]
_MOST_ROWS = 400


def compare_rows(expected: Rows, actual: Rows) -> tuple[str, ...]:
    """Every difference in words; empty when both say the same."""
    columns = _column_differences(expected, actual)
    return columns or _row_differences(expected, actual)


def canonical(value: Value, logical: LogicalType) -> Any:
    """A hashable form that is equal for equal logical values: nan equals nan, -0.0 differs from 0.0."""
    if value is None:
        return None
    if isinstance(value, float):
        return "nan" if math.isnan(value) else (value, math.copysign(1.0, value))
    match logical:
        case ListType(element):
            return tuple(canonical(item, element) for item in value)
        case MapType(inner):
            return tuple((key, canonical(value[key], inner)) for key in sorted(value))
        case StructType(fields):
            return tuple((name, canonical(value.get(name), field)) for name, field in sorted(fields))
        case _:
            return value


def _column_differences(expected: Rows, actual: Rows) -> tuple[str, ...]:
    wanted, found = dict(expected.schema), dict(actual.schema)
    retyped = [name for name in wanted.keys() & found.keys() if _family(wanted[name]) != _family(found[name])]
    return (
        *(f"missing column {name} ({wanted[name]})" for name in wanted if name not in found),
        *(f"extra column {name} ({found[name]})" for name in found if name not in wanted),
        *(f"column {name}: expected {wanted[name]}, is {found[name]}" for name in sorted(retyped)),
    )


def _family(logical: str) -> str:
    return family(parse_type(logical))


def _row_differences(expected: Rows, actual: Rows) -> tuple[str, ...]:
    names = [name for name, _ in expected.schema]
    kinds = [parse_type(logical) for _, logical in expected.schema]
    wanted = _bag(expected, names, kinds)
    found = _bag(actual, names, kinds)
    if wanted.keys() == found.keys() and all(len(wanted[key]) == len(found[key]) for key in wanted):
        return ()
    missing = [row for key, rows in wanted.items() for row in rows[len(found.get(key, [])) :]]
    extra = [row for key, rows in found.items() for row in rows[len(wanted.get(key, [])) :]]
    return _Described(names, kinds, missing, extra, _identifying(expected, names, kinds)).differences()


def _bag(rows: Rows, names: Sequence[str], kinds: Sequence[LogicalType]) -> dict[Row, list[Row]]:
    positions = {name: index for index, (name, _) in enumerate(rows.schema)}
    bag: dict[Row, list[Row]] = {}
    for row in rows.rows:
        ordered = tuple(row[positions[name]] for name in names)
        bag.setdefault(_canonical_row(ordered, kinds), []).append(ordered)
    return bag


def _canonical_row(row: Row, kinds: Sequence[LogicalType]) -> Row:
    return tuple(canonical(value, kind) for value, kind in zip(row, kinds, strict=True))


def _identifying(expected: Rows, names: Sequence[str], kinds: Sequence[LogicalType]) -> int | None:
    """The first column whose values tell the expected rows apart: a missing and an extra row are one changed row."""
    for index in range(len(names)):
        values = Counter(canonical(row[index], kinds[index]) for row in expected.rows)
        if values and max(values.values()) == 1:
            return index
    return None


class _Described:
    """Missing and extra rows, reported as changed rows where one column identifies them."""

    def __init__(
        self, names: Sequence[str], kinds: Sequence[LogicalType], missing: list[Row], extra: list[Row], key: int | None
    ) -> None:
        self.names, self.kinds, self.key = names, kinds, key
        self.missing, self.extra = missing, extra

    def differences(self) -> tuple[str, ...]:
        pairs = self._pairs()
        changed = [text for wanted, found in pairs for text in self._changes(wanted, found)]
        paired_missing = {id(wanted) for wanted, _ in pairs}
        paired_extra = {id(found) for _, found in pairs}
        return (
            *changed,
            *self._rows("missing", [row for row in self.missing if id(row) not in paired_missing]),
            *self._rows("extra", [row for row in self.extra if id(row) not in paired_extra]),
        )

    def _rows(self, word: str, rows: Sequence[Row]) -> Iterator[str]:
        """The first rows of many, and how many more there are."""
        yield from (f"{word} row {self._shown(row)}" for row in rows[:_MOST_ROWS])
        if len(rows) > _MOST_ROWS:
            yield f"{word} rows: {len(rows) - _MOST_ROWS} more"

    def _pairs(self) -> list[tuple[Row, Row]]:
        if self.key is None:
            return []
        wanted = {self._key_of(row): row for row in self.missing}
        return [(wanted.pop(self._key_of(row)), row) for row in self.extra if self._key_of(row) in wanted]

    def _key_of(self, row: Row) -> Any:
        return canonical(row[self.key], self.kinds[self.key]) if self.key is not None else None

    def _changes(self, wanted: Row, found: Row) -> list[str]:
        key = self.key or 0
        where = f"row {self.names[key]}={self._json(wanted[key], key)}"
        return [
            f"{where}: column {name}: expected {self._json(wanted[index], index)}, is {self._json(found[index], index)}"
            for index, name in enumerate(self.names)
            if canonical(wanted[index], self.kinds[index]) != canonical(found[index], self.kinds[index])
        ]

    def _shown(self, row: Row) -> str:
        return "{" + ",".join(f'"{name}":{self._json(row[i], i)}' for i, name in enumerate(self.names)) + "}"

    def _json(self, value: Value, index: int) -> str:
        try:
            form: Any = encode_value(value, self.kinds[index])
        except ValueError:
            form = repr(value)
        return json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def row_counts(differences: Sequence[str]) -> Mapping[str, int]:
    """How many differences of each sort a list holds."""
    return {
        "extra": sum(text.startswith("extra ") for text in differences),
        "missing": sum(text.startswith("missing ") for text in differences),
        "changed": sum(not text.startswith(("extra ", "missing ")) for text in differences),
    }
