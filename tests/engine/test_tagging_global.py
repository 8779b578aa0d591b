"""Global indexes: a key lives once in the table; rows that request another partition move, stay, or lose."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from engine_tables import COLUMNS, TableBuilder, row, tick
from hudi_format.log.deletes import DeleteRecord
from hudi_format.metadata.files import metadata_base_file
from hudi_format.metadata.partitions import file_group_of_key, metadata_file_id
from hudi_format.metadata.records import FileEntry, FileList, MetadataRecord, RecordLocation, RecordType
from hudi_format.names import PARTITION_METAFILE
from hudi_spark import HudiError
from tagging_tables import KEY, PATH, incoming, state_of, tags

GLOBAL = ("GLOBAL_SIMPLE", "GLOBAL_BLOOM")
MOVES = {"GLOBAL_SIMPLE": "hoodie__simple", "GLOBAL_BLOOM": "hoodie__bloom", "RECORD_INDEX": "hoodie__record"}
FIRST, SECOND = (f"00000000-0000-0000-0000-00000000000{digit}-0" for digit in (1, 2))


def moving(index: str, *, moves: bool) -> dict[str, str]:
    return {f"{MOVES[index]}__index__update__partition__path": str(moves).lower()}


def two_partitions(folder: Path, table_type: str = "COPY_ON_WRITE", **properties: str) -> TableBuilder:
    """Keys a and b in north, c in south, each with ordering value 10."""
    given = {name.replace("__", "."): value for name, value in properties.items()}
    builder = TableBuilder(folder, table_type=table_type, properties=given)
    stats = [
        builder.base_file(1, [row("a", 10, "old"), row("b", 10, "old")], group=FIRST),
        builder.base_file(1, [row("c", 10, "old", region="south")], group=SECOND, partition="south"),
    ]
    builder.commit(1, stats, action="commit" if table_type == "COPY_ON_WRITE" else "deltacommit")
    return builder


def lines(found: pa.Table) -> list[tuple[Any, ...]]:
    """Key, partition path, file id and whether the line takes the key out, in order."""
    names = (KEY, PATH, "_tag_file_id", "_tag_moved")
    return sorted(zip(*(found.column(name).to_pylist() for name in names), strict=True), key=str)


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("index", GLOBAL)
def test_a_row_moves_when_it_beats_the_stored_one(tmp_path: Path, index: str, table_type: str):
    """Newer and equal ordering values win; a row that loses is left out; what stays is tagged where it is."""
    two_partitions(tmp_path, table_type)
    state = state_of(tmp_path, index, **moving(index, moves=True))
    rows_in = [
        ("a", "south", row("a", 11)),
        ("b", "south", row("b", 9)),
        ("c", "south", row("c", 1)),
        ("d", "x", row("d", 1)),
    ]
    assert lines(tags(incoming(state, rows_in), state)) == [
        ("a", "north", FIRST, True),
        ("a", "south", None, False),
        ("c", "south", SECOND, False),
        ("d", "x", None, False),
    ]
    tie = tags(incoming(state, [("a", "south", row("a", 10))]), state)
    assert len(lines(tie)) == 2


@pytest.mark.parametrize("index", GLOBAL)
def test_by_commit_time_every_row_moves(tmp_path: Path, index: str):
    two_partitions(tmp_path, hoodie__record__merge__mode="COMMIT_TIME_ORDERING")
    state = state_of(tmp_path, index, **moving(index, moves=True))
    found = tags(incoming(state, [("b", "south", row("b", 1, "late"))]), state)
    assert lines(found) == [("b", "north", FIRST, True), ("b", "south", None, False)]
    assert found.column("note").to_pylist() == ["late", "late"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
@pytest.mark.parametrize("index", GLOBAL)
def test_without_moves_a_row_is_updated_where_it_is(tmp_path: Path, index: str, table_type: str):
    two_partitions(tmp_path, table_type)
    state = state_of(tmp_path, index, **moving(index, moves=False))
    found = tags(incoming(state, [("a", "south", row("a", 11)), ("b", "south", row("b", 9))]), state)
    assert lines(found) == [("a", "north", FIRST, False), ("b", "north", FIRST, False)]
    assert sorted(found.column("_tag_position").to_pylist()) == [0, 1]


@pytest.mark.parametrize("index", GLOBAL)
def test_deletes_go_where_the_key_is(tmp_path: Path, index: str):
    """A row that says of itself that it deletes its key, and every row of a delete."""
    columns = [*COLUMNS, ("_hoodie_is_deleted", ["null", "boolean"])]
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE", columns=columns)
    builder.commit(1, [builder.base_file(1, [row("a", 10, _hoodie_is_deleted=None)])], action="commit")
    state = state_of(tmp_path, index)
    flagged = incoming(state, [("a", "south", row("a", 11, _hoodie_is_deleted=True))])
    assert lines(tags(flagged, state)) == [("a", "north", "f1", False)]
    plain = incoming(state, [("a", "south", row("a", 1))])
    assert lines(tags(plain, state, staying=True)) == [("a", "north", "f1", False)]


@pytest.mark.parametrize("index", GLOBAL)
def test_a_key_that_logs_took_out_of_a_partition_is_looked_for_elsewhere(tmp_path: Path, index: str):
    """The base row that it left is there until the group is compacted."""
    builder = two_partitions(tmp_path, "MERGE_ON_READ")
    gone = builder.deletes(3, DeleteRecord("a", "north", 0, "Int"))
    arrived = builder.base_file(3, [row("a", 20, region="west")], group="f3", partition="west")
    builder.commit(3, [builder.log_file(3, [gone], group=FIRST), arrived])
    state = state_of(tmp_path, index)
    assert lines(tags(incoming(state, [("a", "west", row("a", 21))]), state)) == [("a", "west", "f3", False)]
    back = lines(tags(incoming(state, [("a", "north", row("a", 21))]), state))
    assert back == [("a", "north", None, False), ("a", "west", "f3", True)]
    assert lines(tags(incoming(state, [("a", "north", row("a", 19))]), state)) == []


def test_a_moving_row_takes_over_what_it_leaves_open(tmp_path: Path):
    """Where rows of both versions make the merged one, the moving row is that."""
    properties = {"hoodie__table__partial__update__mode": "IGNORE_DEFAULTS"}
    two_partitions(tmp_path, hoodie__record__merge__mode="COMMIT_TIME_ORDERING", **properties)
    state = state_of(tmp_path, "GLOBAL_SIMPLE")
    found = tags(incoming(state, [("a", "south", row("a", 11, None, region="south", price=2.5))]), state)
    new = found.filter(pa.array([not moved for moved in found.column("_tag_moved").to_pylist()]))
    rows = new.select([KEY, PATH, "note", "price", "ts"]).to_pylist()
    assert rows == [{KEY: "a", PATH: "south", "note": "old", "price": 2.5, "ts": 11}]
    assert len(lines(found)) == 2


def with_record_index(
    builder: TableBuilder, places: dict[str, tuple[str, str]], groups: int = 3, commits: Sequence[int] = (1,)
) -> None:
    """Put a metadata table beside a table of these writes, which knows these places of keys."""
    base = builder.base / ".hoodie" / "metadata"
    metadata = TableBuilder(base, properties={"hoodie.populate.meta.fields": "false"})
    for commit in (0, *commits):
        metadata.commit(commit)
    files = [MetadataRecord("north", RecordType.FILES, FileList({"a": FileEntry(1)}))]
    _put(metadata, "files", metadata_file_id("files", 0), files)
    records = [MetadataRecord(key, RecordType.RECORD_INDEX, RecordLocation(*place, 1)) for key, place in places.items()]
    for group in range(groups):
        within = [one for one in records if file_group_of_key(one.key, groups) == group]
        _put(metadata, "record_index", metadata_file_id("record_index", group), within)
    builder.properties["hoodie.table.metadata.partitions"] = "files,record_index"
    builder.write_properties()


def _put(metadata: TableBuilder, index: str, file_id: str, records: list[MetadataRecord]) -> None:
    folder = metadata.base / index
    folder.mkdir(exist_ok=True)
    (folder / PARTITION_METAFILE).write_bytes(b"commitTime=0\npartitionDepth=1\n")
    (folder / f"{file_id}_0-0-0_{tick(0)}.hfile").write_bytes(metadata_base_file(records))


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_record_index_knows_places(tmp_path: Path, table_type: str):
    """Rows stay where they are by default; a place in no file group that is read does not count."""
    builder = two_partitions(tmp_path, table_type)
    with_record_index(builder, {"a": ("north", FIRST), "c": ("south", SECOND), "e": ("north", SECOND)})
    state = state_of(tmp_path, "RECORD_INDEX")
    rows_in = incoming(state, [(key, "x", row(key, 11)) for key in "abce"])
    assert lines(tags(rows_in, state)) == [
        ("a", "north", FIRST, False),
        ("b", "x", None, False),
        ("c", "south", SECOND, False),
        ("e", "x", None, False),
    ]
    state = state_of(tmp_path, "GLOBAL_RECORD_LEVEL_INDEX", **moving("RECORD_INDEX", moves=True))
    moved = lines(tags(incoming(state, [("a", "x", row("a", 11)), ("c", "x", row("c", 9))]), state))
    assert moved == [("a", "north", FIRST, True), ("a", "x", None, False)]


def test_a_record_index_of_the_other_kind_is_refused(tmp_path: Path):
    builder = two_partitions(tmp_path)
    with_record_index(builder, {"a": ("north", FIRST)})
    state = state_of(tmp_path, "RECORD_LEVEL_INDEX")
    with pytest.raises(HudiError, match=r"CONFIG_INVALID.*GLOBAL_RECORD_LEVEL_INDEX"):
        tags(incoming(state, [("a", "north", row("a", 11))]), state)


def test_a_key_that_comes_twice_is_tagged_twice(tmp_path: Path):
    """Where nothing combines the rows of a write, each meets the stored row on its own."""
    two_partitions(tmp_path)
    for index in GLOBAL:
        state = state_of(tmp_path, index)
        rows_in = [("a", "north", row("a", 11)), ("a", "south", row("a", 12)), ("a", "north", row("a", 1))]
        assert lines(tags(incoming(state, rows_in), state)) == [
            ("a", "north", FIRST, False),
            ("a", "north", FIRST, False),
            ("a", "north", FIRST, True),
            ("a", "south", None, False),
        ]


def test_rows_that_only_state_their_key_do_not_move(tmp_path: Path):
    """An insert that leaves known keys out finds them in every partition."""
    two_partitions(tmp_path)
    for index in GLOBAL:
        state = state_of(tmp_path, index)
        found = tags(incoming(state, [("a", "south", row("a", 11)), ("d", "south", row("d", 1))]), state, staying=True)
        assert lines(found) == [("a", "north", FIRST, False), ("d", "south", None, False)]
