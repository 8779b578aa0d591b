"""Entries of indexes of records by themselves: what is in them, in which group they are, and who makes them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import tick
from hudi_format.hashing import file_group_index
from hudi_format.metadata.keys import secondary_key
from hudi_format.metadata.records import FileIdEncoding
from hudi_spark.metadata import milliseconds_of
from hudi_spark.metadata.expression_index import ExpressionIndex
from hudi_spark.metadata.file_groups import entries_table, settled
from hudi_spark.metadata.index import ENTRIES, Keeping
from hudi_spark.metadata.record_index import RecordIndex, estimated_groups, location
from hudi_spark.metadata.secondary_index import SecondaryIndex, secondary_heads
from hudi_spark.testing import FinishedWrite, InProcess, OnSpark, WrittenFile, load_configuration
from hypothesis import given, settings
from hypothesis import strategies as st
from index_histories import expression_definition, row, secondary_definition
from test_indexing_records import grown

UUID = "ba70a2a3-6a1c-4c2c-b8a7-8a0e2a2e0f4f"


def test_a_place_is_written_as_its_id_is() -> None:
    """Ids that are no UUID stay text."""
    assert location("p", f"{UUID}-7", 1).encoding is FileIdEncoding.UUID
    assert location("p", UUID, 1).encoding is FileIdEncoding.UUID
    assert location("p", f"{UUID}-x", 1).encoding is FileIdEncoding.TEXT


def test_an_instant_is_given_in_milliseconds(tmp_path: Path) -> None:
    """Of whole seconds the last one; of an instant that is no moment, 0."""
    it = grown(tmp_path)
    kept = load_configuration(it.writer.storage)
    assert it.entries("record_index")["d", None].instant_ms == milliseconds_of("20250101000003000", kept)
    assert milliseconds_of("20250101000003", kept) % 1000 == 999
    assert milliseconds_of("00000000000001", kept) == 0


@settings(deadline=None)
@given(st.lists(st.none() | st.text(st.sampled_from("a$\\\0é"), max_size=6), max_size=9))
def test_heads_of_a_column_are_those_of_its_values(values: list[str | None]) -> None:
    """Escaped by column as by value."""
    heads = secondary_heads(pa.chunked_array([values], pa.string())).to_pylist()
    assert [f"{head}k" for head in heads] == [secondary_key(value, "k") for value in values]


def test_values_of_other_types_are_spelt_as_java_spells_them() -> None:
    """As 1.1.1 has them in its keys."""
    spelt = secondary_heads(pa.chunked_array([[1.5, 1e10, None]], pa.float64())).to_pylist()
    assert spelt == ["1.5$", "1.0E10$", "\0$"]
    assert secondary_heads(pa.chunked_array([[-7]], pa.int32())).to_pylist() == ["-7$"]
    assert secondary_heads(pa.chunked_array([[19782]], pa.date32())).to_pylist() == ["19782$"]
    moments = pa.chunked_array([[1709210096789, None]], pa.timestamp("ms", "UTC"))
    assert secondary_heads(moments).to_pylist() == ["1709210096789000$", "\0$"]


@pytest.mark.parametrize(
    ("records", "least", "most", "groups"),
    [(0, 10, 10000, 10), (10**6, 10, 10000, 10), (10**9, 10, 10000, 89), (10**12, 10, 10000, 10000), (10**9, 4, 4, 4)],
)
def test_the_number_of_groups_is_the_released_estimate(records: int, least: int, most: int, groups: int) -> None:
    """Twice the records of 48 bytes in groups of a gigabyte, within the bounds."""
    assert estimated_groups(records, least, most, 2.0, 2**30) == groups


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=3), st.sampled_from([b"x", b"y", None])), max_size=20))
def test_each_key_has_one_entry_and_one_that_is_there_wins(entries: list[tuple[str, bytes | None]]) -> None:
    """However many groups say something of it."""
    keys, values = [key for key, _ in entries], [value for _, value in entries]
    table = pa.table(
        [pa.array(column, one.type) for column, one in zip((["f"] * len(keys), keys, values), ENTRIES, strict=True)],
        ENTRIES,
    )
    found = settled(table)
    keys = found.column("key").to_pylist()
    assert keys == sorted({key for key, _ in entries}, key=str.encode)
    for key, value in zip(keys, found.column("value").to_pylist(), strict=True):
        found_places = {other for name, other in entries if name == key}
        assert value in found_places
        assert (value is None) == (found_places == {None})


@settings(deadline=None)
@given(st.lists(st.text(max_size=5), max_size=9), st.lists(st.text(max_size=5), max_size=9))
def test_entries_go_to_the_group_of_their_key(added: list[str], gone: list[str]) -> None:
    """By the hash that readers look them up with."""
    series = ("g0", "g1", "g2")
    table = entries_table(series, pa.array(added, pa.string()), b"v", pa.array(gone, pa.string()))
    expected = [(series[file_group_index(key, 3)], key, b"v") for key in added]
    expected += [(series[file_group_index(key, 3)], key, None) for key in gone]
    assert list(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True)) == expected


# pyspark 3.5 compares the version of pandas with distutils, and leaves sockets of collected frames to the collector.
@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
def test_tasks_on_spark_give_the_same_entries(tmp_path: Path, spark: Any) -> None:
    """Of all three kinds of indexes, begun and changed."""
    it = grown(tmp_path)
    state = it.writer.state()
    notes = secondary_definition("notes", "note")
    upper = expression_definition("upper", "column_stats", "upper", "note")
    bloom = expression_definition("bloom", "bloom_filters", "upper", "note")
    it.begin()
    stat = it.base_file([row("a", 9, "x"), row("z", 1)], "f1")
    write = FinishedWrite(tick(it.n), "deltacommit", "UPSERT", (WrittenFile(stat),))
    it.writer.table.pending(it.n)
    groups = dict.fromkeys((notes.name, upper.name, bloom.name), ("g-0000-0", "g-0001-0"))
    groups["record_index"] = tuple(f"record-index-{number:04d}-0" for number in range(3))
    definitions = {one.name: one for one in (notes, upper, bloom)}
    kinds = {"record_index": RecordIndex(), notes.name: SecondaryIndex()}
    for name in ("record_index", *definitions):
        kind = kinds.get(name, ExpressionIndex())
        found = []
        for executor in (InProcess(), OnSpark(spark)):
            keeping = Keeping(state, executor, None, groups, definitions)
            changes = kind.changes(keeping, name, write)
            content = kind.begin(keeping, name).content
            flows = [one.entries for one in (changes, content) if one.entries is not None]
            entries = [sorted(map(str, flow.shuffled(["file_id"]).gathered().to_pylist())) for flow in flows]
            records = [sorted(map(str, one.records)) for one in (changes, content)]
            found.append((records, sorted(changes.deleted), entries))
        assert found[0] == found[1]
        assert any(found[0][0]) or any(found[0][2])
