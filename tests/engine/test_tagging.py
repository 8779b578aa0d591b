"""Tagging of rows that tables hold: each gets the file group that holds it, whatever the index; other keys get none."""

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from engine_tables import TableBuilder, row
from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.base.files import read_base_file
from hudi_format.log.blocks import HeaderKey
from hudi_spark import HudiError, UnsupportedFeature
from hudi_spark.keys import MissingIndexWarning, is_global
from tagging_tables import GROUP, KEY, PATH, incoming, own_rows, state_of, tags

GOLDEN = unpacked_corpus()
TABLES = [
    GOLDEN / name / "table"
    for name in (
        "v6/apache_mor_all_types",
        "v6/apache_mor_clustered",
        "v6/apache_mor_pending_compaction",
        "v8/apache_cow_all_types",
        "v8/apache_mor_event_time",
        "v9/apache_cow_delete_partition",
        "v9/apache_mor_composite_key",
        "v9/apache_mor_insert_overwrite",
        "v9/apache_mor_log_only",
        "v9/apache_mor_metadata_table",
        "v9/apache_mor_overlapping_writers",
        "v9/apache_mor_partial_update",
    )
]
FINDING = ("SIMPLE", "GLOBAL_SIMPLE", "BLOOM", "GLOBAL_BLOOM")


@pytest.mark.parametrize("table", TABLES, ids=lambda path: f"{path.parts[-3]}-{path.parts[-2]}")
def test_rows_of_a_table_go_to_their_file_group(table: Path):
    """What Apache Hudi wrote is found again, by every index that looks into files."""
    for index in FINDING:
        state = state_of(table, index)
        rows = own_rows(state)
        found = tags(rows, state)
        assert found.column("_tag_file_id") == rows.column(GROUP), index
        # In words, for a NaN equals no other.
        assert str(found.select(rows.column_names).to_pylist()) == str(rows.to_pylist())
        assert pc.sum(found.column("_tag_moved").cast(pa.int8())).as_py() in (0, None)
        bases = {one.file_id: one.base_instant for one in state.slices}
        assert found.column("_tag_base_instant").to_pylist() == [bases[one] for one in rows.column(GROUP).to_pylist()]


@pytest.mark.parametrize("index", FINDING)
def test_positions_are_rows_of_the_base_file(index: str):
    state = state_of(GOLDEN / "v9" / "apache_cow_late_data" / "table", index)
    found = tags(own_rows(state), state)
    files = {one.file_id: read_base_file(state.storage, one.base_file or "", [KEY]) for one in state.slices}
    for file_id, position, key in zip(
        *(found.column(name).to_pylist() for name in ("_tag_file_id", "_tag_position", KEY)), strict=True
    ):
        assert files[file_id].column(KEY)[position].as_py() == key


@pytest.mark.parametrize("index", FINDING)
@pytest.mark.parametrize("name", ["apache_cow_late_data", "apache_mor_event_time"])
def test_other_keys_and_other_partitions_are_new(index: str, name: str):
    """A key is looked for in its partition, by a global index in the table."""
    state = state_of(GOLDEN / "v9" / name / "table", index, hoodie__bloom__index__prune__by__ranges="false")
    rows = own_rows(state)
    place = rows.column_names.index(KEY)
    changed = rows.set_column(place, KEY, pc.binary_join_element_wise(rows.column(KEY), "!", ""))
    assert tags(changed, state).column("_tag_file_id").null_count == rows.num_rows
    place = rows.column_names.index(PATH)
    elsewhere = rows.set_column(place, PATH, pa.repeat(pa.scalar("elsewhere"), rows.num_rows))
    found = tags(elsewhere, state)
    moved = found.filter(found.column("_tag_moved"))
    assert moved.num_rows == (rows.num_rows if is_global(state) else 0)
    new = found.filter(pc.invert(found.column("_tag_moved")))
    assert new.column("_tag_file_id").null_count == new.num_rows == rows.num_rows


def test_without_a_record_index_files_are_searched_and_reported(tmp_path: Path):
    table = small_table(tmp_path)
    for index in ("RECORD_INDEX", "RECORD_LEVEL_INDEX"):
        state = state_of(table, index)
        with pytest.warns(MissingIndexWarning, match="no record index"):
            found = tags(own_rows(state), state)
        assert found.column("_tag_file_id").null_count == 0


def test_a_table_without_rows_holds_no_key(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(1)
    for index in (*FINDING, "RECORD_INDEX"):
        state = state_of(tmp_path, index)
        assert tags(incoming(state, [("a", "north", row("a", 1))]), state).column("_tag_file_id").to_pylist() == [None]


def small_table(folder: Path) -> Path:
    builder = TableBuilder(folder, table_type="COPY_ON_WRITE")
    builder.commit(1, [builder.base_file(1, [row("a", 1), row("b", 2)])], action="commit")
    return folder


def test_keys_that_only_logs_hold_are_found(tmp_path: Path):
    """A log file whose commit says that it has new rows is looked into; a group of logs alone always is."""
    builder = TableBuilder(tmp_path)
    builder.commit(1, [builder.base_file(1, [row("a", 1)])])
    builder.commit(3, [builder.log_file(3, [builder.data(3, [row("b", 1)])])])
    builder.commit(5, [builder.log_file(5, [builder.data(5, [row("c", 1)])], group="f2")])
    for index in FINDING:
        state = state_of(tmp_path, index)
        rows_in = incoming(state, [(key, "north", row(key, 9)) for key in "abcd"])
        assert tags(rows_in, state).column("_tag_file_id").to_pylist() == ["f1", "f1", "f2", None]
        assert tags(rows_in, state).column("_tag_position").to_pylist() == [0, None, None, None]


def test_a_deleted_key_stays_with_the_group_of_its_base_row(tmp_path: Path):
    """Until the group is compacted; a global index reads what logs made of it, and takes the key for new."""
    builder = TableBuilder(tmp_path)
    builder.commit(1, [builder.base_file(1, [row("a", 1), row("b", 1)])])
    gone = {**row("a", 9), "_hoodie_is_deleted": True}
    flagged = TableBuilder(tmp_path, columns=[*_COLUMNS, ("_hoodie_is_deleted", "boolean")])
    flagged.commit(3, [flagged.log_file(3, [flagged.data(3, [gone])])], schema=flagged.schema)
    for index, expected in (("SIMPLE", ["f1", "f1"]), ("GLOBAL_SIMPLE", [None, "f1"]), ("GLOBAL_BLOOM", [None, "f1"])):
        state = state_of(tmp_path, index)
        rows_in = incoming(state, [(key, "north", {**row(key, 9), "_hoodie_is_deleted": False}) for key in "ab"])
        found = tags(rows_in, state).sort_by(KEY)
        assert found.column("_tag_file_id").to_pylist() == expected, index


_COLUMNS = (
    ("id", "string"),
    ("region", "string"),
    ("ts", ["null", "long"]),
    ("note", ["null", "string"]),
    ("price", ["null", "double"]),
)


def test_a_key_twice_in_a_file_has_no_position(tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(1, [builder.base_file(1, [row("a", 1), row("b", 1), row("a", 2)])], action="commit")
    for index in FINDING:
        state = state_of(tmp_path, index)
        found = tags(incoming(state, [("a", "north", row("a", 3)), ("b", "north", row("b", 3))]), state).sort_by(KEY)
        assert found.column("_tag_file_id").to_pylist() == ["f1", "f1"]
        assert found.column("_tag_position").to_pylist() == [None, 1]


def test_an_index_that_is_not_built_is_named(tmp_path: Path):
    table = small_table(tmp_path)
    with pytest.raises((HudiError, UnsupportedFeature), match=r"(?i)inmemory"):
        tags(own_rows(state_of(table)), state_of(table, "INMEMORY"))


def test_no_index_warns_where_nothing_is_amiss(tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for index in FINDING:
            state = state_of(small_table(tmp_path / index), index)
            tags(own_rows(state), state)


def test_partial_updates_in_logs_do_not_hide_keys(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(1, [builder.base_file(1, [row("a", 1)])])
    block = builder.data(3, [row("z", 4)], {HeaderKey.IS_PARTIAL: "true"})
    builder.commit(3, [builder.log_file(3, [block])])
    state = state_of(tmp_path)
    assert tags(incoming(state, [("z", "north", row("z", 9))]), state).column("_tag_file_id").to_pylist() == ["f1"]


@pytest.mark.parametrize(("generator", "key"), [("SIMPLE", "a"), ("COMPLEX", "id:a")])
@pytest.mark.parametrize("index", FINDING)
def test_keys_that_are_not_stored_are_made_as_those_of_the_rows(tmp_path: Path, index: str, generator: str, key: str):
    """A complex generator of one field names it from version 9 on."""
    properties = {"hoodie.populate.meta.fields": "false", "hoodie.table.keygenerator.type": generator}
    builder = TableBuilder(tmp_path, properties=properties)
    stats = [builder.base_file(1, [row("b", 1), row("a", 1)])]
    builder.commit(1, [*stats, builder.log_file(1, [builder.data(1, [row("a", 2)])])])
    state = state_of(tmp_path, index)
    found = tags(incoming(state, [(key, "north", row("a", 3)), ("x", "north", row("x", 1))]), state).sort_by(KEY)
    assert found.column("_tag_file_id").to_pylist() == ["f1", None]
    assert found.column("_tag_position").to_pylist() == [1, None]
