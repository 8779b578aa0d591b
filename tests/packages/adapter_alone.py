"""An adapter of `hudi-adapter` by itself, as a process that a suite asks: `adapter_alone.py serve` is that process.

`adapter_alone.py arrow`: with pyarrow, the files that need it.
"""

import json
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from hudi_adapter import (
    Adapter,
    AnswerWarning,
    Implementation,
    Reason,
    Rejected,
    Request,
    Rows,
    RowsAnswer,
    ValueAnswer,
    serve,
)
from hudi_adapter.filters import columns_of, parse_filter
from hudi_adapter.rows import RowsError, read_rows, write_rows

SCHEMA = (("id", "string"), ("at", "timestamp-micros"), ("tags", "map<string,list<int64>>"), ("fare", "decimal(10,2)"))
ANSWER = {"id": "ä", "at": "2025-01-31T12:00:00.000001Z", "tags": [["x", ["1", None]]], "fare": "1.50"}


def read_snapshot(request: Request) -> RowsAnswer:
    """One row, which a file of JSON Lines gives."""
    columns = columns_of(parse_filter(request.params["filter"]))
    return RowsAnswer(one_row(request.table), (AnswerWarning("LG-001", " ".join(columns)),))


def one_row(folder: Path) -> Rows:
    """The row, by a file of JSON Lines."""
    file = folder / "rows.jsonl"
    schema = [{"name": name, "type": kind} for name, kind in SCHEMA]
    file.write_text(f"{json.dumps({'schema': schema})}\n{json.dumps(ANSWER)}\n", encoding="utf-8")
    return read_rows(file)


def list_timeline(request: Request) -> ValueAnswer:
    """Refused."""
    raise Rejected(Reason.NOT_A_TABLE, f"{request.table.name} is no table")


def session() -> None:
    """Start, two questions, stop: what the process answers."""
    with tempfile.TemporaryDirectory() as place:
        run = {"cmd": "run", "table": place, "out_dir": place}
        messages = [
            {"cmd": "start", "protocol": 1},
            {"seq": 1, "op": "read_snapshot", "params": {"filter": ["and", ["id", "=", "ä"]]}, **run},
            {"seq": 2, "op": "list_timeline", **run},
            {"cmd": "stop"},
        ]
        lines = "".join(f"{json.dumps(one)}\n" for one in messages)
        command = [sys.executable, __file__, "serve"]
        done = subprocess.run(command, input=lines, check=True, capture_output=True, text=True, encoding="utf-8")
        started, rows, refused = map(json.loads, done.stdout.splitlines())
        assert started["ops"] == ["list_timeline", "read_snapshot"], started
        assert rows["warnings"][0]["message"] == "id", rows
        header, row = Path(place, rows["result"]["rows_file"]).read_text(encoding="utf-8").splitlines()
        assert json.loads(row) == ANSWER, row
        assert [one["type"] for one in json.loads(header)["schema"]] == [kind for _, kind in SCHEMA]
        assert refused["rejected"]["reason"] == "NOT_A_TABLE", refused
        refusals = []
        try:
            write_rows(Path(place, "rows.parquet"), Rows(SCHEMA, ()))
        except RowsError as error:
            refusals.append(str(error))
        assert "hudi-adapter[arrow]" in refusals[0], refusals


def files_of_arrow() -> None:
    """The row is the same in each."""
    with tempfile.TemporaryDirectory() as place:
        rows = one_row(Path(place))
        for name in ("rows.parquet", "rows.arrow"):
            write_rows(Path(place, name), rows)
            assert read_rows(Path(place, name)) == rows, name


if __name__ == "__main__":
    if sys.argv[1:] == ["arrow"]:
        files_of_arrow()
    elif sys.argv[1:] == ["serve"]:
        serve(
            Adapter(Implementation("alone", "1"), (), {"read_snapshot": read_snapshot, "list_timeline": list_timeline})
        )
    else:
        assert not [name for name in ("pyarrow", "jsonschema", "hudi_format") if find_spec(name)]
        session()
