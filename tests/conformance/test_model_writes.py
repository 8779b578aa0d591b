"""The model's writing ops on bytes: what one mind writes, another reads, and a plain dictionary agrees with both."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hudi_adapter.rows import Rows, write_rows
from hudi_conformance.bridge import load
from hudi_conformance.bridge.operations import evaluate
from hudi_conformance.bridge.writing import Session
from hudi_model.merging import COUNTER
from hudi_model.rejection import Reason, Rejection
from hudi_spark import read_arrow
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COLUMNS = (("id", "string"), ("city", "string"), ("ts", "int64"), ("fare", "float64"))
AVRO = {
    "type": "record",
    "name": "rides",
    "fields": [
        {"name": name, "type": ["null", kind], "default": None}
        for name, kind in (("id", "string"), ("city", "string"), ("ts", "long"), ("fare", "double"))
    ],
}
HOMES = {"r1": "oslo", "r2": "lima", "ř3": "oslo", "r4": "são paulo"}
Row = tuple[str, str, int, float]
ROWS = st.lists(
    st.builds(
        lambda key, ts, fare: (key, HOMES[key], ts, fare / 4),
        st.sampled_from(sorted(HOMES)),
        st.integers(1, 5),
        st.integers(0, 40),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda row: row[0],
)
STEPS = st.lists(st.tuples(st.sampled_from(["upsert", "upsert", "delete", "insert_overwrite_table"]), ROWS), max_size=4)
TABLES = st.tuples(
    st.sampled_from([6, 8, 9]), st.sampled_from(["COPY_ON_WRITE", "MERGE_ON_READ"]), st.booleans(), st.booleans()
)


def _rows_file(folder: Path, rows: list[Row]) -> str:
    path = folder / f"rows{len(list(folder.iterdir()))}.jsonl"
    write_rows(path, Rows(COLUMNS, tuple(rows)))
    return str(path)


def _create(
    session: Session,
    path: Path,
    version: int,
    kind: str,
    *,
    partitioned: bool,
    ordered: bool,
    properties: Mapping[str, str] | None = None,
) -> None:
    session.run(
        "create_table",
        path,
        {
            "name": "rides",
            "schema": json.dumps(AVRO),
            "table_type": kind,
            "table_version": version,
            "record_key": ["id"],
            "partition_by": ["city"] if partitioned else [],
            "ordering": ["ts"] if ordered else [],
            "properties": dict(properties or {}),
        },
    )


def _expected(held: dict[str, Row], operation: str, rows: list[Row], *, ordered: bool) -> dict[str, Row]:
    match operation:
        case "delete":
            return {key: row for key, row in held.items() if key not in {row[0] for row in rows}}
        case "insert_overwrite_table":
            return {row[0]: row for row in rows}
    late = {row[0] for row in rows if ordered and row[0] in held and held[row[0]][2] > row[2]}
    return {**held, **{row[0]: row for row in rows if row[0] not in late}}


def _read(path: Path) -> list[Row]:
    rows: list[Row] = sorted(tuple(row[name] for name, _ in COLUMNS) for row in read_arrow(str(path)).to_pylist())
    return rows


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(table=TABLES, steps=STEPS)
def test_the_engine_reads_what_the_model_writes(
    table: tuple[int, str, bool, bool], steps: list[tuple[str, list[Row]]]
) -> None:
    """Property: after every step the engine, the model and a dictionary hold the same rows, and nothing is wrong."""
    version, kind, partitioned, ordered = table
    held: dict[str, Row] = {}
    with TemporaryDirectory() as inputs, TemporaryDirectory() as folder:
        session, path = Session(), Path(folder) / "table"
        path.mkdir()
        _create(session, path, version, kind, partitioned=partitioned, ordered=ordered)
        for operation, rows in steps:
            session.run("write", path, {"operation": operation, "input": _rows_file(Path(inputs), rows)})
            held = _expected(held, operation, rows, ordered=ordered)
            assert _read(path) == sorted(held.values())
            assert sorted(evaluate(load(path), "read_snapshot", {}).content.rows) == sorted(held.values())
            assert evaluate(load(path), "check_table", {}).content == []


def _started(session: Session, path: Path, inputs: Path, txn: str, rows: list[Row]) -> Mapping[str, Any]:
    request = {"operation": "upsert", "input": _rows_file(inputs, rows), "txn": txn}
    started: Mapping[str, Any] = session.run("begin_write", path, request)
    session.run("stage_write", path, request)
    return started


def test_a_write_that_is_refused_as_it_is_staged_leaves_nothing(tmp_path: Path) -> None:
    """It is given up, and cannot be committed any more."""
    session, path, inputs = Session(), tmp_path / "table", tmp_path / "inputs"
    path.mkdir()
    inputs.mkdir()
    _create(session, path, 9, "COPY_ON_WRITE", partitioned=True, ordered=False)
    request = {"operation": "upsert", "txn": "a", "input": _rows_file(inputs, [("", "oslo", 1, 1.0)])}
    session.run("begin_write", path, request)
    with pytest.raises(Rejection) as refused:
        session.run("stage_write", path, request)
    assert refused.value.reason is Reason.KEY_MISSING
    assert load(path).timeline == ()
    with pytest.raises(Rejection, match="no write 'a' has begun"):
        session.run("commit_write", path, {"txn": "a"})


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("version", [6, 8, 9])
def test_the_second_of_two_overlapping_writes_is_refused_and_leaves_nothing(
    tmp_path: Path, version: int, kind: str
) -> None:
    """Both update one file group: the first to commit wins, the other's files and instant go."""
    session, path = Session(), tmp_path / "table"
    path.mkdir()
    _create(session, path, version, kind, partitioned=True, ordered=False)
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    session.run("write", path, {"operation": "upsert", "input": _rows_file(inputs, [("r1", "oslo", 1, 1.0)])})
    _started(session, path, inputs, "a", [("r1", "oslo", 2, 2.0)])
    loser = _started(session, path, inputs, "b", [("r1", "oslo", 3, 3.0)])

    session.run("commit_write", path, {"txn": "a"})
    with pytest.raises(Rejection) as refusal:
        session.run("commit_write", path, {"txn": "b"})

    assert refusal.value.reason is Reason.WRITE_CONFLICT
    assert _read(path) == [("r1", "oslo", 2, 2.0)]
    assert not [found for found in path.rglob("*") if loser["requested"] in found.name]


def test_change_logs_keep_what_the_table_says(tmp_path: Path) -> None:
    """A table that logs operations and keys alone gets change logs without images."""
    session, path, inputs = Session(), tmp_path / "table", tmp_path / "inputs"
    path.mkdir()
    inputs.mkdir()
    feed = {"hoodie.table.cdc.enabled": "true", "hoodie.table.cdc.supplemental.logging.mode": "OP_KEY_ONLY"}
    _create(session, path, 9, "COPY_ON_WRITE", partitioned=False, ordered=False, properties=feed)
    for fare in (1.0, 2.0):
        rows = _rows_file(inputs, [("r1", "oslo", 1, fare), ("r2", "lima", 1, fare)])
        session.run("write", path, {"operation": "upsert", "input": rows})

    logs = [one for one in load(path).log_files if one.cdc]
    changes = [change for log in logs for block in log.blocks for change in block.changes]

    assert {change.key for change in changes} == {"r1", "r2"}
    assert all(change.before is None and change.after is None for change in changes)


def test_values_of_another_type_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """A text is no number: the write is refused, the table stays as it was."""
    session, path, rows = Session(), tmp_path / "table", tmp_path / "rows.jsonl"
    path.mkdir()
    _create(session, path, 9, "COPY_ON_WRITE", partitioned=False, ordered=False)
    write_rows(rows, Rows((("id", "string"), ("fare", "string")), (("r1", "twelve"),)))

    with pytest.raises(Rejection) as refusal:
        session.run("write", path, {"operation": "upsert", "input": str(rows)})

    assert refusal.value.reason is Reason.SCHEMA_INCOMPATIBLE
    assert not list(path.rglob("*.requested"))


@pytest.mark.parametrize("kind", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_column_that_rows_leave_out_is_null_to_a_merger(tmp_path: Path, kind: str) -> None:
    """It does not keep the value that the key had, as it does with a partial update."""
    session, path, inputs = Session(), tmp_path / "table", tmp_path / "inputs"
    path.mkdir()
    inputs.mkdir()
    counter = {
        "hoodie.record.merge.mode": "CUSTOM",
        "hoodie.record.merge.strategy.id": COUNTER.strategy,
        "hoodie.record.merge.property.hudi.conformance.columns": "ts",
    }
    _create(session, path, 9, kind, partitioned=True, ordered=False, properties=counter)
    session.run("write", path, {"operation": "upsert", "input": _rows_file(inputs, [("r1", "oslo", 2, 0.5)])})
    write_rows(inputs / "few.jsonl", Rows(COLUMNS[:3], (("r1", "oslo", 3),)))
    configs = {"hoodie.write.set.null.for.missing.columns": "true"}
    session.run("write", path, {"operation": "upsert", "input": str(inputs / "few.jsonl"), "configs": configs})
    assert list(evaluate(load(path), "read_snapshot", {}).content.rows) == [("r1", "oslo", 5, None)]
