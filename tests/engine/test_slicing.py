import pytest
from engine_tables import TableBuilder, row, tick
from hudi_format.storage import open_storage
from hudi_spark.errors import HudiError
from hudi_spark.readings import RELEASED, TEXT
from hudi_spark.snapshots import load_snapshot

ROWS = [row("k1", 1)]


def slices(path, readings=RELEASED, **query):
    """(group, base instant, instant of the base file, instants and versions of the logs) of each slice."""
    found = load_snapshot(open_storage(path), readings, **query).slices
    return [
        (one.file_id, one.base_instant[-3:], short(one.base_file), [short(log) for log in one.log_files])
        for one in found
    ]


def short(path):
    """`10` of a base file, `10.2` of a log file of version 2."""
    if path is None:
        return None
    name = path.rpartition("/")[2]
    if name.startswith("."):
        instant, _, version = name[1:].partition("_")[2].partition(".log.")
        return f"{int(instant[-3:])}.{version.partition('_')[0]}"
    return str(int(name.rpartition("_")[2].partition(".")[0][-3:]))


def test_version_6_logs_belong_to_the_slice_that_their_name_says(tmp_path):
    builder = TableBuilder(tmp_path, 6)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(10, [builder.data(20, ROWS)])])
    builder.commit(30, [builder.log_file(10, [builder.data(30, ROWS)], version=2)])
    assert slices(tmp_path) == [("f1", "010", "10", ["10.1", "10.2"])]


@pytest.mark.parametrize("version", [8, 9])
def test_later_logs_belong_to_the_newest_slice_up_to_their_completion(tmp_path, version):
    """A log requested before a compaction and completed after it is merged over the compacted file."""
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])])
    builder.commit(30, [builder.log_file(30, [builder.data(30, ROWS)])], completed=60)
    builder.commit(40, [builder.base_file(40, ROWS)], action="commit", completed=50)
    assert slices(tmp_path) == [("f1", "040", "40", ["30.1"])]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_slice_opened_by_a_pending_compaction_is_joined_with_the_one_before(tmp_path, version):
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(10 if version == 6 else 20, [builder.data(20, ROWS)])])
    builder.pending_compaction(30, "f1")
    builder.commit(40, [builder.log_file(30 if version == 6 else 40, [builder.data(40, ROWS)])])
    logs = ["10.1", "30.1"] if version == 6 else ["20.1", "40.1"]
    assert slices(tmp_path) == [("f1", "010", "10", logs)]
    assert slices(tmp_path, read_optimized=True) == [("f1", "010", "10", [])]


@pytest.mark.parametrize("version", [6, 8, 9])
def test_the_base_file_of_an_unfinished_compaction_is_not_read(tmp_path, version):
    builder = TableBuilder(tmp_path, version)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.pending_compaction(30, "f1", state="INFLIGHT")
    builder.base_file(30, ROWS)
    assert slices(tmp_path) == [("f1", "010", "10", [])]
    assert slices(tmp_path, read_optimized=True) == [("f1", "010", "10", [])]


def test_logs_alone_are_a_slice(tmp_path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.log_file(10, [builder.data(10, ROWS)])], completed=40)
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])], completed=30)
    assert slices(tmp_path) == [("f1", "010", None, ["10.1", "20.1"])]


def test_an_unfinished_first_log_does_not_hide_what_follows(tmp_path):
    """The slice is anchored at the first log that counts."""
    builder = TableBuilder(tmp_path)
    builder.commit(5, [builder.base_file(5, ROWS, group="f0")])
    builder.pending(10)
    builder.log_file(10, [builder.data(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])])
    assert slices(tmp_path)[1:] == [("f1", "020", None, ["20.1"])]


def test_log_order_is_a_reading(tmp_path):
    """Released: by requested time. Text: by completion time."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    builder.commit(20, [builder.log_file(20, [builder.data(20, ROWS)])], completed=60)
    builder.commit(30, [builder.log_file(30, [builder.data(30, ROWS)])], completed=50)
    assert slices(tmp_path) == [("f1", "010", "10", ["20.1", "30.1"])]
    assert slices(tmp_path, TEXT) == [("f1", "010", "10", ["30.1", "20.1"])]


def test_versions_of_logs_compare_as_numbers(tmp_path):
    builder = TableBuilder(tmp_path, 6)
    stats = [builder.base_file(10, ROWS), *(builder.log_file(10, [], version=n) for n in (10, 9, 2))]
    builder.commit(10, stats)
    assert slices(tmp_path) == [("f1", "010", "10", ["10.2", "10.9", "10.10"])]


def test_change_data_logs_are_no_data(tmp_path):
    builder = TableBuilder(tmp_path)
    stats = [builder.base_file(10, ROWS), builder.log_file(20, [builder.data(20, ROWS)])]
    builder.log_file(20, [b"change data"], cdc=True)
    builder.commit(10, stats[:1])
    builder.commit(20, stats[1:])
    assert slices(tmp_path) == [("f1", "010", "10", ["20.1"])]


def test_replaced_groups_are_hidden_from_their_replacement_on(tmp_path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
    stats = [builder.base_file(20, ROWS, group="f2")]
    builder.commit(20, stats, action="replacecommit", replaced={"north": ("f1",)})
    assert slices(tmp_path) == [("f2", "020", "20", [])]
    assert slices(tmp_path, as_of=tick(15)) == [("f1", "010", "10", [])]


def test_the_same_file_id_in_two_partitions_is_two_groups(tmp_path):
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    stats = [builder.base_file(10, ROWS, partition=partition) for partition in ("north", "south/é=1")]
    builder.commit(10, stats, action="commit")
    assert [one.partition for one in load_snapshot(open_storage(tmp_path), RELEASED).slices] == ["north", "south/é=1"]


def test_foreign_files_are_ignored(tmp_path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, ROWS)])
    for name in (".hoodie_partition_metadata", f"{tick(10)}.commit", ".f1.crc", "notes.txt", ".hidden_1.log"):
        (tmp_path / "north" / name).write_bytes(b"")
    assert slices(tmp_path) == [("f1", "010", "10", [])]


class TestMissingBaseFiles:
    def lose(self, path, n):
        (path / "north" / f"f1_0-1-0_{tick(n)}.parquet").unlink()

    def test_a_base_file_that_the_timeline_names_must_exist(self, tmp_path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [builder.base_file(20, ROWS)], action="commit")
        self.lose(tmp_path, 20)
        with pytest.raises(HudiError) as caught:
            slices(tmp_path)
        assert caught.value.reason == "BASE_FILE_MISSING"
        assert caught.value.file.endswith(f"{tick(20)}.parquet")

    def test_a_cleaned_older_base_file_is_not_missed(self, tmp_path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [builder.base_file(20, ROWS)], action="commit")
        self.lose(tmp_path, 10)
        assert slices(tmp_path) == [("f1", "020", "20", [])]

    def test_a_replaced_group_is_not_missed(self, tmp_path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [], action="replacecommit", replaced={"north": ("f1",)})
        self.lose(tmp_path, 10)
        assert slices(tmp_path) == []

    def test_as_of_before_what_a_clean_retained_is_refused(self, tmp_path):
        builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
        builder.commit(10, [builder.base_file(10, ROWS)], action="commit")
        builder.commit(20, [builder.base_file(20, ROWS)], action="commit")
        builder.clean(30, earliest=20)
        with pytest.raises(HudiError) as caught:
            slices(tmp_path, as_of=tick(15))
        assert caught.value.reason == "RANGE_NOT_RETAINED"
        assert slices(tmp_path, as_of=tick(20)) == [("f1", "020", "20", [])]


@pytest.mark.parametrize("time", ["yesterday", "2025", "20251301000000000", ""])
def test_as_of_takes_an_instant(tmp_path, time):
    TableBuilder(tmp_path)
    with pytest.raises(HudiError) as caught:
        slices(tmp_path, as_of=time)
    assert caught.value.reason == "INSTANT_MALFORMED"
