"""Answers laid beside each other: rows by what identifies them, values of ops as rows of their own."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from hudi_adapter.logical_types import LogicalTypeError, family, parse_type
from hudi_adapter.rows import Rows, Value, encode_value

from hudi_conformance.runner.cells import CHANGED, EQUAL, EXTRA, MISSING, Comparison, Line, bounded
from hudi_conformance.runner.comparison import canonical

_ABSENT = "(absent)"
_FIRST_COLUMNS = 20
_IDENTIFYING: Mapping[str, tuple[str, ...]] = {
    "list_timeline": ("requested",),
    "list_file_slices": ("partition", "file_id"),
    "check_table": ("clause", "severity"),
    "table_info": ("property",),
}
# What is for people to read, in an op's own words.
_FREE: Mapping[str, frozenset[str]] = {"check_table": frozenset({"where", "message"})}


@dataclass(frozen=True, slots=True)
class _Cell:
    """A value as it is compared and as it is shown."""

    key: Hashable
    text: str


_NOTHING = _Cell(("absent",), _ABSENT)
_Row = tuple[_Cell, ...]


@dataclass(frozen=True, slots=True)
class _Grid:
    """One side: its columns, and a cell for each in every row."""

    columns: tuple[str, ...]
    rows: tuple[_Row, ...]

    def under(self, columns: Sequence[str]) -> tuple[_Row, ...]:
        """The rows under other columns, with nothing where there is none."""
        places = {name: place for place, name in enumerate(self.columns)}
        return tuple(tuple(row[places[name]] if name in places else _NOTHING for name in columns) for row in self.rows)


def compare_cells(op: str, expected: Any, actual: Any) -> Comparison:
    """What differs, cell by cell; None on either side is no answer."""
    wanted = _grid(op, expected, None)
    found = _grid(op, actual, expected if isinstance(expected, Rows) else None)
    columns = _columns(wanted, found, rows=isinstance(actual, Rows))
    free = _FREE.get(op, frozenset())
    marked = [place for place, name in enumerate(columns) if name not in free]
    names = _IDENTIFYING.get(op, ())
    shared = [place for place in marked if columns[place] in wanted.columns and columns[place] in found.columns]
    places = [place for place in shared if columns[place] in names] or _identifying(wanted.under(columns), shared)
    lines = _aligned(wanted.under(columns), found.under(columns), marked, places)
    named_lines = (replace(line, columns=tuple(columns[int(place)] for place in line.columns)) for line in lines)
    return bounded(Comparison(op, columns, tuple(named_lines)))


def _columns(wanted: _Grid, found: _Grid, *, rows: bool) -> tuple[str, ...]:
    """The expected columns, and what else rows have; a value may say more than is expected."""
    if not wanted.columns:
        return found.columns
    return (*wanted.columns, *(name for name in found.columns if rows and name not in wanted.columns))


def _aligned(
    wanted: Sequence[_Row], found: Sequence[_Row], marked: Sequence[int], places: Sequence[int]
) -> Iterable[Line]:
    """Lines in the order of the expected rows, then what is extra; columns that differ by their places.

    Rows are one changed row where they are the same at `places`.
    """
    equal, left = _equal(wanted, found, marked)
    by_name = {_key(found[number], places): number for number in left} if places else {}
    for number, row in enumerate(wanted):
        other = by_name.get(_key(row, places))
        if number in equal:
            yield Line(EQUAL, _texts(row), _texts(found[equal[number]]))
        elif other in left:
            left.remove(other)
            differing = tuple(str(place) for place in marked if row[place].key != found[other][place].key)
            yield Line(CHANGED, _texts(row), _texts(found[other]), differing)
        else:
            yield Line(MISSING, _texts(row), None)
    yield from (Line(EXTRA, None, _texts(found[number])) for number in sorted(left))


def _equal(wanted: Sequence[_Row], found: Sequence[_Row], marked: Sequence[int]) -> tuple[dict[int, int], set[int]]:
    """For each expected row that has an equal one, which one; and the found rows that are left."""
    free = defaultdict[tuple[Hashable, ...], list[int]](list)
    for number, row in reversed(list(enumerate(found))):
        free[_key(row, marked)].append(number)
    pairs = {number: free[key].pop() for number, row in enumerate(wanted) if free[key := _key(row, marked)]}
    return pairs, set(range(len(found))) - set(pairs.values())


def _key(row: _Row, places: Sequence[int]) -> tuple[Hashable, ...]:
    return tuple(row[place].key for place in places)


def _texts(row: _Row) -> tuple[str, ...]:
    return tuple(cell.text for cell in row)


def _identifying(rows: Sequence[_Row], shared: Sequence[int]) -> Sequence[int]:
    """The first column, or the first two, whose values tell the expected rows apart."""
    for size in (1, 2):
        for places in combinations(shared[:_FIRST_COLUMNS], size):
            if len({_key(row, places) for row in rows}) == len(rows) > 0:
                return places
    return ()


def _grid(op: str, answer: Any, like: Rows | None) -> _Grid:
    if answer is None:
        return _Grid((), ())
    if isinstance(answer, Rows):
        return _grid_of_rows(answer, dict(like.schema) if like else {})
    if op == "table_info" and isinstance(answer, Mapping):
        return _grid_of_properties(answer)
    if isinstance(answer, list) and answer and all(isinstance(entry, Mapping) for entry in answer):
        names = tuple(dict.fromkeys(name for entry in answer for name in entry))
        rows = (tuple(_cell(entry[name]) if name in entry else _NOTHING for name in names) for entry in answer)
        return _Grid(names, tuple(rows))
    if isinstance(answer, Mapping):
        return _Grid(("property", "value"), tuple((_cell(name), _cell(value)) for name, value in answer.items()))
    return _Grid((), ()) if answer == [] else _Grid(("value",), ((_cell(answer),),))


def _grid_of_rows(rows: Rows, types: Mapping[str, str]) -> _Grid:
    """Cells in the expected column's type, where the given one is of its family."""
    kinds = [
        types[name] if name in types and family(parse_type(types[name])) == family(parse_type(own)) else own
        for name, own in rows.schema
    ]
    cells = (tuple(_logical_cell(value, kind) for value, kind in zip(row, kinds, strict=True)) for row in rows.rows)
    return _Grid(tuple(name for name, _ in rows.schema), tuple(cells))


def _grid_of_properties(info: Mapping[str, Any]) -> _Grid:
    """What a table is, one line each; its columns by their families of types, as they are compared."""
    plain = tuple((_cell(name), _cell(value)) for name, value in info.items() if name != "schema")
    schema = info.get("schema", ())
    columns = tuple(map(_column_of_schema, schema)) if isinstance(schema, list) else ((_cell("schema"), _cell(schema)),)
    return _Grid(("property", "value"), plain + columns)


def _column_of_schema(column: Any) -> _Row:
    try:
        name, kind = str(column["name"]), str(column["type"])
        return _cell(f"column {name}"), _Cell(family(parse_type(kind)), kind)
    except (TypeError, KeyError, LogicalTypeError):
        return _cell("column"), _cell(column)


def _logical_cell(value: Value, kind: str) -> _Cell:
    logical = parse_type(kind)
    try:
        form = encode_value(value, logical)
    except ValueError:
        form = repr(value)
    # One's type is part of what is compared: a column of another family has no equal cell.
    return _Cell((family(logical), canonical(value, logical)), _text(form))


def _cell(value: Any) -> _Cell:
    return _Cell(json.dumps(value, sort_keys=True, ensure_ascii=False), _text(value))


def _text(form: Any) -> str:
    """A cell as it is read: text as it is, null in its word, texts on a line each, the rest as JSON."""
    if isinstance(form, str):
        return form
    if isinstance(form, list) and all(isinstance(one, str) for one in form):
        return "\n".join(form)
    return json.dumps(form, ensure_ascii=False, separators=(", ", ": "))
