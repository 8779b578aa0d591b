"""Rows as logical values, and the files that carry them: Parquet, Arrow, or JSON Lines with the schema in front."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from hudi_adapter.answer_files import bytes_inside, bytes_of
from hudi_adapter.limits import COLUMNS, VALUES
from hudi_adapter.logical_types import LogicalType, LogicalTypeError, parse_type
from hudi_adapter.strict_json import parse_json
from hudi_adapter.values import Value, ValueFormError, decode_value, encode_value

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Rows",
    "RowsError",
    "Value",
    "arrow_of_rows",
    "decode_value",
    "encode_value",
    "read_answer",
    "read_rows",
    "rows_of_arrow",
    "rows_of_json",
    "rows_of_mappings",
    "write_arrow",
    "write_rows",
]


_ARROW = (".parquet", ".arrow")


class RowsError(ValueError):
    """A rows file that is missing, does not parse, or holds what the logical types cannot say."""


@dataclass(frozen=True)
class Rows:
    """Columns as (name, logical type), and one tuple of values for each row, in column order."""

    schema: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Value, ...], ...]

    def __post_init__(self) -> None:
        for name, count in Counter(name for name, _ in self.schema).items():
            if count > 1:
                raise RowsError(f"column {name!r} stands in the schema twice")

    def mappings(self) -> Iterator[dict[str, Value]]:
        """Each row as column name to value."""
        names = [name for name, _ in self.schema]
        return (dict(_paired(names, row)) for row in self.rows)


def rows_of_mappings(schema: tuple[tuple[str, str], ...], mappings: tuple[Mapping[str, Value], ...]) -> Rows:
    """Rows from column name to value; an absent column is null."""
    return Rows(schema, tuple(tuple(row.get(name) for name, _ in schema) for row in mappings))


def rows_of_arrow(table: pa.Table) -> Rows:
    """Logical rows of an Arrow table.

    Raises:
        RowsError: a column twice, a type or a value without logical counterpart; or pyarrow is not installed.

    """
    found: Rows = _arrow().rows_of_arrow(table)
    return found


def arrow_of_rows(rows: Rows) -> pa.Table:
    """The same rows as an Arrow table, in the types `arrow_type` gives.

    Raises:
        RowsError: a value is not of its column's type, or pyarrow is not installed.

    """
    found: pa.Table = _arrow().arrow_of_rows(rows)
    return found


def write_rows(path: Path, rows: Rows) -> None:
    """Write rows in the format that the file's ending names.

    Raises:
        RowsError: a value is not of its column's type, or the ending is none of .parquet, .arrow, .jsonl.

    """
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{line}\n" for line in _json_lines(rows)), encoding="utf-8")
    elif path.suffix in _ARROW:
        _arrow().write_table(path, arrow_of_rows(rows))
    else:
        raise RowsError(f"{path.name}: a rows file ends in .parquet, .arrow or .jsonl")


def write_arrow(path: Path, table: pa.Table) -> None:
    """Write an Arrow table as it is: an Arrow file of its own types."""
    _arrow().write_table(path, table)


def read_rows(path: Path) -> Rows:
    """Read the rows of a .parquet, .arrow or .jsonl file.

    Raises:
        RowsError: the file is missing, no regular file, larger than the limits, does not parse, or holds what the
            logical types cannot say.

    """
    return _understood(path.name, lambda: bytes_of(path))


def read_answer(out_dir: Path, name: str) -> Rows:
    """The same of a file that an adapter names below the folder of its answer: no link leads there.

    Raises:
        RowsError: as `read_rows`, or the file is reached by a link.

    """
    return _understood(name, lambda: bytes_inside(out_dir, name))


def _understood(name: str, read: Callable[[], bytes]) -> Rows:
    suffix = PurePosixPath(name).suffix
    if suffix not in {*_ARROW, ".jsonl"}:
        raise RowsError(f"{name}: a rows file ends in .parquet, .arrow or .jsonl")
    try:
        if suffix == ".jsonl":
            return _rows_of_json_lines(read().decode())
        found: Rows = _arrow().rows_of_bytes(read(), suffix)
    except (
        OSError,
        MemoryError,
        LogicalTypeError,
        ValueFormError,
        ValueError,
        IndexError,
        OverflowError,
        RecursionError,
    ) as error:
        raise RowsError(f"{name}: {error}") from error
    return found


def _arrow() -> Any:
    """What needs pyarrow, imported when it is needed."""
    try:
        return import_module("hudi_adapter.arrow_rows")
    except ModuleNotFoundError as error:
        raise RowsError("Arrow tables, Parquet and Arrow files need pyarrow: install hudi-adapter[arrow]") from error


def _paired(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Both side by side; `zip` itself compares lengths since Python 3.10."""
    if len(first) != len(second):
        raise ValueError(f"{len(second)} values of {len(first)} columns")
    return zip(first, second)


def _json_lines(rows: Rows) -> Iterator[str]:
    yield _dumps({"schema": [{"name": name, "type": logical} for name, logical in rows.schema]})
    kinds = [(name, parse_type(logical)) for name, logical in rows.schema]
    for number, row in enumerate(rows.rows, start=1):
        yield _dumps(_json_row(number, row, kinds))


def _json_row(number: int, row: tuple[Value, ...], kinds: list[tuple[str, LogicalType]]) -> dict[str, Any]:
    try:
        return {name: encode_value(value, kind) for (name, kind), value in _paired(kinds, row)}
    except ValueError as error:
        raise RowsError(f"row {number}: {error}") from error


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _rows_of_json_lines(text: str) -> Rows:
    # Not splitlines(): U+2028 and its like may stand inside a JSON string.
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise RowsError("the first line must be the schema")
    return rows_of_json(parse_json(lines[0]), [parse_json(line) for line in lines[1:]])


def rows_of_json(header: Any, rows: Collection[Any]) -> Rows:
    """Rows of their JSON forms: the object with the schema, and an object a row.

    Raises:
        RowsError: a part has another shape, holds what the logical types cannot say, or is larger than answers may be.

    """
    schema = _schema_of(header)
    if len(schema) > COLUMNS or len(rows) * max(1, len(schema)) > VALUES:
        raise RowsError(f"more than {COLUMNS} columns, or {VALUES} values in all rows and columns")
    kinds = [(name, parse_type(logical)) for name, logical in schema]
    return Rows(schema, tuple(_row_of(number, row, kinds) for number, row in enumerate(rows, start=1)))


def _schema_of(header: Any) -> tuple[tuple[str, str], ...]:
    columns = header.get("schema") if isinstance(header, dict) else None
    if not isinstance(columns, list):
        raise RowsError('the first line must be {"schema":[{"name":...,"type":...},...]}')
    for column in columns:
        if not isinstance(column, dict) or not all(isinstance(column.get(key), str) for key in ("name", "type")):
            raise RowsError(f"a column is {{name, type}}, not {column!r:.80}")
    return tuple((column["name"], column["type"]) for column in columns)


def _row_of(number: int, row: Any, kinds: list[tuple[str, LogicalType]]) -> tuple[Value, ...]:
    if not isinstance(row, dict):
        raise RowsError(f"row {number} is no object")
    unknown = row.keys() - {name for name, _ in kinds}
    if unknown:
        raise RowsError(f"row {number}: column {min(unknown)!r} is not in the schema")
    try:
        return tuple(decode_value(row.get(name), kind) for name, kind in kinds)
    except ValueFormError as error:
        raise RowsError(f"row {number}: {error}") from error
