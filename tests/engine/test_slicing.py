from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_format.timeline.commit_metadata import CommitMetadata, serialise_avro
from hudi_format.timeline.plans import (
    CleanMetadata,
    CleanPartition,
    RollbackMetadata,
    RollbackPartition,
    serialise_clean_metadata,
    serialise_rollback_metadata,
)
from hudi_spark import HudiError, Readings
from hudi_spark.testing import RELEASED, TEXT, load_snapshot

ROWS = [row("k1", 1)]


def slices(path: Path, readings: Readings = RELEASED, **query: Any):
    """(group, base instant, instant of the base file, instants and versions of the logs) of each slice."""
    found = load_snapshot(open_storage(path), readings, **query).slices
    return [
        (one.file_id, one.base_instant[-3:], short(one.base_file), [short(log) for log in one.log_files])
        for one in found
    ]


def short(path: Path):
    """`10` of a base file, `10.2` of a log file of version 2."""
    if path is None:
        return None
    name = path.rpartition("/")[2]
    if name.startswith("."):
        instant, _, version = name[1:].partition("_")[2].partition(".log.")
        return f"{int(instant[-3:])}.{version.partition('_')[0]}"
    return str(int(name.rpartition("_")[2].partition(".")[0][-3:]))


def test_version_6_logs_belong_to_the_slice_that_their_name_says(tmp_path: Path):
    builder = TableBuilder(tmp_path, 6)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(10, [builder.data(20, ROWS)])])
    builder.commit(30, [builder.log_file(10, [builder.data(30, ROWS)], version=2)])
    assert slices(tmp_path) == [("f1", "010", "10", ["10.1", "10.2"])]


@pytest.mark.parametrize("version", [8, 9])
def test_later_logs_belong_to_the_newest_slice_up_to_their_completion(tmp_path: Path, version: int):
    """A log requested before a compaction and completed after it is merged over the compacted file."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])])
    builder.commit(30, [builder.log_file(30, [builder.data(30, ROWS)])], completed=60)
    builder.commit(40, [builder.base_file(40, ROWS)], action="commit", completed=50)
    assert slices(tmp_path) == [("f1", "040", "40", ["30.1"])]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_slice_opened_by_a_pending_compaction_is_joined_with_the_one_before(tmp_path: Path, version: int):
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(10 if version == 6 else 20, [builder.data(20, ROWS)])])
    builder.pending_compaction(30, "f1")
    builder.commit(40, [builder.log_file(30 if version == 6 else 40, [builder.data(40, ROWS)])])
    logs = ["10.1", "30.1"] if version == 6 else ["20.1", "40.1"]
    assert slices(tmp_path) == [("f1", "010", "10", logs)]
    assert slices(tmp_path, read_optimized=True) == [("f1", "010", "10", [])]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_the_base_file_of_an_unfinished_compaction_is_not_read(tmp_path: Path, version: int):
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.pending_compaction(30, "f1", state="INFLIGHT")
    builder.base_file(30, ROWS)
    assert slices(tmp_path) == [("f1", "010", "10", [])]
    assert slices(tmp_path, read_optimized=True) == [("f1", "010", "10", [])]


def test_logs_alone_are_a_slice(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.log_file(10, [builder.data(10, ROWS)])], completed=40)
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])], completed=30)
    assert slices(tmp_path) == [("f1", "010", None, ["10.1", "20.1"])]


def test_an_unfinished_first_log_does_not_hide_what_follows(tmp_path: Path):
    """The slice is anchored at the first log that counts."""
    builder = TableBuilder(tmp_path)
    builder.commit(5, [builder.base_file(5, ROWS, group="f0")])
    builder.pending(10)
    builder.log_file(10, [builder.data(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])])
    assert slices(tmp_path)[1:] == [("f1", "020", None, ["20.1"])]


def test_log_order_is_a_reading(tmp_path: Path):
    """Released: by requested time. Text: by completion time."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])], completed=60)
    builder.commit(30, [builder.log_file(30, [builder.data(30, ROWS)])], completed=50)
    assert slices(tmp_path) == [("f1", "010", "10", ["20.1", "30.1"])]
    assert slices(tmp_path, TEXT) == [("f1", "010", "10", ["30.1", "20.1"])]


def test_time_travel_picks_among_the_slices_that_all_commits_form(tmp_path: Path):
    """A log that straddles a compaction belongs over the compacted file, also as of a time before it."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])])
    builder.commit(30, [builder.log_file(30, [builder.data(30, ROWS)])], completed=60)
    builder.commit(40, [builder.base_file(40, ROWS)], action="commit", completed=50)
    assert slices(tmp_path, as_of=tick(35)) == [("f1", "010", "10", ["20.1"])]


def test_what_completed_later_is_as_pending_as_it_was_then_by_the_text(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.pending_compaction(20, "f1", state="INFLIGHT")
    builder.base_file(20, ROWS)
    builder.commit(30, [builder.log_file(30, [builder.data(30, ROWS)])], completed=40)
    done = serialise_avro(CommitMetadata("COMPACT", compacted=True))
    builder.timeline_file(20, "commit", "COMPLETED", done, 50)
    assert slices(tmp_path) == [("f1", "020", "20", ["30.1"])]
    assert slices(tmp_path, TEXT, as_of=tick(45)) == [("f1", "010", "10", ["30.1"])]


@pytest.mark.parametrize("version", [8, 9])
def test_a_log_named_after_a_base_instant_stays_with_it_after_an_upgrade(tmp_path: Path, version: int):
    """Its instant completed after the next compaction was requested."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)], completed=35)
    builder.commit(20, [builder.log_file(10, [builder.data(20, ROWS)])])
    builder.commit(30, [builder.base_file(30, ROWS)], action="commit")
    assert slices(tmp_path) == [("f1", "030", "30", [])]


def test_of_two_attempts_at_a_base_file_the_one_that_the_commit_names_counts(tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    stat = builder.base_file(10, ROWS)
    for token in ("0-0-0", "0-2-0"):
        (tmp_path / "north" / f"f1_{token}_{tick(10)}.parquet").write_bytes(b"a failed attempt")
    builder.commit(10, [stat], action="commit")
    (found,) = load_snapshot(open_storage(tmp_path), RELEASED).slices
    assert found.base_file == stat.path


def test_what_a_rollback_undid_does_not_count_however_old_it_is(tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.base_file(5, ROWS)
    builder.commit(10, [builder.base_file(10, ROWS, group="f2")], action="commit")
    assert [one[0] for one in slices(tmp_path)] == ["f1", "f2"]
    undone = serialise_rollback_metadata(RollbackMetadata(tick(20), commits_rollback=(tick(5),)))
    builder.timeline_file(20, "rollback", "COMPLETED", undone)
    assert [one[0] for one in slices(tmp_path)] == ["f2"]


def test_a_pending_compaction_without_its_plan_is_refused(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.timeline_file(20, "compaction", "INFLIGHT", b"")
    with pytest.raises(FormatError) as caught:
        slices(tmp_path)
    assert caught.value.reason == "TIMELINE_FILE_CORRUPT"


def test_versions_of_logs_compare_as_numbers(tmp_path: Path):
    builder = TableBuilder(tmp_path, 6)
    stats = [builder.base_file(10, ROWS), *(builder.log_file(10, [], version=n) for n in (10, 9, 2))]
    builder.commit(10, stats)
    assert slices(tmp_path) == [("f1", "010", "10", ["10.2", "10.9", "10.10"])]


def test_change_data_logs_are_no_data(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    stats = [builder.base_file(10, ROWS), builder.log_file(20, [builder.data(20, ROWS)])]
    builder.log_file(20, [b"change data"], cdc=True)
    builder.commit(10, stats[:1])
    builder.commit(20, stats[1:])
    assert slices(tmp_path) == [("f1", "010", "10", ["20.1"])]


def test_replaced_groups_are_hidden_from_their_replacement_on(tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
    stats = [builder.base_file(20, ROWS, group="f2")]
    builder.commit(20, stats, action="replacecommit", replaced={"north": ("f1",)})
    assert slices(tmp_path) == [("f2", "020", "20", [])]
    assert slices(tmp_path, as_of=tick(15)) == [("f1", "010", "10", [])]


def test_the_same_file_id_in_two_partitions_is_two_groups(tmp_path: Path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    stats = [builder.base_file(10, ROWS, partition=partition) for partition in ("north", "south/é=1")]
    builder.commit(10, stats, action="commit")
    assert [one.partition for one in load_snapshot(open_storage(tmp_path), RELEASED).slices] == ["north", "south/é=1"]


def test_foreign_files_are_ignored(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    for name in (".hoodie_partition_metadata", f"{tick(10)}.commit", ".f1.crc", "notes.txt", ".hidden_1.log"):
        (tmp_path / "north" / name).write_bytes(b"")
    assert slices(tmp_path) == [("f1", "010", "10", [])]


class TestMissingBaseFiles:
    def lose(self, path: Path, n: int):
        (path / "north" / f"f1_0-1-0_{tick(n)}.parquet").unlink()

    def test_a_base_file_that_the_timeline_names_must_exist(self, tmp_path: Path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [builder.base_file(20, ROWS)], action="commit")
        self.lose(tmp_path, 20)
        with pytest.raises(HudiError) as caught:
            slices(tmp_path)
        assert caught.value.reason == "BASE_FILE_MISSING"
        assert caught.value.file.endswith(f"{tick(20)}.parquet")

    def test_a_cleaned_older_base_file_is_not_missed(self, tmp_path: Path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [builder.base_file(20, ROWS)], action="commit")
        self.lose(tmp_path, 10)
        assert slices(tmp_path) == [("f1", "020", "20", [])]

    def test_a_replaced_group_is_not_missed(self, tmp_path: Path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [], action="replacecommit", replaced={"north": ("f1",)})
        self.lose(tmp_path, 10)
        assert slices(tmp_path) == []

    @pytest.mark.parametrize("by", ["clean", "rollback"])
    def test_a_base_file_that_was_deleted_on_purpose_is_not_missed(self, tmp_path: Path, by: str):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        self.lose(tmp_path, 10)
        name = f"f1_0-1-0_{tick(10)}.parquet"
        if by == "clean":
            cleaned = {"north": CleanPartition("north", success_delete_files=(name,))}
            data = serialise_clean_metadata(CleanMetadata(tick(20), partition_metadata=cleaned))
        else:
            rolled = {"north": RollbackPartition("north", success_delete_files=(f"file:/t/north/{name}",))}
            data = serialise_rollback_metadata(RollbackMetadata(tick(20), partition_metadata=rolled))
        builder.timeline_file(20, by, "COMPLETED", data)
        assert slices(tmp_path) == []
        if by == "clean":
            with pytest.raises(HudiError) as caught:
                slices(tmp_path, as_of=tick(15))
            assert caught.value.reason == "RANGE_NOT_RETAINED"

    @pytest.mark.parametrize("version", [6, 8, 9])
    def test_a_log_file_that_the_timeline_names_must_exist(self, tmp_path: Path, version: int):
        """Its changes would be missing without a word; slices that are not read may lack theirs."""
        builder = TableBuilder(tmp_path, version)
        builder.commit(10, [builder.base_file(10, ROWS)])
        stat = builder.log_file(10 if version == 6 else 20, [builder.data(20, ROWS)])
        builder.commit(20, [stat])
        (tmp_path / str(stat.path)).unlink()
        with pytest.raises(HudiError) as caught:
            slices(tmp_path)
        assert (caught.value.reason, caught.value.file) == ("LOG_FILE_MISSING", stat.path)
        assert slices(tmp_path, read_optimized=True) == [("f1", "010", "10", [])]
        builder.commit(30, [builder.base_file(30, ROWS)], action="commit")
        assert slices(tmp_path) == [("f1", "030", "30", [])]

    def test_a_log_file_that_was_deleted_on_purpose_is_not_missed(self, tmp_path: Path):
        """The other logs of its slice are read."""
        builder = TableBuilder(tmp_path)
        builder.commit(10, [builder.base_file(10, ROWS)])
        for at in (20, 30):
            stat = builder.log_file(at, [builder.data(at, ROWS)])
            builder.commit(at, [stat])
        gone = str(stat.path)
        (tmp_path / gone).unlink()
        cleaned = {"north": CleanPartition("north", success_delete_files=(gone.rpartition("/")[2],))}
        data = serialise_clean_metadata(CleanMetadata(tick(40), partition_metadata=cleaned))
        builder.timeline_file(40, "clean", "COMPLETED", data)
        assert slices(tmp_path) == [("f1", "010", "10", ["20.1"])]

    def test_a_clean_on_the_active_timeline_is_enough(self, tmp_path: Path):
        """The history, which has lost its manifest here, is not asked whether it records another one."""
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        self.lose(tmp_path, 10)
        (builder.folder / "history").mkdir()
        (builder.folder / "history" / "_version_").write_bytes(b"1")
        with pytest.raises(HudiError, match="TIMELINE_FILE_CORRUPT"):
            slices(tmp_path)
        cleaned = {"north": CleanPartition("north", success_delete_files=(f"f1_0-1-0_{tick(10)}.parquet",))}
        data = serialise_clean_metadata(CleanMetadata(tick(20), partition_metadata=cleaned))
        builder.timeline_file(20, "clean", "COMPLETED", data)
        assert slices(tmp_path) == []

    def test_a_failed_attempt_does_not_stand_for_the_file_that_the_commit_names(self, tmp_path: Path):
        """What it left has the instant of the commit, and is not what the commit wrote."""
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        named = tmp_path / "north" / f"f1_0-1-0_{tick(10)}.parquet"
        named.rename(named.with_name(f"f1_0-0-0_{tick(10)}.parquet"))
        with pytest.raises(HudiError) as caught:
            slices(tmp_path)
        assert (caught.value.reason, caught.value.file) == ("BASE_FILE_MISSING", f"north/{named.name}")

    def test_a_file_below_that_of_an_archived_write_is_not_missed(self, tmp_path: Path):
        """The write that a savepoint keeps is all that the active timeline still says of the file group."""
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.timeline_file(10, "savepoint", "COMPLETED", b"")
        builder.base_file(20, ROWS)
        builder.commit(30, [builder.base_file(30, ROWS, group="f2")], action="commit")
        self.lose(tmp_path, 10)
        assert slices(tmp_path) == [("f1", "020", "20", []), ("f2", "030", "30", [])]

    @pytest.mark.parametrize("newer", [False, True])
    def test_a_file_is_missed_behind_a_group_that_misses_none(self, tmp_path: Path, newer: object):
        """That one has the file that its commit names, or a newer one, of an archived write."""
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.timeline_file(10, "savepoint", "COMPLETED", b"")
        builder.base_file(20, ROWS)
        lost = builder.base_file(30, ROWS, group="f2")
        builder.commit(30, [lost], action="commit")
        (tmp_path / str(lost.path)).unlink()
        if newer:
            self.lose(tmp_path, 10)
        with pytest.raises(HudiError) as caught:
            slices(tmp_path)
        assert (caught.value.reason, caught.value.file) == ("BASE_FILE_MISSING", lost.path)

    def test_as_of_before_what_a_clean_retained_is_refused(self, tmp_path: Path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [builder.base_file(20, ROWS)], action="commit")
        builder.clean(30, earliest=20)
        with pytest.raises(HudiError) as caught:
            slices(tmp_path, as_of=tick(15))
        assert caught.value.reason == "RANGE_NOT_RETAINED"
        assert slices(tmp_path, as_of=tick(20)) == [("f1", "020", "20", [])]


@pytest.mark.parametrize("time", ["yesterday", "2025", "20251301000000000", ""])
def test_as_of_takes_an_instant(tmp_path: Path, time: str):
    TableBuilder(tmp_path)
    with pytest.raises(HudiError) as caught:
        slices(tmp_path, as_of=time)
    assert caught.value.reason == "INSTANT_MALFORMED"


def test_the_state_as_of_a_time_has_its_logs_unless_read_optimized(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])])
    storage = open_storage(tmp_path)
    for params, logs in (({}, 1), ({"read_optimized": True}, 0)):
        (one,) = load_snapshot(storage, RELEASED, **params).slices
        assert len(one.log_files) == logs


def test_a_pending_compaction_joins_the_slice_right_before_it(tmp_path: Path):
    """Older slices stay apart; of two that wait one after the other both are joined."""
    builder = TableBuilder(tmp_path)
    for at in (10, 20):
        builder.commit(at, [builder.base_file(at, ROWS)], action="commit")
    for waits, at in ((30, 40), (50, 60)):
        builder.pending_compaction(waits, "f1")
        builder.commit(at, [builder.log_file(at, [builder.data(at, ROWS)])])
        logs = [f"{time}.1" for time in (40, 60) if time <= at]
        assert slices(tmp_path) == [("f1", "020", "20", logs)]
