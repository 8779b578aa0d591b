"""File groups and slices by themselves: how files are gathered, and what stands in which order."""

from dataclasses import replace
from pathlib import Path

from engine_tables import TableBuilder, row, tick
from hudi_format.storage import open_storage
from hudi_spark.table_state import (
    FileListing,
    SlicingRules,
    all_slices,
    completion_times,
    list_file_groups,
    snapshot_at,
    stored_files,
    visibility,
)
from hudi_spark.testing import RELEASED, FileSlice, load_table


def test_write_tokens_order_logs_of_one_version_however_they_are_listed(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    stats = [builder.log_file(10, [], token=f"0-{n}-0") for n in (1, 2)]
    builder.commit(10, stats)
    storage = open_storage(tmp_path)
    listing = stored_files(storage)
    for each in (listing, replace(listing, files=listing.files[::-1])):
        (one,) = snapshot_at(storage, load_table(storage), RELEASED, None, "requested", listing=each).slices
        assert one.log_files == tuple(stat.path for stat in stats)


def test_all_slices_are_those_of_base_files_and_of_pending_compactions(tmp_path: Path):
    """A log written since a compaction was requested is of the slice that this opened: only readers join the two."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("k1", 1)])])
    builder.commit(20, [builder.log_file(20, [])])
    builder.pending_compaction(30, "f1")
    builder.commit(40, [builder.log_file(40, [])])
    storage = open_storage(tmp_path)
    timeline = load_table(storage)[1]
    seen = visibility(timeline, None, "requested")
    rules = SlicingRules(seen, None, frozenset(), completion_times(timeline), logs_by_completion=True, text_order=False)
    ((id_, group),) = list_file_groups(storage).items()
    found = all_slices(id_, group, (tick(30),), rules)
    logs = [f"north/.f1_{tick(n)}.log.1_0-1-0" for n in (20, 40)]
    assert found == (
        FileSlice("north", "f1", tick(10), f"north/f1_0-1-0_{tick(10)}.parquet", (logs[0],)),
        FileSlice("north", "f1", tick(30), None, (logs[1],)),
    )


def test_file_groups_are_those_of_the_listing_where_there_is_one(tmp_path: Path):
    TableBuilder(tmp_path).base_file(10, [row("k1", 1)])
    storage = open_storage(tmp_path)
    assert list(list_file_groups(storage)) == [("north", "f1")]
    assert list_file_groups(storage, FileListing(())) == {}


def test_a_slice_is_shown_by_its_place_and_the_names_of_its_files():
    """Without a partition, and without a base file, as well."""
    whole = FileSlice("north", "f1", "10", "north/f1_0-1-0_10.parquet", ("north/.f1_20.log.1",))
    assert str(whole) == "north/f1 @ 10: f1_0-1-0_10.parquet + .f1_20.log.1"
    assert str(FileSlice("", "f1", "10", None, ())) == "./f1 @ 10: no base file"
