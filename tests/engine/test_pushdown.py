"""Columns and filters reach the Parquet reader, and never change which version wins."""

import operator
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from engine_tables import TableBuilder, row
from hudi_format.storage import LocalStorage
from hudi_spark import read_arrow
from hudi_spark.testing import Query, plan_query
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_tables import SCHEMA, Written

ROWS = 20_000


def bytes_read(path: Path, **query: Any) -> tuple[pa.Table, int]:
    """The answer of a query, and how many bytes of base files were read for it."""
    counts: list[int] = []
    read = LocalStorage.read_range

    def counted(storage: LocalStorage, name: str, offset: int, length: int) -> bytes:
        data = read(storage, name, offset, length)
        counts.append(len(data) if name.endswith(".parquet") else 0)
        return data

    with mock.patch.object(LocalStorage, "read_range", counted):
        rows = read_arrow(path, **query)
    return rows, sum(counts)


def large_table(path: Path, mode: str = "EVENT_TIME_ORDERING", logs: bool = True):
    """Twenty row groups, sorted by key and ts; a log touches keys of one row group."""
    builder = TableBuilder(path, properties={"hoodie.record.merge.mode": mode})
    rows = [row(f"k{n:06d}", n, f"note {n}", price=n / 7) for n in range(ROWS)]
    builder.commit(10, [builder.base_file(10, rows, groups_of=1_000)])
    if logs:
        late = [row("k010100", 10_100 if mode.startswith("COMMIT") else 3, "late")]
        builder.commit(20, [builder.log_file(20, [builder.data(20, late)])])
    return path


@pytest.mark.parametrize("logs", [False, True])
def test_only_the_selected_columns_are_read(tmp_path: Path, logs: bool):
    large_table(tmp_path, logs=logs)
    _, whole = bytes_read(tmp_path)
    one, part = bytes_read(tmp_path, columns=["price"])
    assert one.num_rows == ROWS
    assert part < whole * 2 / 3


@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
@pytest.mark.parametrize("logs", [False, True])
def test_row_groups_that_cannot_match_are_not_read(tmp_path: Path, mode: str, logs: bool):
    large_table(tmp_path, mode, logs)
    _, whole = bytes_read(tmp_path)
    found, part = bytes_read(tmp_path, filter=["ts", "<", 500])
    assert found.num_rows == 500
    assert part < whole / 4


def test_a_base_row_that_fails_the_filter_still_beats_late_data(tmp_path: Path):
    """The late version matches the filter; the base row that wins does not."""
    large_table(tmp_path)
    found, _ = bytes_read(tmp_path, filter=["note", "=", "late"])
    assert found.num_rows == 0


def test_functions_are_applied_after_reading(tmp_path: Path):
    large_table(tmp_path)
    found, _ = bytes_read(tmp_path, filter=["and", ["ts", "<", 500], [["fn", "upper", "note"], "=", "NOTE 7"]])
    assert found.column("id").to_pylist() == ["k000007"]


KEYS = st.sampled_from(["a", "b", "c", "d"])
LINES = st.builds(row, KEYS, st.integers(1, 4) | st.none(), st.sampled_from(["x", "y"]))
COMPARISONS = st.tuples(st.just("ts"), st.sampled_from(["=", "!=", "<", ">="]), st.integers(1, 4)).map(list)
NOTES = st.tuples(st.just("note"), st.sampled_from(["=", "!="]), st.sampled_from(["x", "y"])).map(list)
IDS = st.tuples(st.just("id"), st.sampled_from(["<", "="]), KEYS).map(list)
FILTERS = st.recursive(
    COMPARISONS | NOTES | IDS,
    lambda inner: (
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list) | inner.map(lambda one: ["not", one])
    ),
    max_leaves=4,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    base=st.lists(LINES, max_size=4, unique_by=lambda one: one["id"]),
    log=st.lists(LINES, max_size=4),
    condition=FILTERS,
    mode=st.sampled_from(["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"]),
)
def test_filtering_while_reading_is_filtering_afterwards(
    tmp_path_factory: pytest.TempPathFactory, base: Any, log: Any, condition: Any, mode: str
):
    path = tmp_path_factory.mktemp("table")
    builder = TableBuilder(path, properties={"hoodie.record.merge.mode": mode})
    builder.commit(10, [builder.base_file(10, base, groups_of=1)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, log)])])
    expected = [one for one in read_arrow(path).to_pylist() if holds(condition, one)]
    found = read_arrow(path, filter=condition)
    assert sorted(found.to_pylist(), key=repr) == sorted(expected, key=repr)


OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">=": operator.ge}


def holds(condition: list[Any], values: dict[str, Any]) -> bool | None:
    """A filter on one row; None where it is unknown, as in SQL."""
    if condition[0] == "not":
        inner = holds(condition[1], values)
        return None if inner is None else not inner
    if condition[0] in {"and", "or"}:
        decisive = condition[0] == "or"
        both = [holds(one, values) for one in condition[1:]]
        if decisive in both:
            return decisive
        return None if None in both else not decisive
    column, comparison, value = condition
    return None if values[column] is None else OPERATORS[comparison](values[column], value)


def test_a_plan_has_one_task_for_each_slice(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    stats = [builder.base_file(10, [row(f"k{n}", 1)], group=f"f{n}") for n in range(7)]
    builder.commit(10, stats)
    assert len(plan_query(LocalStorage(tmp_path), Query()).tasks) == 7


@pytest.mark.parametrize("key", ["\uffee-é", "🚲", "a"])
def test_a_filter_on_the_key_finds_every_text(tmp_path: Path, key: str):
    """The bounds in a footer are in the order of UTF-16: U+FFEE comes after a character of two units (BF-002)."""
    written = Written(tmp_path, partition_by=())
    texts = ["a", "🚲", "\uffee-é"]
    count = len(texts)
    regions, times, prices = ["north"] * count, [1] * count, [1.0] * count
    written.write("upsert", pa.table([texts, regions, times, prices], schema=SCHEMA))
    assert read_arrow(tmp_path, columns=["id"], filter=["id", "=", key]).column("id").to_pylist() == [key]
