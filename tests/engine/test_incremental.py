"""Rows of a range of time."""

import math
import warnings
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from change_tables import BY_COMMIT_TIME, GrowingTable, archive
from cleaned_tables import WITHOUT_METADATA
from engine_tables import COLUMNS, TableBuilder, avro, row, tick
from hudi_format.log.blocks import HeaderKey
from hudi_format.log.content import data_block
from hudi_format.schemas import META_FIELDS, with_meta_fields
from hudi_spark import HudiError, RangeWarning, read_arrow, read_batches, read_changes, read_incremental
from hudi_spark.testing import TableServices
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_tables import Written, rows

COMPACTED = {"hoodie.compact.inline.max.delta.commits": "1"}
LAST_VERSION = {"hoodie.clean.policy": "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained": "1"}
VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])
LAYOUTS = pytest.mark.parametrize(("version", "mor"), [(6, True), (8, True), (9, True), (9, False)])

_KEYS = st.lists(st.sampled_from("abcd"), max_size=3, unique=True)
HISTORIES = st.lists(st.tuples(_KEYS, _KEYS, st.booleans()), min_size=1, max_size=5)


def grow(path: Path, history: list[tuple[list[str], list[str], bool]], version: int, *, mor: bool) -> list[int]:
    """A table of these writes, each followed by a compaction where its flag says so; the times of its actions."""
    table = GrowingTable(path, version, mor=mor)
    table.write(10, ["a", "b"])
    times = [10]
    for number, (upserts, deletes, compacts) in enumerate(history):
        times.append(20 + 20 * number)
        table.write(times[-1], upserts, [key for key in deletes if key not in upserts])
        if compacts and mor:
            times.append(times[-1] + 10)
            table.compact(times[-1])
    return times


def found(table: Any) -> list[tuple[str, str]]:
    return sorted((one["id"], one["note"]) for one in table.to_pylist())


@LAYOUTS
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=HISTORIES, data=st.data())
def test_a_range_has_the_rows_at_its_end_that_its_writes_brought(
    tmp_path_factory: pytest.TempPathFactory, version: int, mor: bool, history: Any, data: st.DataObject
):
    """Whatever was compacted between: pruned files and pushed filters change no answer."""
    path = tmp_path_factory.mktemp("table")
    times = grow(path, history, version, mor=mor)
    first, second = sorted((data.draw(st.sampled_from([0, *times])), data.draw(st.sampled_from(times))))
    shift = 0 if version == 6 else 1
    begin, end = tick(first + shift) if first else "earliest", tick(second + shift)
    answer = read_incremental(path, begin, end)
    state = read_arrow(path, as_of=end, readings="text", meta_columns=True)
    commit_times = state.column("_hoodie_commit_time")
    own = pc.and_(pc.greater(commit_times, tick(first)), pc.less_equal(commit_times, tick(second)))
    assert found(answer) == found(state.filter(own))


@VERSIONS
def test_a_write_counts_where_it_completed(tmp_path: Path, version: int):
    """An overlapping writer is not missed by a range that begins after its request; version 6 cannot tell."""
    table = GrowingTable(tmp_path, version, mor=False)
    table.write(10, ["a"])
    table.builder.commit(30, [table.builder.base_file(30, [row("c", 1, "fast")], group="f2")], completed=35)
    table.builder.commit(20, [table.builder.base_file(20, [row("b", 1, "slow")], group="f3")], completed=50)
    answer = found(read_incremental(tmp_path, tick(35 if version > 6 else 30)))
    assert answer == ([("b", "slow")] if version > 6 else [])


@pytest.mark.parametrize("readings", ["released", "text"])
def test_a_late_row_is_answered_as_the_reading_says(tmp_path: Path, readings: Any):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 9, "newest")])])
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row("a", 1, "late")])])])
    answer = found(read_incremental(tmp_path, tick(11), readings=readings))
    assert answer == ([("a", "late")] if readings == "released" else [])


def test_a_partial_update_is_completed_from_before_the_range(tmp_path: Path):
    """Half a row is no answer: what the range did not write is taken from the versions before it."""
    builder = TableBuilder(tmp_path, properties=BY_COMMIT_TIME)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "old", price=2.5)])])
    partial = {**dict.fromkeys(META_FIELDS, ""), "_hoodie_commit_time": tick(20), "_hoodie_record_key": "a"}
    schema = with_meta_fields(avro(COLUMNS[:4]))
    values = {**partial, "id": "a", "region": "north", "ts": 2, "note": "new"}
    block = data_block(tick(20), [values], schema, {HeaderKey.IS_PARTIAL: "true"})
    builder.commit(20, [builder.log_file(20, [block])])
    (answer,) = read_incremental(tmp_path, tick(11)).to_pylist()
    assert (answer["note"], answer["price"]) == ("new", 2.5)


def ranges_of(path: Path) -> dict[tuple[int, float], list[tuple[str, str]]]:
    """What each range answers whose bounds are times of requests and completions of `four_writes`, between, or open."""
    bounds = range(10, 50, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RangeWarning)
        return {
            (begin, end): found(
                read_incremental(path, tick(begin) if begin else "0", None if end == math.inf else tick(int(end)))
            )
            for begin in (0, *bounds)
            for end in (*bounds, math.inf)
        }


def four_writes(path: Path, version: int, *, mor: bool) -> GrowingTable:
    """One key is in each of them, one key in each alone; each takes a while."""
    table = GrowingTable(path, version, mor=mor)
    for n in (10, 20, 30, 40):
        table.write(n, ["a", f"k{n}"], completed=n + 5)
    return table


@pytest.mark.parametrize(
    "read",
    [
        read_incremental,
        read_changes,
        lambda path, begin, end: read_batches(path, begin=begin, end=end).read_all(),
    ],
)
def test_a_range_that_ends_before_it_begins_is_empty_and_a_warning(tmp_path: Path, read: Any):
    """It names the line that requested the range. An end at the begin is what a stream meets where nothing is new."""
    four_writes(tmp_path, 9, mor=True)
    with pytest.warns(RangeWarning, match=r"ends before it begins.*swap begin and end") as caught:
        assert read(tmp_path, tick(35), tick(15)).num_rows == 0
    assert [one.filename for one in caught] == [__file__]
    assert read(tmp_path, tick(15), tick(15)).num_rows == 0
    assert read(tmp_path, tick(15), tick(35)).num_rows > 0


@LAYOUTS
def test_archived_writes_are_of_their_ranges(tmp_path: Path, version: int, mor: bool):
    table = four_writes(tmp_path, version, mor=mor)
    before = ranges_of(tmp_path)
    archive(table.builder, 10, 20)
    assert ranges_of(tmp_path) == before


@LAYOUTS
def test_a_write_of_which_the_history_lost_the_content_is_still_of_its_ranges(tmp_path: Path, version: int, mor: bool):
    table = four_writes(tmp_path, version, mor=mor)
    before = ranges_of(tmp_path)
    archive(table.builder, 10, 20, lost=[10])
    assert {one: answer for one, answer in ranges_of(tmp_path).items() if one[1] >= 30} == {
        one: answer for one, answer in before.items() if one[1] >= 30
    }


@pytest.mark.parametrize("version", [6, 9])
def test_archived_writes_name_what_a_range_needs_whatever_a_clean_kept(tmp_path: Path, version: int):
    """A clean that says that it kept less than the end of the range took nothing that the range touched."""
    builder = TableBuilder(tmp_path, version, "COPY_ON_WRITE")
    for n, group in ((10, "f2"), (20, "f1"), (30, "f1"), (40, "f1")):
        builder.commit(n, [builder.base_file(n, [row(f"k{n}", n, "x")], group=group)], action="commit")
    archive(builder, 10, 20)
    builder.clean(50, 40)
    shift = 0 if version == 6 else 1
    for begin in (0, 15, 25):
        answer = read_incremental(tmp_path, tick(begin) if begin else "0", tick(30 + shift))
        assert [key for key, _ in found(answer)] == [*(["k10"] if not begin else []), "k30"]


@LAYOUTS
def test_rows_of_writes_that_no_timeline_records_stand_where_their_writes_were_requested(
    tmp_path: Path, version: int, mor: bool
):
    """Those of writes that are recorded stand where these completed, before version 8 where they were requested."""
    table = four_writes(tmp_path, version, mor=mor)
    for n in (10, 20):
        for file in table.builder.folder.glob(f"{tick(n)}*"):
            file.unlink()
    stands = {10: 10, 20: 20, **{n: n if version == 6 else n + 5 for n in (30, 40)}}
    for (begin, end), answered in ranges_of(tmp_path).items():
        if end >= stands[30]:
            inside = {f"k{n}" for n, at in stands.items() if begin < at <= end}
            assert {key for key, _ in answered} - {"a"} == inside, (begin, end)


def test_a_range_of_recorded_writes_is_answered_whatever_a_clean_kept_of_others(tmp_path: Path):
    """It begins with the first recorded write; others are not recorded, and a clean kept less than the range needs."""
    builder = TableBuilder(tmp_path, 6, "COPY_ON_WRITE")
    for n, group in ((10, "f2"), (20, "f1"), (30, "f1"), (40, "f1")):
        builder.commit(n, [builder.base_file(n, [row(f"k{n}", n, "x")], group=group)])
    for file in builder.folder.glob(f"{tick(10)}*"):
        file.unlink()
    builder.clean(50, 40)
    for begin in (20, 25):
        assert [key for key, _ in found(read_incremental(tmp_path, tick(begin), tick(35)))] == ["k30"]
    with pytest.raises(HudiError, match="RANGE_NOT_RETAINED"):
        read_incremental(tmp_path, tick(15), tick(35))


@pytest.mark.filterwarnings("ignore::hudi_spark.errors.RangeWarning")
def test_a_table_without_commits_has_nothing_in_any_range(tmp_path: Path):
    table = Written(tmp_path / "table")
    for begin, end in (("earliest", None), (tick(1), None), (tick(1), tick(2)), (tick(2), tick(1))):
        assert read_incremental(table.path, begin, end).num_rows == 0


def test_only_the_file_groups_that_a_range_touched_are_needed(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "first")])])
    builder.commit(20, [builder.base_file(20, [row("b", 1, "second")], group="f2")])
    next(tmp_path.glob("north/f1*")).unlink()
    assert found(read_incremental(tmp_path, tick(11))) == [("b", "second")]
    with pytest.raises(HudiError, match="BASE_FILE_MISSING"):
        read_incremental(tmp_path, "earliest")


def test_a_filter_leaves_out_the_slices_of_other_partitions(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    stats = [builder.base_file(10, [row("a", 1, "first")])]
    stats += [builder.base_file(10, [row("b", 1, "second", region="süd")], group="f2", partition="süd")]
    builder.commit(10, stats)
    next(tmp_path.glob("north/f1*")).write_bytes(b"torn")
    answer = read_incremental(tmp_path, "earliest", filter=["region", "=", "süd"])
    assert found(answer) == [("b", "second")]
    with pytest.raises(HudiError, match="BASE_FILE_CORRUPT"):
        read_incremental(tmp_path, "earliest", filter=["region", "=", "north"])


@pytest.mark.parametrize("begin", ["earliest", "0", "000", "00000000000000"])
def test_nothing_but_zeros_leaves_the_begin_open(tmp_path: Path, begin: str):
    assert found(read_incremental(small(tmp_path), begin)) == [("a", "first"), ("b", "second")]


def small(path: Path) -> Path:
    """A table of two writes."""
    builder = TableBuilder(path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "first")])])
    builder.commit(20, [builder.base_file(20, [row("b", 1, "second")], group="f2")])
    return path


@pytest.mark.parametrize("begin", ["", "yesterday", "2025", "20251301000000000"])
def test_a_bound_that_is_no_instant_is_refused(tmp_path: Path, begin: str):
    with pytest.raises(HudiError, match="INSTANT_MALFORMED"):
        read_incremental(small(tmp_path), begin)


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_range_of_services_alone_is_empty_also_where_its_slices_were_cleaned(tmp_path: Path, version: int):
    """A compaction brings no rows; that its base files are gone since takes nothing from the answer."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=WITHOUT_METADATA)
    table.write("insert", rows(range(4)))
    before = table.write("upsert", rows(range(4), ts=2, price=2.0))
    services = TableServices(table.writer())
    compacted = services.run("compaction", COMPACTED)
    table.write("upsert", rows(range(4), ts=3, price=3.0))
    services.run("compaction", COMPACTED)
    assert services.clean(LAST_VERSION) is not None
    assert compacted is not None
    begin, end = (one.completed or one.requested for one in (before, compacted))
    assert read_incremental(table.path, begin, end).num_rows == 0
    assert read_incremental(table.path, end).num_rows == 4


@pytest.mark.parametrize("version", [6, 8, 9])
def test_a_range_of_services_that_begins_at_a_saved_write_is_empty_whatever_was_cleaned(tmp_path: Path, version: int):
    """A saved write may stand before a gap; where no file is from before the others, nothing is missing."""
    table = Written(tmp_path / "table", "MERGE_ON_READ", version, configs=WITHOUT_METADATA)
    before = table.write("insert", rows(range(4)))
    services = TableServices(table.writer())
    services.savepoint(before.requested)
    clustered = services.run("clustering", {"hoodie.clustering.inline.max.commits": "1"})
    assert clustered is not None
    table.write("upsert", rows(range(4), ts=2, price=2.0))
    services.run("compaction", COMPACTED)
    table.write("upsert", rows(range(4), ts=3, price=3.0))
    services.run("compaction", COMPACTED)
    assert services.clean(LAST_VERSION) is not None
    begin, end = (one.completed or one.requested for one in (before, clustered))
    assert read_incremental(table.path, begin, end).num_rows == 0
    assert read_incremental(table.path, end).num_rows == 4
