"""The metadata table: what it lists is what storage has; what counts is what the data timeline completed."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.log.blocks import HeaderKey
from hudi_format.metadata.files import metadata_base_file, metadata_block, metadata_delete_block
from hudi_format.metadata.keys import column_stats_key, secondary_key
from hudi_format.metadata.partitions import file_group_of_key, metadata_file_id
from hudi_format.metadata.records import (
    ColumnStats,
    FileEntry,
    FileList,
    MetadataRecord,
    RecordLocation,
    RecordType,
    SecondaryEntry,
)
from hudi_format.metadata.wrapped_values import Wrapped
from hudi_format.names import PARTITION_METAFILE
from hudi_format.storage import open_storage
from hudi_format.table.properties import parse_properties, serialise_properties
from hudi_spark import HudiError, read_arrow
from hudi_spark.table_state import NoMetadata, combined, open_metadata_table
from hudi_spark.table_state.listing import ListFiles, list_stored
from hudi_spark.table_state.metadata_table import list_by_metadata
from hudi_spark.testing import RELEASED, MetadataTable, Query, Timeline, load_snapshot, load_table, plan_query

GOLDEN = unpacked_corpus()
TABLES = sorted(path.parents[3] for path in GOLDEN.glob("*/*/table/.hoodie/metadata/.hoodie/hoodie.properties"))
# Lists that are wrong on purpose; a write that died has files in storage alone; indexes without the list of files, or
# with a list that is being made; a clean that died has deleted what the list still holds.
UNLIKE = {"mor_metadata_uncommitted", "mor_indexes_without_list", "mor_unfinished_metadata", "cow_interrupted_clean"}
VALID = [path for path in TABLES if not path.parent.name.startswith("bad_") and path.parent.name not in UNLIKE]
ANSWERS = Path(__file__).parent / "metadata_answers"
ANSWERED = [path for path in TABLES if (ANSWERS / f"{path.parent.name}.json").exists()]
COMPACTED = GOLDEN / "v9" / "apache_mor_metadata_table" / "table"


def opened(table: Path, timeline: Timeline | None = None) -> MetadataTable:
    storage = open_storage(table)
    configuration, own = load_table(storage)
    found = open_metadata_table(storage, configuration, timeline or own)
    assert isinstance(found, MetadataTable), found
    return found


def refused(table: Path) -> str:
    storage = open_storage(table)
    found = open_metadata_table(storage, *load_table(storage))
    assert isinstance(found, NoMetadata)
    assert MetadataTable.open(storage, *load_table(storage)) is None
    return found.why


@pytest.mark.parametrize("table", VALID, ids=lambda path: path.parent.name)
def test_every_state_has_the_slices_that_storage_gives(table: Path):
    storage = open_storage(table)
    newest = load_snapshot(storage, RELEASED)
    for instant in (None, *(one.requested for one in newest.timeline.completed_data())):
        assert slices(table, list_by_metadata, instant) == slices(table, list_stored, instant)
    assert load_snapshot(storage, RELEASED, None, list_by_metadata).listed_by == "metadata table"


def slices(table: Path, list_files: ListFiles, instant: str | None) -> Any:
    """The slices, or why there are none."""
    try:
        return load_snapshot(open_storage(table), RELEASED, instant, list_files).slices
    except HudiError as error:
        return error.reason


def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(COMPACTED, tmp_path / "table"))


def set_property(table: Path, changes: Mapping[str, str]) -> None:
    path = table / ".hoodie" / "hoodie.properties"
    path.write_bytes(serialise_properties({**parse_properties(path.read_bytes(), "p"), **changes}))


def test_what_the_properties_do_not_list_is_not_used(tmp_path: Path):
    table = copied(tmp_path)
    set_property(table, {"hoodie.table.metadata.partitions": "column_stats"})
    assert "does not list files" in refused(table)
    plan = plan_query(open_storage(table), Query())
    assert plan.snapshot.listed_by.startswith("storage: hoodie.table.metadata.partitions")


def test_a_broken_metadata_table_leaves_the_answer_as_it_is(tmp_path: Path):
    table = copied(tmp_path)
    expected = read_arrow(table).sort_by("id")
    for log in (table / ".hoodie" / "metadata" / "files").glob(".files-0000-0_2*"):
        log.write_bytes(log.read_bytes()[:60])
        assert read_arrow(table, configs={"hoodie.metadata.enable": "false"}).sort_by("id") == expected
    for base in (table / ".hoodie" / "metadata" / "files").glob("*.hfile"):
        base.write_bytes(b"no HFile")
    assert read_arrow(table).sort_by("id") == expected
    assert "list of files" in load_snapshot(open_storage(table), RELEASED, None, list_by_metadata).listed_by
    shutil.rmtree(table / ".hoodie" / "metadata")
    assert "NOT_A_TABLE" in refused(table)
    assert read_arrow(table).sort_by("id") == expected


def test_an_option_that_is_neither_true_nor_false_is_refused():
    with pytest.raises(HudiError, match=r"hoodie\.metadata\.enable"):
        plan_query(open_storage(COMPACTED), Query(configs={"hoodie.metadata.enable": "maybe"}))


def newest_commit(table: Path) -> Path:
    done = [
        path for path in (table / ".hoodie" / "timeline").glob("*_*.*") if path.suffix in {".commit", ".deltacommit"}
    ]
    return max(done)


def files_of(table: MetadataTable) -> set[tuple[str, str]]:
    return {(partition, name) for partition, names in table.all_files().items() for name in names}


def test_what_the_data_timeline_has_not_completed_does_not_count(tmp_path: Path):
    """The metadata table commits first; a writer that dies then leaves an action that is pending."""
    table = copied(tmp_path)
    before = files_of(opened(table))
    last = newest_commit(table)
    instant = last.name.partition("_")[0]
    last.unlink()
    after = files_of(opened(table))
    assert before - after == {file for file in before if instant in file[1]} != set()
    assert after < before


def test_what_began_after_the_timeline_was_read_does_not_count():
    """The files of an action that the reader's timeline has not even begun are not there for that reader."""
    _, timeline = load_table(open_storage(COMPACTED))
    newest = timeline.instants[-1].requested
    earlier = opened(COMPACTED, Timeline(timeline.instants[:-1]))
    assert files_of(earlier) == {file for file in files_of(opened(COMPACTED)) if newest not in file[1]}


def test_lists_merge_name_by_name():
    earlier = files("p", {"a": 5, "b": 1}, gone=("x",))
    later = files("p", {"a": 3, "c": 1, "x": 7}, gone=("b", "y"))
    assert combined(earlier, later) == files("p", {"a": 5, "c": 1, "x": 7}, gone=("y",))


def stats(least: Any, most: Any, **more: Any) -> MetadataRecord:
    content = ColumnStats("f", "c", least and Wrapped("Int", least), most and Wrapped("Int", most), 3, 1, **more)
    return MetadataRecord("k", RecordType.PARTITION_STATS, content)


def test_statistics_widen_unless_they_are_tight_or_deleted():
    wide = combined(stats(2, 5), stats(3, 9)).content
    assert isinstance(wide, ColumnStats)
    assert (wide.minimum, wide.maximum, wide.value_count, wide.null_count) == (
        Wrapped("Int", 2),
        Wrapped("Int", 9),
        6,
        2,
    )
    assert combined(stats(2, 5), stats(None, None)).content.minimum == Wrapped("Int", 2)
    for later in (stats(3, 4, is_tight_bound=True), stats(3, 4, is_deleted=True)):
        assert combined(stats(2, 5), later) == later
    assert combined(stats(2, 5, is_deleted=True), stats(3, 4)) == stats(3, 4)


def files(partition: str, sizes: Mapping[str, int], gone: Iterable[str] = ()) -> MetadataRecord:
    entries = {name: FileEntry(size) for name, size in sizes.items()}
    marked = {name: FileEntry(0, is_deleted=True) for name in gone}
    return MetadataRecord(partition, RecordType.FILES, FileList({**entries, **marked}))


class IndexedTable:
    """A table of one row whose metadata table is given record by record: a base file at 0, logs at later ticks."""

    def __init__(self, base: Path) -> None:
        self.data = TableBuilder(base)
        self.data.commit(1, [self.data.base_file(1, [row("a", 1)])])
        self.metadata = TableBuilder(base / ".hoodie" / "metadata", properties={"hoodie.populate.meta.fields": "false"})
        self.metadata.commit(0)
        self.groups: dict[str, int] = {}
        self.base("files", [files("north", {"a": 1})])

    def base(self, name: str, records: list[MetadataRecord], groups: int = 1) -> None:
        self.groups[name] = groups
        set_property(self.data.base, {"hoodie.table.metadata.partitions": ",".join(self.groups)})
        for group, within in self._routed(name, records).items():
            self._put(name, f"{metadata_file_id(name, group)}_0-0-0_{tick(0)}.hfile", metadata_base_file(within))

    def log(self, name: str, n: int, records: list[MetadataRecord], deleted: tuple[str, ...] = ()) -> None:
        self.metadata.commit(n)
        for group, within in self._routed(name, records).items():
            gone = [key for key in deleted if file_group_of_key(key, self.groups[name]) == group]
            data = metadata_block(tick(n), within) + metadata_delete_block(tick(n), name, gone)
            self._put(name, f".{metadata_file_id(name, group)}_{tick(n)}.log.1_0-0-0", data)

    def opened(self) -> MetadataTable:
        return opened(self.data.base)

    def _routed(self, name: str, records: list[MetadataRecord]) -> dict[int, list[MetadataRecord]]:
        groups = self.groups[name]
        return {
            group: [one for one in records if file_group_of_key(one.key, groups) == group] for group in range(groups)
        }

    def _put(self, name: str, file: str, data: bytes) -> None:
        folder = self.metadata.base / name
        folder.mkdir(exist_ok=True)
        (folder / PARTITION_METAFILE).write_bytes(b"commitTime=0\npartitionDepth=1\n")
        (folder / file).write_bytes(data)


def place(key: str, file_id: str) -> MetadataRecord:
    return MetadataRecord(key, RecordType.RECORD_INDEX, RecordLocation("north", file_id, 1))


UUIDS = [f"00000000-0000-0000-0000-00000000000{digit}-0" for digit in range(3)]


def test_an_instant_of_the_metadata_table_alone_counts(tmp_path: Path):
    """Restores write under instants that the data timeline never has."""
    table = IndexedTable(tmp_path)
    table.log("files", 9, [files("north", {"b": 2})])
    assert table.opened().files("north") == {"a": 1, "b": 2}


def test_a_list_that_lacks_files_of_commits_is_not_trusted(tmp_path: Path):
    """Metadata tables that were made anew have listed the files of the last commit alone."""
    IndexedTable(tmp_path)
    found = load_snapshot(open_storage(tmp_path), RELEASED, None, list_by_metadata)
    assert [one.file_id for one in found.slices] == ["f1"]
    assert found.listed_by.startswith("storage: the metadata table is not whole")
    assert read_arrow(tmp_path)["id"].to_pylist() == ["a"]


def test_records_are_found_in_the_group_of_their_key(tmp_path: Path):
    """The last location counts, and a deleted key is not there until it is put again."""
    table = IndexedTable(tmp_path)
    keys = [f"k{number}" for number in range(20)]
    table.base("record_index", [place(key, UUIDS[0]) for key in keys], groups=3)
    table.log("record_index", 2, [place("k3", UUIDS[1])], deleted=("k4", "k5"))
    table.log("record_index", 3, [place("k5", UUIDS[2]), place("new", UUIDS[2])])
    found = table.opened().record_locations([*keys, "new", "absent"])
    expected = {**dict.fromkeys(keys, UUIDS[0]), "k3": UUIDS[1], "k5": UUIDS[2], "new": UUIDS[2]}
    del expected["k4"]
    assert {key: [one.file_id for one in places] for key, places in found.items()} == {
        key: [file_id] for key, file_id in expected.items()
    }


def test_an_index_that_lacks_a_group_is_not_used(tmp_path: Path):
    """With one group fewer every key would be looked for in the wrong one."""
    table = IndexedTable(tmp_path)
    table.base("record_index", [place(f"k{number}", UUIDS[0]) for number in range(20)], groups=3)
    next((table.metadata.base / "record_index").glob("record-index-0001-0*")).unlink()
    assert table.opened().partitions() == ("files",)


def test_a_partitioned_record_index_has_a_place_in_each_partition(tmp_path: Path):
    table = IndexedTable(tmp_path)
    table.base("record_index", [])
    for path in (table.metadata.base / "record_index").glob("record-index-*"):
        path.unlink()
    for partition in ("north", "süd/x"):
        location = RecordLocation(partition, UUIDS[0], 1)
        data = metadata_base_file([MetadataRecord("k", RecordType.RECORD_INDEX, location)])
        file_id = metadata_file_id("record_index", 0, partition)
        (table.metadata.base / "record_index" / f"{file_id}_0-0-0_{tick(0)}.hfile").write_bytes(data)
    assert {one.partition for one in table.opened().record_locations(["k"])["k"]} == {"north", "süd/x"}


def test_statistics_are_found_by_column_partition_and_file(tmp_path: Path):
    """What has no statistics is not in the answer; what is deleted has none."""
    table = IndexedTable(tmp_path)
    content = ColumnStats("f1", "ts", Wrapped("Long", 1), Wrapped("Long", 5), 3, 0)
    keys = {name: column_stats_key("ts", "north", name) for name in ("f1", "f2")}
    table.base(
        "column_stats", [MetadataRecord(key, RecordType.COLUMN_STATS, content) for key in keys.values()], groups=2
    )
    gone = MetadataRecord(keys["f2"], RecordType.COLUMN_STATS, ColumnStats("f2", "ts", is_deleted=True))
    table.log("column_stats", 2, [gone])
    wanted = [("north", "f1"), ("north", "f2"), ("south", "f1")]
    assert table.opened().column_stats(["ts", "note"], wanted) == {("north", "f1"): {"ts": content}}
    assert table.opened().partition_stats(["ts"], ["north"]) == {}


def test_a_secondary_index_leads_from_values_to_record_keys(tmp_path: Path):
    """A value that is the beginning of another is not taken for it; a mark of deletion takes the entry away."""
    table = IndexedTable(tmp_path)
    entries = [("x", "k1"), ("x", "k$2"), ("x$", "k3"), ("xx", "k4"), (None, "k5"), ("", "k6")]
    kept = [MetadataRecord(secondary_key(*one), RecordType.SECONDARY_INDEX, SecondaryEntry()) for one in entries]
    table.base("secondary_index_by_name", kept, groups=4)
    gone = MetadataRecord(secondary_key("x", "k1"), RecordType.SECONDARY_INDEX, SecondaryEntry(is_deleted=True))
    table.log("secondary_index_by_name", 2, [gone])
    found = table.opened().secondary_keys("by_name", ["x", "x$", None, "", "absent"])
    expected = {"x": {"k$2"}, "x$": {"k3"}, None: {"k5"}, "": {"k6"}, "absent": set()}
    assert found == {value: frozenset(keys) for value, keys in expected.items()}


def test_a_compacted_block_stands_in_for_what_it_replaces(tmp_path: Path):
    """A log compaction has a later instant than what was written while it ran, and older content."""
    table = IndexedTable(tmp_path)
    table.log("files", 2, [files("north", {"b": 2})])
    table.log("files", 3, [files("north", {"c": 3}, gone=("b",))])
    table.metadata.commit(4)
    header = {HeaderKey.COMPACTED_BLOCK_TIMES: tick(2)}
    data = metadata_block(tick(4), [files("north", {"b": 2})], header=header)
    (table.metadata.base / "files" / f".files-0000-0_{tick(4)}.log.1_0-0-0").write_bytes(data)
    assert table.opened().files("north") == {"a": 1, "c": 3}


@pytest.mark.parametrize("table", ANSWERED, ids=lambda path: path.parent.name)
def test_lists_are_those_that_apache_hudi_reads(table: Path):
    """Apache Hudi 1.1.1 read both golden metadata tables; its answers, by key of the list, stand beside this test."""
    answer = ANSWERS / f"{table.parent.name}.json"
    found = {partition: dict(names) for partition, names in opened(table).all_files().items()}
    assert found == json.loads(answer.read_text(encoding="utf-8"))
