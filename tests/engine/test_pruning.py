"""Pruning: whatever the filter and whatever is known, no row that it would find is left out."""

import datetime as dt
import math
import shutil
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_adapter.arrow_types import logical_type
from hudi_adapter.values import encode_value
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.metadata.records import ColumnStats
from hudi_format.metadata.wrapped_values import ValueKind, ValueType, Wrapped
from hudi_spark import HudiError, HudiTable, explain, read_arrow
from hudi_spark.filters import Column, filter_of, mask
from hudi_spark.pruning import PruningQuery
from hudi_spark.pruning.facts import Facts, Outcome, facts_of, possible, together
from hudi_spark.pruning.pruner import PRUNING_OPTIONS
from hudi_spark.pruning.situation import Situation, derived_facts
from hypothesis import given, settings
from hypothesis import strategies as st

GOLDEN = unpacked_corpus()
_SCHEMA = pa.schema([("n", pa.int32()), ("s", pa.string()), ("x", pa.float64()), ("d", pa.date32())])
_VALUES = {
    "n": st.integers(-3, 3),
    "s": st.sampled_from(["", "a", "ab", "b", "é", "\uffee", "😀"]),
    "x": st.sampled_from([0.0, -0.0, 1.5, -2.0, math.inf, math.nan]),
    "d": st.dates(dt.date(2024, 1, 1), dt.date(2024, 1, 4)),
}
_ROWS = st.lists(st.fixed_dictionaries({name: st.none() | values for name, values in _VALUES.items()}), max_size=4)


def _atoms() -> st.SearchStrategy[list[Any]]:
    def of(name: str) -> st.SearchStrategy[list[Any]]:
        kind = logical_type(_SCHEMA.field(name).type)
        form = (st.none() | _VALUES[name]).map(lambda value: encode_value(value, kind))
        compared = st.tuples(st.just(name), st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), form)
        listed = st.tuples(st.just(name), st.just("in"), st.lists(form, max_size=3))
        unary = st.tuples(st.just(name), st.sampled_from(["is_null", "is_not_null"]))
        return st.one_of(compared, listed, unary).map(list)

    return st.sampled_from(list(_VALUES)).flatmap(of)


_FILTERS = st.recursive(
    _atoms(),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["and", "or"]), inner, inner).map(list),
        inner.map(lambda one: ["not", one]),
    ),
    max_leaves=5,
)


def _facts(values: Iterable[Any]) -> Facts:
    """The tightest that is known of some values."""
    known = [value for value in values if value is not None]
    nulls = len(known) < len(list(values))
    counted = [value for value in known if value == value]  # noqa: PLR0124
    if known and not counted:
        return Facts(nulls=nulls)
    if not known:
        return Facts(nulls=nulls, values=False, unordered=False)
    return Facts(min(counted), max(counted), nulls=nulls, unordered=isinstance(counted[0], float))


@settings(deadline=None)
@given(files=st.lists(_ROWS, min_size=1, max_size=3), form=_FILTERS, hidden=st.sets(st.sampled_from(list(_VALUES))))
def test_what_a_filter_is_for_a_row_is_among_what_it_may_be(
    files: list[list[dict[str, Any]]], form: list[Any], hidden: set[str]
):
    """Ranges of several files together, of some columns nothing: no answer that a row gives is ruled out."""
    condition = filter_of(form, _SCHEMA)
    per_file = [{name: _facts([row[name] for row in rows]) for name in _VALUES} for rows in files]

    def know(column: Column) -> Facts:
        return Facts() if column.name in hidden else together(one[column.name] for one in per_file)

    answers = possible(condition, know, PruningQuery(condition, _SCHEMA, {}, latest=True, merges_own=False).values_of)
    table = pa.Table.from_pylist([row for rows in files for row in rows], _SCHEMA)
    words = {True: Outcome.TRUE, False: Outcome.FALSE, None: Outcome.NULL}
    assert all(words[one] in answers for one in mask(condition, table).to_pylist())


@settings(deadline=None)
@given(first=st.lists(st.none() | st.integers(0, 5)), second=st.lists(st.none() | st.integers(0, 5)))
def test_facts_of_two_files_hold_for_the_rows_of_both(first: list[int | None], second: list[int | None]):
    """Beside each other they bound all; narrowed by what is known otherwise, they still do."""
    both = _facts(first).beside(_facts(second)).narrowed(_facts([*first, *second]))
    assert all(both.nulls if value is None else both.may_be(value) for value in (*first, *second))


def _stats(least: Any, greatest: Any, nulls: int = 0, rows: int = 3, kind: ValueType | None = None) -> ColumnStats:
    return ColumnStats("f", "c", least, greatest, rows, nulls, value_type=kind)


@pytest.mark.parametrize(
    ("kind", "wrapper", "value", "value_type"),
    [
        (pa.string(), "Int", 5, None),
        (pa.float64(), "Float", 0.5, None),
        (pa.float64(), "Double", math.nan, None),
        (pa.timestamp("us", "UTC"), "Long", 5, None),
        (pa.timestamp("ms", "UTC"), "TimestampMicros", 5, None),
        (pa.timestamp("us"), "TimestampMicros", 5, None),
        (pa.timestamp("us", "UTC"), "Long", 5, ValueType(ValueKind.TIMESTAMP_MILLIS)),
        (pa.timestamp("us", "UTC"), "Long", 5, ValueType(ValueKind.LOCAL_TIMESTAMP_MICROS)),
        (pa.decimal128(38, 20), "Decimal", Decimal(1), None),
        (pa.binary(), "Bytes", b"a", None),
        (pa.date32(), "Int", 5, None),
        (pa.string(), "String", "\uffee", None),
        (pa.int32(), "Date", 5, None),
    ],
)
def test_bounds_of_another_kind_say_nothing(kind: pa.DataType, wrapper: str, value: Any, value_type: ValueType | None):
    """Statistics written when the column had another type, or in an order that is not that of its values."""
    wrapped = Wrapped(wrapper, value)
    assert facts_of(_stats(wrapped, wrapped, kind=value_type), kind) == Facts(nulls=False)


@pytest.mark.parametrize(("kind", "wrapper"), [(pa.float64(), "Double"), (pa.float32(), "Float")])
def test_bounds_of_zero_say_nothing_of_floats(kind: pa.DataType, wrapper: str):
    """Released writers state them of a file with a not-a-number, for which Parquet has no bounds."""
    zero, one = Wrapped(wrapper, 0.0), Wrapped(wrapper, 1.0)
    assert facts_of(_stats(zero, zero), kind) == Facts(nulls=False)
    assert facts_of(_stats(zero, one), kind) == Facts(0.0, 1.0, nulls=False)
    assert facts_of(_stats(Wrapped("Int", 0), Wrapped("Int", 0)), pa.int32()) == Facts(
        0, 0, nulls=False, unordered=False
    )


def test_absent_bounds_are_unknown():
    """A text too long for Parquet's statistics was counted as null (apache/hudi issue 18755)."""
    assert facts_of(_stats(None, None, nulls=3), pa.string()) == Facts()
    assert facts_of(_stats(None, None, nulls=3), pa.int32()) == Facts(values=False, unordered=False)
    assert facts_of(None, pa.int32()) == Facts()


def test_bounds_of_the_columns_kind_are_known():
    """A date of version V2 is a bare number beside its kind, one of V1 says so itself."""
    day = dt.date(1970, 1, 6)
    number = Wrapped("Int", 5)
    only = Facts(day, day, nulls=False, unordered=False)
    assert facts_of(_stats(number, number, kind=ValueType(ValueKind.DATE)), pa.date32()) == only
    dated = Wrapped("LocalDate", 5)
    assert facts_of(_stats(dated, dated, nulls=1), pa.date32()) == Facts(day, day, unordered=False)
    ratio = Wrapped("Double", 0.5)
    assert facts_of(_stats(ratio, ratio), pa.float64()) == Facts(0.5, 0.5, nulls=False)


_OFF = dict.fromkeys(PRUNING_OPTIONS, "false")
_TABLES = (
    "v9/cow_dated_partitions",
    "v9/apache_mor_metadata_table",
    "v9/apache_mor_clustered",
    "v6/apache_mor_compacted",
)


@pytest.mark.parametrize("name", _TABLES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_pruned_answers_are_those_of_reading_everything(name: str, data: st.DataObject):
    """Random filters on golden tables: the same rows with every means of pruning, and without any."""
    table = GOLDEN / name / "table"
    rows = read_arrow(table, configs=_OFF)
    plain = [one.name for one in rows.schema if pa.types.is_string(one.type) or pa.types.is_integer(one.type)]
    column = data.draw(st.sampled_from(plain))
    kind = logical_type(rows.schema.field(column).type)
    value = encode_value(data.draw(st.sampled_from(rows.column(column).to_pylist())), kind)
    form = data.draw(st.sampled_from([[column, sign, value] for sign in ("=", "<", ">=", "!=")]))
    form = data.draw(st.sampled_from([form, ["not", form], ["or", form, [column, "is_null"]]]))
    wanted = read_arrow(table, filter=form, configs=_OFF).to_pylist()
    assert sorted(map(repr, read_arrow(table, filter=form).to_pylist())) == sorted(map(repr, wanted))


@pytest.mark.parametrize(("zone", "years"), [("UTC", (2023, 2024)), ("Europe/Berlin", (None, None))])
def test_functions_of_instants_in_another_zone_are_unknown(zone: str, years: tuple[Any, Any]):
    """The last minute of a year in UTC is in the next one elsewhere."""
    schema = pa.schema([("t", pa.timestamp("us", "UTC"))])
    column = Column("t", "year")
    condition = filter_of([["fn", "year", "t"], "=", 2024], schema)
    query = PruningQuery(condition, schema, {}, latest=True, merges_own=False, zone=zone)
    bounds = [dt.datetime(year, 12, 31, 23, 59, tzinfo=dt.timezone.utc) for year in (2023, 2024)]
    situation = Situation(None, None, None, query, None, ())  # type: ignore[arg-type]
    (found,) = derived_facts(column, [Facts(*bounds)], situation)
    assert (found.minimum, found.maximum) == years


# pyspark 3.5 compares the version of pandas with distutils, and leaves sockets of collected frames to the collector.
@pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.spark
def test_spark_reads_the_slices_that_are_left(spark: Any):
    """The same rows as in this process, and the same counts, from a filter given to the table."""
    table = GOLDEN / "v9/apache_mor_metadata_table" / "table"
    form = ["and", ["region", "=", "north"], ["ts", ">", 100]]
    opened = HudiTable(spark, table)
    rows = [row.id for row in opened.snapshot(columns=["id"], filter=form).collect()]
    assert sorted(rows) == sorted(read_arrow(table, columns=["id"], filter=form).column("id").to_pylist())
    assert opened.explain(form) == explain(table, form)


def test_what_was_left_out_is_reported():
    """The count of slices and files, by each means."""
    table = GOLDEN / "v9/apache_mor_metadata_table" / "table"
    found = explain(table, ["region", "=", "north"])
    assert found.counts[0].means == "partitions"
    assert str(found.counts[0]) == "partitions: 1 of 2 left"
    indexed = explain(GOLDEN / "v9/apache_mor_indexes_serviced" / "table", ["id", "=", "k1"])
    assert indexed.counts[1].means == "partition_stats"
    assert "files skipped" in str(indexed)
    assert explain(table).counts == ()


@pytest.mark.parametrize("ending", [".parquet", ".log."])
@pytest.mark.parametrize("folder", [False, True])
def test_a_table_that_lacks_files_in_another_partition_is_refused(tmp_path: Path, ending: str, *, folder: bool):
    """A filter by partition makes no table whole: what a commit names last is lost there, or its whole folder."""
    table, north, stored = tmp_path / "table", ["region", "=", "north"], {"hoodie.metadata.enable": "false"}
    shutil.copytree(GOLDEN / "v9/apache_mor_metadata_table" / "table", table)
    rows = read_arrow(table, filter=north, configs=stored)
    assert set(rows.column("region").to_pylist()) == {"north"}
    other = next(table.glob("region=s*"))
    if folder:
        shutil.rmtree(other)
    else:
        max(one for one in other.iterdir() if ending in one.name and not one.name.endswith(".crc")).unlink()
    with pytest.raises(HudiError) as caught:
        read_arrow(table, filter=north, configs=stored)
    assert caught.value.clause in {"RD-011", "RD-018"}
