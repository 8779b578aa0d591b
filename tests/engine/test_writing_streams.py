"""Rows that can be read only once: written whole, once, a part at a time."""

import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hudi_spark import HudiError, write_arrow
from hudi_spark.errors import Reason
from hudi_spark.testing import Effect, InProcess, WriteRequest, parts_of
from written_tables import SCHEMA, Written, rows

OPERATIONS = (
    "insert",
    "upsert",
    "bulk_insert",
    "delete",
    "insert_overwrite",
    "insert_overwrite_table",
    "partial_update",
)


class Exported:
    """What Arrow knows as a stream by its interface alone, once."""

    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader(max_chunksize=7)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._reader.__arrow_c_stream__(requested_schema)


SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "a reader": lambda table: table.to_reader(max_chunksize=7),
    "an exported stream": Exported,
    "a generator of batches": lambda table: (batch for batch in table.to_batches(max_chunksize=7)),
    "a generator of tables": lambda table: (table.slice(start, 7) for start in range(0, table.num_rows, 7)),
    "a list of batches": lambda table: table.to_batches(max_chunksize=7),
    "a batch": lambda table: table.combine_chunks().to_batches()[0],
    "a data set": ds.dataset,
    "a scanner": lambda table: ds.dataset(table).scanner(batch_size=7),
    "columns": lambda table: table.to_pydict(),
}


@pytest.fixture
def small_parts():
    """Of some 30 rows each."""
    with parts_of(1000):
        yield


def _two_tables(folder: Path, **traits: Any) -> tuple[Written, Written]:
    """Two that are alike, with rows."""
    tables = Written(folder / "one", **traits), Written(folder / "other", **traits)
    for table in tables:
        table.write("upsert", rows(range(0, 40, 3), 5, 5.0))
    return tables


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_reader_is_written_as_its_table_would_be(tmp_path: Path, operation: str):
    """Whatever the operation, the table has the rows afterwards, once."""
    one, other = _two_tables(tmp_path)
    given = rows(range(30), 7, 7.0)
    write_arrow(one.path, given.to_reader(max_chunksize=7), operation)
    write_arrow(other.path, given, operation)
    assert one.found() == other.found()


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_each_kind_of_source_is_written_whole(tmp_path: Path, source: str):
    """Whatever rows come from."""
    table = Written(tmp_path)
    table.write("bulk_insert", SOURCES[source](rows(range(30))))
    assert table.ids() == sorted(f"k{n}" for n in range(30))


INDEXES = {
    "simple": {"hoodie.index.type": "SIMPLE"},
    "bloom": {"hoodie.index.type": "BLOOM"},
    "global": {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"},
    "global bloom": {"hoodie.index.type": "GLOBAL_BLOOM"},
    "buckets": {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "3"},
    "record": {"hoodie.index.type": "RECORD_INDEX", "hoodie.metadata.record.index.enable": "true"},
}


@pytest.mark.parametrize("index", sorted(INDEXES))
@pytest.mark.usefixtures("small_parts")
def test_parts_come_to_the_same_table(tmp_path: Path, index: str):
    """A stream of many parts leaves what its table does: keys that come twice, that are there, that move."""
    one, other = _two_tables(tmp_path, table_type="MERGE_ON_READ", configs=INDEXES[index])
    late = rows(range(0, 40, 2), 3, 3.0)
    moved = rows([3, 6], 9, 9.0).set_column(1, "region", pa.array(["west", "west"]))
    given = pa.concat_tables([rows(range(200), 7, 7.0), late, rows(range(20, 60), 8, 8.0), moved])
    for operation in ("upsert", "delete", "partial_update"):
        some = given.slice(50, 60) if operation == "delete" else given
        one.writer(executor=InProcess()).write(WriteRequest(operation, some.to_reader(max_chunksize=11)))
        other.writer(executor=InProcess()).write(WriteRequest(operation, some))
        columns = ("id", "region", "ts", "price")
        assert one.found(columns) == other.found(columns), operation


@pytest.mark.parametrize("mode", ["NONE", "GLOBAL_SORT", "PARTITION_SORT", "PARTITION_PATH_REPARTITION_AND_SORT"])
@pytest.mark.usefixtures("small_parts")
def test_a_bulk_insert_sorts_across_parts(tmp_path: Path, mode: str):
    """Every mode writes all rows; sorted by all of them, no two files of a partition share a range of keys."""
    table = Written(tmp_path, configs={"hoodie.bulkinsert.sort.mode": mode})
    given = rows([(n * 37) % 500 for n in range(500)])
    outcome = table.writer(executor=InProcess()).write(WriteRequest("bulk_insert", given.to_reader(max_chunksize=40)))
    assert len(outcome.written) > 4 or mode.startswith("PARTITION_PATH")
    assert table.ids() == sorted(given.column("id").to_pylist())
    if mode == "GLOBAL_SORT":
        files: dict[str, list[str]] = {}
        table_rows = table.found(("region", "_hoodie_file_name", "id"))
        for region, name, key in table_rows:
            files.setdefault(f"{region}/{name}", []).append(key)
        ranges = sorted((place.split("/")[0], min(keys), max(keys)) for place, keys in files.items())
        assert all(a[0] != b[0] or a[2] < b[1] for a, b in pairwise(ranges))


class Watching:
    """A hook that does nothing before an effect."""

    def before(self, effect: Effect) -> None:
        """Nothing."""


class Memory(Watching):
    """The greatest number of bytes that Arrow held while files were written."""

    def __init__(self) -> None:
        self.peak = 0

    def after(self, effect: Effect) -> None:
        """Measured at each effect."""
        del effect
        self.peak = max(self.peak, pa.total_allocated_bytes())


@pytest.mark.parametrize("operation", ["bulk_insert", "insert", "upsert"])
def test_memory_does_not_grow_with_the_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str):
    """A stream four times as long needs no more of it, and leaves no file beside the table."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # A file group is written in one go, whatever its size.
    small = {"hoodie.parquet.max.file.size": "200000", "hoodie.copyonwrite.record.size.estimate": "100"}
    peaks = []
    for count in (20, 80):
        table, memory = Written(tmp_path / f"{count}", configs=small), Memory()
        before = pa.total_allocated_bytes()

        def batches(count: int = count) -> Iterator[pa.RecordBatch]:
            for number in range(count):
                yield from rows(range(number * 1000, number * 1000 + 1000)).to_batches()

        writer = table.writer(executor=InProcess(), hook=memory)
        with parts_of(200_000):
            writer.write(WriteRequest(operation, pa.RecordBatchReader.from_batches(SCHEMA, batches())))
        peaks.append(memory.peak - before)
        assert len(table.ids()) == count * 1000
    assert peaks[1] < peaks[0] * 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["20", "80"]


def _broken() -> Iterator[pa.RecordBatch]:
    yield from rows(range(5)).to_batches()
    raise ZeroDivisionError("the source broke off")


@pytest.mark.parametrize("operation", ["bulk_insert", "upsert", "insert_overwrite_table"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_stream_that_breaks_off_leaves_nothing(tmp_path: Path, operation: str, wrapped: bool):
    """Its own error comes out, before anything is in storage."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    before = table.files()
    given = pa.RecordBatchReader.from_batches(SCHEMA, _broken()) if wrapped else _broken()
    with pytest.raises(ZeroDivisionError, match="the source broke off"):
        table.write(operation, given)
    assert table.files() == before


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_a_source_that_the_system_fails_is_no_failed_table(tmp_path: Path, wrapped: bool, first: bool):
    """The error says that the rows broke off; the table's storage has not failed."""

    def broken() -> Iterator[pa.RecordBatch]:
        if not first:
            yield from rows(range(5)).to_batches()
        raise FileNotFoundError(2, "No such file", "orders.csv")

    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    before = table.files()
    given = pa.RecordBatchReader.from_batches(SCHEMA, broken()) if wrapped else broken()
    with pytest.raises(HudiError, match=r"the stream of rows broke off: .*No such file.*orders\.csv") as refused:
        table.write("upsert", given)
    assert (refused.value.reason, refused.value.file) == (Reason.CONFIG_INVALID, "")
    assert not isinstance(refused.value, OSError)
    assert isinstance(refused.value.__cause__, FileNotFoundError)
    assert table.files() == before


REFUSED = {
    "a number": (lambda: 5, Reason.CONFIG_INVALID, "the rows are of type int"),
    "a text": (lambda: "rows", Reason.CONFIG_INVALID, "the rows are of type str"),
    "rows of Python": (lambda: rows([1]).to_pylist(), Reason.CONFIG_INVALID, "an iterator of dict"),
    "an iterator at its end": (lambda: iter(()), Reason.CONFIG_INVALID, "nothing left"),
    "columns that are no table": (lambda: {"id": [1, 2], "ts": [1]}, Reason.CONFIG_INVALID, "are no table"),
    "batches, then none": (lambda: iter([*rows([1]).to_batches(), 5]), Reason.CONFIG_INVALID, "item 1 of the rows"),
    "batches of two kinds": (
        lambda: iter([*rows([1]).to_batches(), *rows([1]).drop_columns(["price"]).to_batches()]),
        Reason.SCHEMA_INCOMPATIBLE,
        "batch 1 of the rows has the columns",
    ),
}


@pytest.mark.parametrize("given", sorted(REFUSED))
def test_what_is_no_stream_of_rows_is_refused(tmp_path: Path, given: str):
    """With a reason and what to give, and nothing changed."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    before = table.files()
    source, reason, message = REFUSED[given]
    with pytest.raises(HudiError, match=message) as refused:
        write_arrow(table.path, source(), "upsert")
    assert refused.value.reason is reason
    assert refused.value.hint
    assert table.files() == before


def test_a_reader_that_was_read_before_does_not_empty_a_table(tmp_path: Path):
    """Nothing distinguishes it from one that never had rows, so a table is emptied by an empty table alone."""
    table = Written(tmp_path)
    reader = rows(range(4)).to_reader()
    table.write("upsert", reader)
    with pytest.raises(HudiError, match="would leave the table empty") as refused:
        table.write("insert_overwrite_table", reader)
    assert refused.value.reason is Reason.CONFIG_INVALID
    assert len(table.ids()) == 4
    table.write("upsert", reader)
    assert len(table.ids()) == 4
    table.write("insert_overwrite_table", SCHEMA.empty_table())
    assert table.ids() == []


class Interfering(Watching):
    """Another write, as soon as the first one is inflight."""

    def __init__(self, table: Written) -> None:
        self.table: Written | None = table

    def after(self, effect: Effect) -> None:
        """Once."""
        if self.table is not None and effect.name == "put_base_file":
            table, self.table = self.table, None
            table.writer(executor=InProcess()).write(WriteRequest("upsert", rows([1], 8, 8.0)))


def test_a_write_that_is_tried_again_has_all_rows_of_its_stream(tmp_path: Path):
    """The first attempt conflicts with another write, and has read the stream to its end."""
    configs = {
        "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
        "hoodie.clean.failed.writes.policy": "LAZY",
        "hoodie.write.num.retries.on.conflict.failures": "2",
    }
    table = Written(tmp_path, configs=configs)
    table.write("upsert", rows([1, 2], 1))
    hook = Interfering(table)
    stream = rows([1, 2, 5], 9, 9.0).to_reader()
    table.writer(executor=InProcess(), hook=hook).write(WriteRequest("upsert", stream))
    assert hook.table is None
    assert table.found() == [("k1", 9.0), ("k2", 9.0), ("k5", 9.0)]
