"""The record index follows the rows: whatever an action does, it leads to the group that a reader finds the key in."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hudi_format.hashing import file_group_index
from hudi_format.log.deletes import DeleteRecord
from hudi_format.metadata.records import FileIdEncoding
from hudi_format.schemas import arrow_schema
from hudi_spark import UnsupportedFeature
from hudi_spark.files import WrittenFile
from hudi_spark.filters import Column
from hudi_spark.metadata import FinishedWrite, milliseconds_of
from hudi_spark.metadata.expression_index import ExpressionIndex
from hudi_spark.metadata.expressions import BLOOMS, STATISTICS, expression_definition
from hudi_spark.metadata.file_groups import entries_table, settled
from hudi_spark.metadata.index import ENTRIES, Keeping
from hudi_spark.metadata.record_index import RecordIndex, estimated_groups, location
from hudi_spark.metadata.secondary_index import SecondaryIndex, secondary_definition
from hudi_spark.schema import WriterSchema, WriterState
from hudi_spark.testing import RELEASED, InProcess, OnSpark, load_configuration, load_snapshot, resolve
from hypothesis import given, settings
from hypothesis import strategies as st
from index_histories import FEW, GLOBAL, History, row

VERSIONS = (6, 8, 9)
PARTITIONED = {"hoodie__metadata__record__level__index__enable": "true"}
UUID = "ba70a2a3-6a1c-4c2c-b8a7-8a0e2a2e0f4f"


def history(base: Path, version: int = 9, **options: str) -> History:
    return History(base, version, {**GLOBAL, **FEW, **options})


def grown(base: Path, version: int = 9, **options: str) -> History:
    """Two groups, one with a log that brings a key, deletes one, and is too late to delete another."""
    it = history(base, version, **options)
    it.begin()
    it.commit(it.base_file([row("a", 5), row("b", 5), row("c", 5)], "f1"))
    it.begin()
    it.commit(it.base_file([row("s", 1)], "f2", "south"))
    it.begin()
    late, wins = DeleteRecord("b", "north", 1), DeleteRecord("c", "north", 9)
    it.commit(it.log_file([row("a", 6), row("d", 1)], [late, wins], "f1"))
    return it


def state_of(it: History) -> WriterState:
    schema = WriterSchema(it.writer.table.schema, arrow_schema(it.writer.table.schema))
    snapshot = load_snapshot(it.writer.storage, RELEASED)
    return WriterState(it.writer.storage, snapshot, resolve(it.writer.options), schema)


@pytest.mark.parametrize("version", VERSIONS)
def test_inserts_updates_and_deletes_are_followed(tmp_path: Path, version: int) -> None:
    """A delete that merging lets lose leaves its key; a key that only a log brings is there."""
    it = grown(tmp_path, version)
    assert set(it.places()) == {"a", "b", "d", "s"}
    assert it.places() == {key: ("south" if key == "s" else "north", "f2" if key == "s" else "f1") for key in "abds"}


@pytest.mark.parametrize("version", VERSIONS)
def test_an_index_made_late_leads_where_a_kept_one_leads(tmp_path: Path, version: int) -> None:
    """Whether it was kept from the first action on or made of what is there."""
    kept = grown(tmp_path / "kept", version)
    late = grown(tmp_path / "late", version, **dict.fromkeys(GLOBAL, "false"))
    late.writer.options |= {key.replace("__", "."): "true" for key in GLOBAL}
    for it in (kept, late):
        it.begin()
        it.commit(it.base_file([row("x", 1)], "f3"))
    assert kept.places() == late.places()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_key_that_moves_is_there_once(tmp_path: Path, version: int) -> None:
    """The group that it comes to counts, not the one that it leaves, in whichever order they are written."""
    it = grown(tmp_path, version)
    it.begin()
    moved = it.log_file([], [DeleteRecord("a", "north", 99)], "f1")
    it.commit(moved, it.base_file([row("s", 1), row("a", 99)], "f2", "south"))
    assert it.places()["a"] == ("south", "f2")
    assert set(it.places()) == {"a", "b", "d", "s"}


@pytest.mark.parametrize("version", VERSIONS)
def test_replaced_groups_lose_what_no_other_group_has(tmp_path: Path, version: int) -> None:
    """Clustering moves keys, overwriting takes those away that do not come back."""
    it = grown(tmp_path, version)
    it.begin()
    clustered = it.base_file([row("a", 6), row("b", 5), row("d", 1)], "f9")
    it.commit(clustered, action="replacecommit", operation="CLUSTER", replaced={"north": ("f1",)})
    assert {key: group for key, (_, group) in it.places().items()} == {"a": "f9", "b": "f9", "d": "f9", "s": "f2"}
    it.begin()
    overwritten = it.base_file([row("a", 7)], "f10")
    it.commit(overwritten, action="replacecommit", operation="INSERT_OVERWRITE", replaced={"north": ("f9",)})
    assert it.places() == {"a": ("north", "f10"), "s": ("south", "f2")}


def test_a_compaction_changes_nothing(tmp_path: Path) -> None:
    """Its rows were there, and where they were; the time since when stays."""
    it = grown(tmp_path)
    before = it.entries("record_index")
    it.begin()
    it.commit(it.base_file([row("a", 6), row("b", 5), row("d", 1)], "f1"), action="commit", operation="COMPACT")
    assert it.entries("record_index") == before


def test_an_index_by_partition_has_a_key_in_several(tmp_path: Path) -> None:
    """Each partition has groups of its own, a new one gets them with its first write."""
    it = History(tmp_path, 9, PARTITIONED)
    for number, partition in enumerate(("north", "so/uth", "west")):
        it.begin()
        it.commit(it.base_file([row("a", 1), row(f"k{number}", 1)], f"f{number}", partition))
    found = it.entries("record_index")
    assert {(key, within): one.file_id for (key, within), one in found.items()} == {
        ("a", "north"): "f0",
        ("k0", "north"): "f0",
        ("a", "so/uth"): "f1",
        ("k1", "so/uth"): "f1",
        ("a", "west"): "f2",
        ("k2", "west"): "f2",
    }
    opened = it.writer.opened()
    assert opened is not None
    assert {one.partition for one in opened.record_locations(["a"])["a"]} == {"north", "so/uth", "west"}


def test_older_versions_have_no_index_by_partition(tmp_path: Path) -> None:
    """They would take its groups for those of the whole table."""
    it = History(tmp_path, 8, PARTITIONED)
    it.begin()
    with pytest.raises(UnsupportedFeature, match="partitioned"):
        it.commit(it.base_file([row("a", 1)], "f1"))


def test_the_place_says_since_when_and_how_the_id_is_written(tmp_path: Path) -> None:
    """The instant of the action that brought the key, in milliseconds; ids that are no UUID stay text."""
    it = grown(tmp_path)
    kept = load_configuration(it.writer.storage)
    place = it.entries("record_index")["d", None]
    assert place.instant_ms == milliseconds_of("20250101000003000", kept)
    assert place.encoding is FileIdEncoding.TEXT
    assert location("p", f"{UUID}-7", 1).encoding is FileIdEncoding.UUID
    assert location("p", UUID, 1).encoding is FileIdEncoding.UUID
    assert location("p", f"{UUID}-x", 1).encoding is FileIdEncoding.TEXT
    assert milliseconds_of("20250101000003", kept) % 1000 == 999
    assert milliseconds_of("00000000000001", kept) == 0


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
        said = {other for name, other in entries if name == key}
        assert value in said
        assert (value is None) == (said == {None})


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
    state = state_of(it)
    configuration = state.configuration
    notes = secondary_definition(configuration, "notes", "note")
    upper = expression_definition(configuration, "upper", STATISTICS, Column("note", "upper"), {})
    bloom = expression_definition(configuration, "bloom", BLOOMS, Column("note", "upper"), {})
    it.begin()
    stat = it.base_file([row("a", 9, "x"), row("z", 1)], "f1")
    write = FinishedWrite(f"{20250101000000000 + it.n}", "deltacommit", "UPSERT", (WrittenFile(stat),))
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
            begun = kind.begin(keeping, name).content
            flows = [one.entries for one in (changes, begun) if one.entries is not None]
            entries = [sorted(map(str, flow.shuffled(["file_id"]).gathered().to_pylist())) for flow in flows]
            records = [sorted(map(str, one.records)) for one in (changes, begun)]
            found.append((records, sorted(changes.deleted), entries))
        assert found[0] == found[1]
        assert any(found[0][0]) or any(found[0][2])
