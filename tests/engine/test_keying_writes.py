"""Keys and paths in whole writes, in this process."""

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_spark import HudiError, TableDefinition, create_arrow, read_arrow, write_arrow

MOMENT = datetime(2024, 1, 1)  # noqa: DTZ001 - Arrow gives it the zone
SCHEMA = pa.schema({"id": pa.timestamp("us", "UTC"), "part": pa.decimal128(9, 2), "note": pa.string()})
COLUMNS = ["_hoodie_record_key", "_hoodie_partition_path"]


def made(folder: Path, schema: pa.Schema, **more: Any) -> Path:
    create_arrow(folder, TableDefinition("t", schema, record_key=("id",), partition_by=("part",), **more))
    return folder


@pytest.mark.parametrize("version", [6, 9])
def test_the_text_of_a_key_follows_from_the_table_s_column(tmp_path: Path, version: int):
    """Rows with other units, widths or encodings of the same values meet the rows that are there."""
    table = made(tmp_path, SCHEMA, table_version=version)
    numbers = (pa.array([3], pa.int32()), pa.array([3], pa.decimal128(5, 0)), pa.array([3], pa.decimal128(9, 2)))
    for unit, part in zip(("ms", "ns", "us"), numbers, strict=True):
        note = pa.array([unit]).dictionary_encode()
        write_arrow(table, pa.table({"id": pa.array([MOMENT], pa.timestamp(unit, "UTC")), "part": part, "note": note}))
    found = read_arrow(table, columns=[*COLUMNS, "note"], meta_columns=True)
    assert found.select([*COLUMNS, "note"]).to_pylist() == [
        {"_hoodie_record_key": "1704067200000000", "_hoodie_partition_path": "3.00", "note": "us"}
    ]


def test_dropped_partition_columns_make_paths_all_the_same(tmp_path: Path):
    """Paths are made of columns that no file of the table has."""
    schema = pa.schema({"id": pa.int64(), "part": pa.date32()})
    table = made(tmp_path, schema, configs={"hoodie.datasource.write.drop.partition.columns": "true"})
    for day in (1, 2):
        write_arrow(table, pa.table({"id": [1], "part": pa.array([date(2024, 1, day)])}))
    found = read_arrow(table, meta_columns=True)["_hoodie_partition_path"].to_pylist()
    assert sorted(found) == ["2024-01-01", "2024-01-02"]


@pytest.mark.parametrize(
    ("key", "part", "reason"),
    [(None, 1, "KEY_MISSING"), ("", "p", "KEY_MISSING"), ("a", "../x", "PATH_ESCAPES_TABLE"), ("a", "", None)],
)
def test_a_refused_row_changes_no_answer(tmp_path: Path, key: str | None, part: Any, reason: str | None):
    """A row without key, or with a path that leads out, refuses the write; the rows that are there stay."""
    table = made(tmp_path, pa.schema({"id": pa.string(), "part": pa.string()}))
    write_arrow(table, pa.table({"id": ["x"], "part": ["p"]}))
    rows = pa.table({"id": pa.array(["b", key], pa.string()), "part": ["p", str(part)]})
    if reason is None:
        write_arrow(table, rows)
        assert len(read_arrow(table)) == 3
        return
    with pytest.raises(HudiError) as refused:
        write_arrow(table, rows)
    assert refused.value.reason == reason
    assert read_arrow(table).to_pylist() == [{"id": "x", "part": "p"}]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".hoodie", "p"]


def test_days_of_years_that_arrow_cannot_write_are_those_of_java(tmp_path: Path):
    """LocalDate.MIN and MAX lie further out; Arrow writes `<value out of range: 2147483647>`."""
    days = [-(2**31), -11_000_001, -719_529, 0, 2_932_896, 2_932_897, 11_000_001, 2**31 - 1, None]
    texts = [
        "-5877641-06-23",
        "-28147-01-08",
        "-0001-12-31",
        "1970-01-01",
        "9999-12-31",
        "+10000-01-01",
        "+32086-12-24",
        "+5881580-07-11",
        "__HIVE_DEFAULT_PARTITION__",
    ]
    part = pa.array(days, pa.int32()).view(pa.date32())
    table = made(tmp_path, pa.schema({"id": pa.int64(), "part": pa.date32()}))
    write_arrow(table, pa.table({"id": range(len(days)), "part": part}), "bulk_insert")
    found = read_arrow(table, columns=["id", COLUMNS[1], "part"], meta_columns=True).sort_by("id")
    assert found.column(COLUMNS[1]).to_pylist() == texts
    assert found.column("part").combine_chunks().equals(part)
