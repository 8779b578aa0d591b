"""What each operation leaves in a table, in this process."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hudi_format.storage import LocalStorage
from hudi_spark import (
    HudiError,
    TableDefinition,
    UnsupportedFeature,
    check_table,
    create_arrow,
    read_arrow,
    write_arrow,
)
from hudi_spark.errors import Reason
from hudi_spark.testing import WriteRequest, load_table
from written_tables import SCHEMA, Written, rows

KINDS = [(6, "COPY_ON_WRITE"), (6, "MERGE_ON_READ"), (8, "MERGE_ON_READ"), (9, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")]


@pytest.mark.parametrize(("version", "table_type"), KINDS)
def test_operations_leave_the_rows_that_they_say(tmp_path: Path, version: int, table_type: str):
    """Every operation once, each on what the one before left."""
    table = Written(tmp_path, table_type, version)
    table.write("bulk_insert", rows(range(4), 5))
    table.write("upsert", rows([2, 3, 4], 6, 2.0))
    table.write("upsert", rows([3], 1, 9.0))
    assert table.found() == [("k0", 1.0), ("k1", 1.0), ("k2", 2.0), ("k3", 2.0), ("k4", 2.0)]
    table.write("delete", rows([0, 9], 0))
    table.write("insert", rows([7], 1))
    assert table.ids() == ["k1", "k2", "k3", "k4", "k7"]
    table.write("delete", filter=["price", "=", 2.0])
    assert table.ids() == ["k1", "k7"]
    table.write("insert_overwrite", rows([11, 13], 1))
    table.write("upsert", rows([20], 1))
    assert table.ids() == ["k11", "k13", "k20"]
    table.write("delete_partition", partitions=["süd"])
    assert table.ids() == ["k11", "k13"]
    table.write("insert_overwrite_table", rows([2], 1))
    assert table.ids() == ["k2"]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_partial_update_changes_the_columns_that_it_brings(tmp_path: Path, table_type: str):
    """The others keep what they held."""
    table = Written(tmp_path, table_type)
    table.write("upsert", rows(range(4), 1, 3.0))
    table.write("partial_update", rows([1, 2], 2).select(["id", "region", "ts"]))
    assert table.found(("id", "ts", "price")) == [("k0", 1, 3.0), ("k1", 2, 3.0), ("k2", 2, 3.0), ("k3", 1, 3.0)]


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_late_partial_update_for_another_partition_writes_nothing(tmp_path: Path, table_type: str):
    """The row stays as it was written, its commit time too."""
    configs = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "true"}
    table = Written(tmp_path, table_type, configs=configs)
    table.write("upsert", rows([1], 5, 3.0))
    before = table.found(("_hoodie_commit_time", "region", "ts", "price"))
    late = pa.table({"id": ["k1"], "region": ["süd"], "ts": [2]})
    table.write("partial_update", late)
    assert table.found(("_hoodie_commit_time", "region", "ts", "price")) == before


def test_no_file_of_a_table_without_meta_fields_has_a_filter_of_keys(tmp_path: Path):
    """Nor the one that a delete has emptied."""
    table = Written(tmp_path, properties={"hoodie.populate.meta.fields": "false"})
    table.write("insert", rows([0]))
    table.write("delete", rows([0], 9))
    files = sorted(tmp_path.rglob("*.parquet"), key=lambda one: one.stat().st_mtime_ns)
    assert [pq.read_metadata(one).num_rows for one in files] == [1, 0]
    keys = {key for one in files for key in pq.read_metadata(one).metadata}
    assert b"parquet.avro.schema" in keys
    assert not [key for key in keys if b"bloom" in key]


def test_a_record_index_has_the_keys_that_come_to_buckets_after_a_compaction(tmp_path: Path):
    """To a bucket each row is an update, also one with a key that no file has."""
    configs = {
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": "1",
        "hoodie.metadata.enable": "true",
        "hoodie.metadata.record.index.enable": "true",
        "hoodie.compact.inline.max.delta.commits": "1",
    }
    table = Written(tmp_path, "MERGE_ON_READ", configs=configs)
    table.write("upsert", rows([0, 2]))
    table.services().execute(table.services().schedule("compaction") or "")
    table.write("upsert", rows([4], 2))
    assert not check_table(tmp_path, deep=True)


@pytest.mark.parametrize(("version", "price"), [(8, None), (9, 1.0)])
def test_a_write_combines_its_own_rows_as_whole_records_under_payload_classes(
    tmp_path: Path, version: int, price: float | None
):
    """Before version 9; then the class is a mode of the table, by which they are completed like all others."""
    payload = "org.apache.hudi.common.model.OverwriteNonDefaultsWithLatestAvroPayload"
    table = Written(tmp_path, version=version, properties={"hoodie.compaction.payload.class": payload})
    given = pa.table({"id": ["k0", "k0"], "region": ["süd", "süd"], "ts": [1, 2], "price": [1.0, None]})
    table.write("upsert", given.cast(SCHEMA))
    assert table.found() == [("k0", price)]


def test_statistics_of_partitions_know_a_write_that_others_overtook(tmp_path: Path):
    """It was requested before another write of its partition and completes after it; readers prune by both."""
    configs = {"hoodie.metadata.enable": "true", "hoodie.metadata.index.column.stats.enable": "true"}
    table = Written(tmp_path, "MERGE_ON_READ", configs=configs)
    table.write("insert", rows([0]))
    given = WriteRequest("upsert", rows([0], 5).set_column(3, "price", pa.nulls(1, pa.float64())))
    started = table.writer().begin(given)
    started.stage(given)
    table.write("bulk_insert", rows([2]))
    started.commit()
    found = read_arrow(str(tmp_path), filter=["price", "is_null"], configs={"hoodie.metadata.enable": "true"})
    assert found.column("id").to_pylist() == ["k0"]


def test_a_deletion_names_the_partitions_that_are_not_there(tmp_path: Path):
    """Where none is there nothing is written; in the option `*` stands for any text."""
    table = Written(tmp_path)
    table.write("upsert", rows(range(4)))
    before = table.files()
    nothing = table.write("delete_partition", partitions=["nord", "nord"])
    assert (nothing.requested, nothing.completed, nothing.missing_partitions) == ("", None, ("nord",))
    assert str(nothing) == "DELETE_PARTITION: nothing to do, no partition 'nord'"
    pattern = {"hoodie.datasource.write.partitions.to.delete": "x*,nor.*"}
    assert table.write("delete_partition", configs=pattern).missing_partitions == ("x*", "nor.*")
    assert table.files() == before
    pattern = {"hoodie.datasource.write.partitions.to.delete": "n*h,west"}
    outcome = table.write("delete_partition", configs=pattern)
    assert outcome.missing_partitions == ("west",)
    assert list(outcome.replaced) == ["north"]
    assert str(outcome).endswith("no partition 'west'")
    assert table.ids() == ["k0", "k2"]


def test_an_outcome_is_one_line(tmp_path: Path):
    """Printed, a commit says what, when, how much."""
    outcome = Written(tmp_path).write("upsert", rows(range(4)))
    line = str(outcome)
    assert "\n" not in line
    assert outcome.requested in line
    assert "2 files in 2 partitions, 4 rows new, 0 updated, 0 deleted" in line


def test_versions_of_a_key_in_one_input_are_combined_first(tmp_path: Path):
    """The greater ordering value wins within the input, too; an insert keeps both unless it is asked to combine."""
    table = Written(tmp_path)
    doubled = pa.concat_tables([rows([1], 5, 5.0), rows([1], 3, 3.0)])
    table.write("upsert", doubled)
    assert table.found() == [("k1", 5.0)]
    table.write("insert", pa.concat_tables([rows([3], 5, 5.0), rows([3], 3, 3.0)]))
    assert table.found() == [("k1", 5.0), ("k3", 3.0), ("k3", 5.0)]
    table.write("insert", doubled, configs={"hoodie.combine.before.insert": "true"})
    assert [key for key in table.ids() if key == "k1"] == ["k1", "k1"]


_INDEXES = (
    {},
    {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"},
    {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": "CONSISTENT_HASHING"},
)


@pytest.mark.parametrize("index", _INDEXES, ids=["simple", "buckets", "ring"])
@pytest.mark.parametrize(("policy", "expected"), [("none", 4), ("drop", 3), ("fail", None)])
def test_keys_that_are_there_meet_the_policy_for_inserts(
    tmp_path: Path, policy: str, expected: int | None, index: dict[str, str]
):
    """Kept beside each other, left out, or the insert refused and nothing changed, whatever finds their file groups."""
    kind = "MERGE_ON_READ" if "hoodie.index.bucket.engine" in index else "COPY_ON_WRITE"
    table = Written(tmp_path, table_type=kind)
    table.write("upsert", rows([1, 2]), configs=index)
    before = table.files()
    configs = {"hoodie.datasource.insert.dup.policy": policy, **index}
    if policy == "none" and "MERGE" in kind:
        expected = 3  # a log takes both for one
    if expected is None:
        with pytest.raises(HudiError, match="the table holds"):
            table.write("insert", rows([2, 3]), configs=configs)
        assert table.files() == before
    else:
        table.write("insert", rows([2, 3]), configs=configs)
        assert len(table.ids()) == expected


@pytest.mark.parametrize("index", [{}, {"hoodie.index.type": "BLOOM"}, _INDEXES[1]], ids=["simple", "bloom", "buckets"])
@pytest.mark.parametrize("policy", ["drop", "fail"])
def test_a_key_that_a_log_has_deleted_is_a_new_one(tmp_path: Path, index: dict[str, str], policy: str):
    """An insert that leaves known keys out, or refuses them, brings it back, and brings it once."""
    table = Written(tmp_path, table_type="MERGE_ON_READ")
    for _ in range(2):
        table.write("bulk_insert", rows([1, 2]), configs=index)
    table.write("delete", rows([2]), configs=index)
    table.write("insert", rows([2, 3]), configs={"hoodie.datasource.insert.dup.policy": policy, **index})
    assert [key for key in table.ids() if key != "k1"] == ["k2", "k3"]


def test_small_files_are_filled_up_and_large_inputs_split(tmp_path: Path):
    """New rows join the small file of their partition; with small files off, and files limited, groups multiply."""
    table = Written(tmp_path, partition_by=())
    table.write("insert", rows(range(10)))
    table.write("insert", rows(range(10, 20)))
    assert {path.stem.partition("_")[0] for path in tmp_path.glob("*.parquet")} == {
        "00000001-0000-4000-8000-000000000000-0"
    }
    table.write("insert", rows(range(20, 30)), configs={"hoodie.parquet.small.file.limit": "0"})
    configs = {"hoodie.parquet.small.file.limit": "0", "hoodie.parquet.max.file.size": str(1024 * 4)}
    table.write("insert", rows(range(30, 50)), configs=configs)
    assert len({path.stem.partition("_")[0] for path in tmp_path.glob("*.parquet")}) > len(["first", "second", "one"])
    assert len(table.ids()) == 50


def test_a_bulk_insert_rolls_to_further_groups_of_one_id(tmp_path: Path):
    """A task that fills a file goes on with the next number of the same id; every row is in one of them."""
    table = Written(tmp_path, partition_by=())
    configs = {"hoodie.parquet.max.file.size": "1000", "hoodie.parquet.block.size": "1"}
    table.write("bulk_insert", rows(range(25_000)), configs=configs)
    names = sorted(path.name.partition("_")[0] for path in tmp_path.glob("*.parquet"))
    assert names == [f"00000001-0000-4000-8000-000000000000-{n}" for n in range(3)]
    assert read_arrow(tmp_path).num_rows == 25_000


@pytest.mark.parametrize("operation", ["insert", "bulk_insert"])
def test_what_is_inserted_into_its_bucket_stands_beside_what_is_there(tmp_path: Path, operation: str):
    """No key is looked up, also where the rows go into a file group that holds them."""
    table = Written(tmp_path, partition_by=())
    configs = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"}
    table.write("upsert", rows([1, 2]), configs=configs)
    table.write(operation, rows([2, 3]), configs=configs)
    assert sorted(read_arrow(tmp_path).column("id").to_pylist()) == ["k1", "k2", "k2", "k3"]


@pytest.mark.parametrize("mode", ["GLOBAL_SORT", "PARTITION_SORT", "PARTITION_PATH_REPARTITION_AND_SORT"])
def test_a_bulk_insert_sorts_as_configured(tmp_path: Path, mode: str):
    """The rows of a file stand in the order of their keys."""
    table = Written(tmp_path)
    table.write("bulk_insert", rows([5, 3, 9, 1, 4, 2]), configs={"hoodie.bulkinsert.sort.mode": mode})
    for path in tmp_path.glob("*/*.parquet"):
        keys = pq.read_table(path, columns=["id"]).column("id").to_pylist()
        assert keys == sorted(keys)


def test_a_new_column_reaches_rewritten_files(tmp_path: Path):
    """Rows that were there before it have null; those after it keep what they bring."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 3]))
    table.write("upsert", rows([3], 2).append_column("note", pa.array(["new"])))
    assert table.found(("id", "note")) == [("k1", None), ("k3", "new")]


def test_of_two_writers_of_one_file_group_the_first_to_commit_wins(tmp_path: Path):
    """The second is refused, names the first, and leaves nothing behind."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    first, second = (table.writer().begin(WriteRequest("upsert")) for _ in range(2))
    first.stage(WriteRequest("upsert", rows([1], 2, 2.0)))
    second.stage(WriteRequest("upsert", rows([1], 3, 3.0)))
    done = first.commit()
    with pytest.raises(HudiError, match=done.requested) as refused:
        second.commit()
    assert refused.value.reason == Reason.WRITE_CONFLICT
    assert table.found() == [("k1", 2.0), ("k2", 1.0)]
    assert not [name for name in table.files() if second.requested in name]


def test_writers_of_different_file_groups_both_commit(tmp_path: Path):
    """Two partitions, two writers at the same time."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    first, second = (table.writer().begin(WriteRequest("upsert")) for _ in range(2))
    first.stage(WriteRequest("upsert", rows([1], 2, 2.0)))
    second.stage(WriteRequest("upsert", rows([2], 3, 3.0)))
    second.commit()
    first.commit()
    assert table.found() == [("k1", 2.0), ("k2", 3.0)]


def test_an_aborted_write_leaves_nothing(tmp_path: Path):
    """Its files, its markers and its instant are gone."""
    table = Written(tmp_path)
    table.write("upsert", rows([1, 2]))
    before = table.files()
    started = table.writer().begin(WriteRequest("upsert"))
    started.stage(WriteRequest("upsert", rows([1, 5], 2)))
    assert len(table.files()) > len(before)
    started.abort()
    assert table.files() == before
    assert table.ids() == ["k1", "k2"]


def test_what_a_failed_attempt_left_is_removed_before_the_commit(tmp_path: Path):
    """Its marker records a file that no successful task named."""
    table = Written(tmp_path)
    started = table.writer().begin(WriteRequest("upsert"))
    started.stage(WriteRequest("upsert", rows([1])))
    stray = f"00000009-0000-4000-8000-000000000000-0_7-7-7_{started.requested}.parquet"
    LocalStorage(tmp_path).put(f"north/{stray}", b"half")
    LocalStorage(tmp_path).put(f".hoodie/.temp/{started.requested}/north/{stray}.marker.CREATE", b"")
    started.commit()
    assert not (tmp_path / "north" / stray).exists()
    assert table.ids() == ["k1"]


def test_times_grow_and_completion_follows_the_request(tmp_path: Path):
    """Also under a clock that stands still."""
    table = Written(tmp_path)
    for n in range(3):
        table.write("upsert", rows([n]))
    configuration, timeline = load_table(LocalStorage(tmp_path))
    times = [(one.requested, one.completed) for one in timeline.instants]
    assert configuration.has_completion_times
    assert times == sorted(times)
    assert all(completed is not None and requested < completed for requested, completed in times)


def make_table_with_generated_keys(path: Path, table_type: str) -> None:
    """A table without record key fields, of four rows."""
    create_arrow(path, TableDefinition(name="log", schema=SCHEMA, partition_by=("region",), table_type=table_type))
    write_arrow(path, rows(range(4)), "insert")


@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_rows_with_generated_keys_are_inserted_and_deleted_by_filter(tmp_path: Path, table_type: str):
    """No row can be looked up by a key that it does not know; stored ones bring theirs."""
    make_table_with_generated_keys(tmp_path, table_type)
    write_arrow(tmp_path, rows(range(4)), "bulk_insert")
    for operation in ("upsert", "delete"):
        with pytest.raises(HudiError, match="insert the rows"):
            write_arrow(tmp_path, rows([1]), operation)
    write_arrow(tmp_path, operation="delete", filter=["id", "=", "k1"])
    assert sorted(read_arrow(tmp_path).column("id").to_pylist()) == ["k0", "k0", "k2", "k2", "k3", "k3"]


@pytest.mark.parametrize("operation", ["insert", "bulk_insert", "insert_overwrite"])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_stored_row_that_is_inserted_again_gets_a_new_generated_key(tmp_path: Path, table_type: str, operation: str):
    """Two rows of one key would be updated and deleted together (DM-001); Apache Hudi 1.1.1 generates new ones too."""
    make_table_with_generated_keys(tmp_path, table_type)
    stored = read_arrow(tmp_path, meta_columns=True)
    write_arrow(tmp_path, stored, operation)
    before = stored.column("_hoodie_record_key").to_pylist()
    after = read_arrow(tmp_path, meta_columns=True).column("_hoodie_record_key").to_pylist()
    stay = [] if operation == "insert_overwrite" else before
    assert len(after) == len({*after}) == len(stay) + 4
    assert {*after} & {*before} == {*stay}


@pytest.mark.parametrize("operation", ["upsert", "delete"])
@pytest.mark.parametrize("table_type", ["COPY_ON_WRITE", "MERGE_ON_READ"])
def test_a_row_without_the_key_that_its_table_generated_is_refused(tmp_path: Path, table_type: str, operation: str):
    """It would be another row, or none, without a word."""
    make_table_with_generated_keys(tmp_path, table_type)
    stored = read_arrow(tmp_path, meta_columns=True)
    where, keys = stored.column_names.index("_hoodie_record_key"), stored.column("_hoodie_record_key").to_pylist()
    for left_out in ([None, *keys[1:]], ["", *keys[1:]], [None] * 4):
        changed = stored.set_column(where, "_hoodie_record_key", pa.array(left_out, pa.string()))
        with pytest.raises(HudiError, match="KEY_MISSING"):
            write_arrow(tmp_path, changed, operation)
    assert read_arrow(tmp_path).sort_by("id") == stored.select(read_arrow(tmp_path).column_names).sort_by("id")


def test_a_merge_mode_of_its_own_is_a_reading(tmp_path: Path):
    """In the text a write may override the mode that the table persists; as released that is refused."""
    table = Written(tmp_path)
    table.write("upsert", rows([1], 5, 5.0))
    configs = {"hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING"}
    with pytest.raises(HudiError, match="COMMIT_TIME_ORDERING"):
        write_arrow(tmp_path, rows([1], 1, 1.0), configs=configs)
    write_arrow(tmp_path, rows([1], 1, 1.0), readings="text", configs=configs)
    assert table.found() == [("k1", 1.0)]


def test_base_files_of_another_format_are_not_written(tmp_path: Path):
    """A table with ORC or HFile bases is read; a write says that it cannot go on with it."""
    table = Written(tmp_path)
    file = tmp_path / ".hoodie" / "hoodie.properties"
    file.write_text(file.read_text().replace("base.file.format=PARQUET", "base.file.format=ORC"))
    with pytest.raises(UnsupportedFeature, match="base-orc-writing"):
        table.write("upsert", rows([1]))
