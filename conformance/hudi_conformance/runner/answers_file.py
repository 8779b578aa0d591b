"""The file that keeps the answers of a golden table, or the rows and answers of a recipe: one JSON object, by name.

{
"snapshot": {"schema": [{"name": "id", "type": "string"}], "rows": [
{"id":"a"},
{"id":"b"}
]},
"table-info": {"value": {"version": 9}}
}
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from hudi_adapter.logical_types import LogicalTypeError
from hudi_adapter.rows import Rows, RowsError, encode_value, rows_of_json
from hudi_adapter.values import ValueFormError

from hudi_conformance.runner.resources import CorpusError


def read_answer(file: Path, name: str) -> Any:
    """The rows or the value that a file keeps under a name.

    Raises:
        CorpusError: the file cannot be read, has no such name, or holds what the logical types cannot say.

    """
    entry = _entries(file, file.stat().st_mtime_ns if file.is_file() else 0).get(name)
    if not isinstance(entry, dict) or not entry.keys() & {"value", "rows"}:
        raise CorpusError(f"{file}: there is no answer {name!r}")
    if "value" in entry:
        return entry["value"]
    try:
        return rows_of_json(entry, entry["rows"])
    except (RowsError, LogicalTypeError, ValueFormError, TypeError) as error:
        raise CorpusError(f"{file}: {name}: {error}") from error


def names(file: Path) -> frozenset[str]:
    """The names under which a file keeps answers.

    Raises:
        CorpusError: the file cannot be read.

    """
    return frozenset(_entries(file, file.stat().st_mtime_ns if file.is_file() else 0))


@lru_cache(maxsize=8)
def _entries(file: Path, _modified: int) -> Mapping[str, Any]:
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CorpusError(f"{file}: {error}") from error
    if not isinstance(entries, dict):
        raise CorpusError(f"{file}: not a JSON object")
    return entries


def text_of(entries: Mapping[str, str]) -> str:
    """The text of a file with these entries, each as `answer_text` or `input_text` gives it."""
    parts = ",\n".join(f"{_dumps(name)}: {entry}" for name, entry in entries.items())
    return f"{{\n{parts}\n}}\n"


def answer_text(answer: Any) -> str:
    """The entry of an answer: rows, sorted by their text so that equal bags give equal text, or a value."""
    if isinstance(answer, Rows):
        return _rows_text(answer, sorted(_row_texts(answer)))
    return f'{{"value": {_value_text(answer)}}}'


def input_text(rows: Rows) -> str:
    """The entry of rows that a step writes, in their order."""
    return _rows_text(rows, _row_texts(rows))


def _rows_text(rows: Rows, texts: Iterable[str]) -> str:
    schema = _dumps([{"name": name, "type": logical} for name, logical in rows.schema])
    lines = ",\n".join(texts)
    return f'{{"schema": {schema}, "rows": [\n{lines}\n]}}' if lines else f'{{"schema": {schema}, "rows": []}}'


def _row_texts(rows: Rows) -> Iterator[str]:
    for row in rows.rows:
        yield _dumps({name: encode_value(one, kind) for (name, kind), one in zip(rows.schema, row, strict=True)})


def _value_text(value: Any) -> str:
    """A list with one member a line, anything else indented."""
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_dumps(one) for one in value) + "\n]"
    return json.dumps(value, ensure_ascii=False, indent=1)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
