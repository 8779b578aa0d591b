"""Tables as streams of record batches."""

import itertools
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from engine_tables import TableBuilder, row
from hudi_spark import (
    DamagedLogWarning,
    HudiError,
    HudiTable,
    TableDefinition,
    create_arrow,
    read_arrow,
    read_batches,
    read_incremental,
    services_arrow,
    write_arrow,
)
from written_tables import SCHEMA, rows

PARTITIONS = 16
ROWS_A_PARTITION = 2_000


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of sixteen file slices of one size."""
    path = tmp_path_factory.mktemp("wide") / "table"
    columns = pa.schema([("id", pa.string()), ("part", pa.int64()), ("text", pa.string())])
    create_arrow(path, TableDefinition("wide", columns, record_key=("id",), partition_by=("part",)))
    numbers = range(PARTITIONS * ROWS_A_PARTITION)
    given = {
        "id": [f"{n:06}" for n in numbers],
        "part": [n % PARTITIONS for n in numbers],
        "text": [f"{n:0200}" for n in numbers],
    }
    write_arrow(path, pa.table(given, schema=columns), "bulk_insert", configs={"hoodie.metadata.enable": "false"})
    return path


def table_of(path: Path, table_type: Any = "MERGE_ON_READ") -> Path:
    """Two writes of ten rows in two partitions, of which the second changes some."""
    keys: Any = {"record_key": ("id",), "partition_by": ("region",), "ordering": ("ts",)}
    create_arrow(path, TableDefinition("trips", SCHEMA, table_type=table_type, **keys))
    write_arrow(path, rows(range(10)))
    write_arrow(path, rows(range(5, 12), ts=2, price=2.0))
    return path


@pytest.mark.parametrize("columns", [None, ["price"], []])
@pytest.mark.parametrize("meta_columns", [False, True])
@pytest.mark.parametrize(
    "condition",
    [
        pc.field("price") > 1,
        (pc.field("id") == "k3") | pc.field("region").is_null(),
        pc.starts_with(pc.field("_hoodie_partition_path"), "n") & ~(pc.field("ts") < 2),
        pc.scalar(value=True),
    ],
)
def test_expressions_of_arrow_choose_what_arrow_chooses(
    tmp_path: Path, condition: Any, columns: list[str] | None, meta_columns: bool
):
    """Of all rows, whether the columns that it names are requested or not."""
    path = table_of(tmp_path / "t")
    chosen = read_arrow(path, meta_columns=True).filter(condition)
    expected = chosen.select(read_arrow(path, columns=columns, meta_columns=meta_columns).column_names)
    question = {"columns": columns, "filter": condition, "meta_columns": meta_columns}
    assert read_arrow(path, **question).equals(expected)
    assert read_batches(path, **question).read_all().equals(expected)
    assert read_incremental(path, "earliest", **question).num_rows == expected.num_rows


@pytest.mark.parametrize("condition", [pc.field("nothing") > 1, pc.field("id") > 1])
def test_an_expression_that_does_not_fit_is_refused(tmp_path: Path, condition: Any):
    with pytest.raises(HudiError, match="does not fit the table") as caught:
        read_batches(table_of(tmp_path / "t"), filter=condition)
    assert caught.value.reason == "CONFIG_INVALID"


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_stream_has_the_rows_of_the_table(tmp_path: Path, table_type: str):
    path = table_of(tmp_path / "t", table_type)
    first = services_arrow(path).savepoint().requested
    write_arrow(path, rows([1], ts=3, price=3.0))
    questions: list[dict[str, Any]] = [
        {},
        {"as_of": first},
        {"columns": ["price", "id"], "filter": ["price", ">", "1.0"]},
        {"columns": []},
        {"meta_columns": True, "filter": ["id", "=", "none"]},
        {"read_optimized": True},
    ]
    for question in questions:
        reader, whole = read_batches(path, **question), read_arrow(path, **question)
        assert reader.schema == whole.schema
        batches = list(reader)
        assert sum(batch.num_rows for batch in batches) == whole.num_rows
        assert pa.Table.from_batches(batches, whole.schema).to_pylist() == whole.to_pylist() or not whole.schema.names


def test_a_range_can_be_streamed(tmp_path: Path):
    path = table_of(tmp_path / "t")
    middle = min(one.completed or "" for one in _outcomes(path))
    assert read_batches(path, begin=middle).read_all() == read_incremental(path, middle)
    assert read_batches(path, end=middle).read_all() == read_incremental(path, "earliest", middle)
    for other in ({"as_of": middle}, {"read_optimized": True}):
        with pytest.raises(HudiError, match="CONFIG_INVALID"):
            read_batches(path, begin=middle, **other)


def _outcomes(path: Path) -> Any:
    return [write_arrow(path, rows([20 + n])) for n in range(2)]


def test_at_most_four_slices_are_held_at_a_time(wide: Path):
    whole = read_arrow(wide)
    slice_bytes = whole.nbytes / PARTITIONS
    del whole
    before, most, seen = pa.total_allocated_bytes(), 0, 0
    for batch in read_batches(wide):
        seen += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)
        del batch
    assert seen == PARTITIONS * ROWS_A_PARTITION
    # A slice takes its columns and what Parquet decodes them from.
    assert most < 8 * slice_bytes < PARTITIONS * slice_bytes


def test_slices_are_read_when_batches_are_requested(wide: Path):
    reader = read_batches(wide, columns=["part"])
    assert next(iter(reader)).num_rows == ROWS_A_PARTITION
    reader.close()
    assert (
        sum(len(batch) for batch in itertools.islice(read_batches(wide, columns=["part"]), 3)) == 3 * ROWS_A_PARTITION
    )


def test_a_refused_table_is_refused_at_once(tmp_path: Path):
    with pytest.raises(HudiError, match="NOT_A_TABLE"):
        read_batches(tmp_path)
    with pytest.raises(HudiError, match="no column 'x'"):
        read_batches(table_of(tmp_path / "t"), columns=["x"])


def test_a_file_that_is_missing_ends_the_stream_with_its_reason(wide: Path, tmp_path: Path):
    path = table_of(tmp_path / "t", "COPY_ON_WRITE")
    reader = read_batches(path)
    for file in path.glob("*/*.parquet"):
        file.unlink()
    with pytest.raises(HudiError, match="BASE_FILE_MISSING") as caught:
        reader.read_all()
    assert caught.value.table == str(path)


def test_damage_is_reported_while_the_stream_is_read(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])])
    builder.commit(20, [builder.log_file(20, [b"no block", builder.data(20, [row("b", 1)])])])
    with pytest.warns(DamagedLogWarning):
        assert read_batches(tmp_path).read_all().num_rows


def test_what_reads_arrow_streams_reads_a_stream_of_a_table(tmp_path: Path):
    path = table_of(tmp_path / "t")
    whole = read_arrow(path)
    assert pa.table(read_batches(path)) == whole
    assert pd.DataFrame.from_arrow(read_batches(path)).to_dict("list") == whole.to_pydict()
    assert ds.Scanner.from_batches(read_batches(path)).to_table() == whole


def test_a_stream_of_one_table_is_written_to_another(wide: Path, tmp_path: Path):
    columns = read_batches(wide).schema
    create_arrow(tmp_path / "copy", TableDefinition("copy", columns, record_key=("id",)))
    write_arrow(tmp_path / "copy", read_batches(wide), "bulk_insert")
    assert read_arrow(tmp_path / "copy").sort_by("id") == read_arrow(wide).sort_by("id")


def test_a_table_object_is_a_new_stream_each_time(spark: Any, tmp_path: Path):
    table = HudiTable(spark, table_of(tmp_path / "t"))
    whole = read_arrow(tmp_path / "t")
    assert pa.table(table) == pa.RecordBatchReader.from_stream(table).read_all() == whole
    assert pd.DataFrame.from_arrow(table).to_dict("list") == whole.to_pydict()
    write_arrow(tmp_path / "t", rows([30]))
    assert pa.table(table).num_rows == whole.num_rows + 1


def test_what_is_no_path_is_refused_by_name(tmp_path: Path):
    """Also where a folder of the process would stand for an empty one; whatever has a path of its own is one."""
    for given, shown in ((None, "NoneType"), (b"x", "bytes"), (3, "int"), ("", "is empty")):
        with pytest.raises(HudiError, match=f"NOT_A_TABLE.*{shown}"):
            read_arrow(given)  # type: ignore[arg-type]
    path = table_of(tmp_path / "a b%20c %")
    with os.scandir(tmp_path) as found:
        assert read_arrow(next(found)).num_rows == read_arrow(path.as_uri()).num_rows  # type: ignore[arg-type]


def test_arguments_of_another_kind_are_refused_by_name(tmp_path: Path):
    path = table_of(tmp_path / "t")
    with pytest.raises(HudiError, match=r"CONFIG_INVALID.*columns=\['fare'\]"):
        read_arrow(path, columns="fare")
    with pytest.raises(HudiError, match=r"CONFIG_INVALID.*options are a list"):
        write_arrow(path, rows([]), configs=["hoodie.index.type"])  # type: ignore[arg-type]


def test_an_index_without_a_name_does_not_become_a_column(tmp_path: Path):
    """As pandas leaves one behind where rows were filtered; without it, or with its name, the rows are written."""
    schema = pa.schema([("id", pa.string()), ("fare", pa.float64())])
    create_arrow(tmp_path / "t", TableDefinition("t", schema, record_key=("id",)))
    frame = pd.DataFrame({"id": ["a", "b", "c", "d"], "fare": [1.0, 2.0, 3.0, 4.0]})
    chosen = frame[frame.fare != 3.0]  # type: ignore[attr-defined]
    for given in (chosen, pa.Table.from_pandas(chosen)):
        with pytest.raises(HudiError, match=r"CONFIG_INVALID.*reset_index"):
            write_arrow(tmp_path / "t", given)
    assert read_arrow(tmp_path / "t").num_rows == 0
    write_arrow(tmp_path / "t", chosen.reset_index(drop=True))
    assert read_arrow(tmp_path / "t").to_pydict() == {"id": ["a", "b", "d"], "fare": [1.0, 2.0, 4.0]}
    write_arrow(tmp_path / "t", chosen.rename_axis("place"))
    assert sorted(read_arrow(tmp_path / "t")["place"].to_pylist()) == [0, 1, 3]
