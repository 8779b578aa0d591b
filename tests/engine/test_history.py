"""Actions that have left the active timeline."""

from pathlib import Path
from typing import Any

import fastavro
import pytest
from change_tables import GrowingTable, archive, write_history
from engine_tables import TableBuilder, row, tick
from hudi_format.avro.files import read_container
from hudi_format.avro.schemas import writing_schema
from hudi_format.errors import FormatError
from hudi_format.storage import open_storage
from hudi_format.timeline.commit_metadata import parse_commit_metadata
from hudi_format.timeline.headerless import with_header
from hudi_format.timeline.history import HistoryRow
from hudi_spark import HudiError, read_arrow, services_arrow
from hudi_spark.testing import RELEASED, TEXT, archived_instants, full_timeline, load_snapshot, load_table

VERSIONS = pytest.mark.parametrize("version", [6, 8, 9])


def whole(path: Path) -> Any:
    storage = open_storage(path)
    return full_timeline(storage, *load_table(storage))


def grown(path: Path, version: int = 9, *, mor: bool = True) -> GrowingTable:
    table = GrowingTable(path, version, mor=mor)
    for n in (10, 20, 30, 40):
        table.write(n, ["a", f"k{n}"], completed=n + 5)
    return table


@VERSIONS
def test_the_whole_timeline_is_the_one_from_before_the_archival(tmp_path: Path, version: int):
    table = grown(tmp_path, version)
    before = [str(one) for one in whole(tmp_path).instants]
    archive(table.builder, 10, 20)
    assert [str(one) for one in whole(tmp_path).instants] == before
    assert len(load_table(open_storage(tmp_path))[1].instants) == 2


@VERSIONS
def test_an_action_in_both_is_one_completed_action(tmp_path: Path, version: int):
    """What an interrupted archival left of an action's files does not make it pending."""
    table = grown(tmp_path, version)
    archive(table.builder, 10)
    table.builder.pending(10)
    first = whole(tmp_path).instants[0]
    assert (first.requested, first.state) == (tick(10), "COMPLETED")


@VERSIONS
def test_whether_an_action_has_completed_is_known_of_both(tmp_path: Path, version: int):
    """Of an active and of an archived action; one that is pending, or of which nothing is known, has not."""
    table = grown(tmp_path, version)
    archive(table.builder, 10, 20)
    table.builder.pending(50)
    services = services_arrow(tmp_path)
    assert {n: services.has_completed(tick(n)) for n in (5, 10, 20, 25, 30, 40, 50, 60)} == {
        **dict.fromkeys((10, 20, 30, 40), True),
        **dict.fromkeys((5, 25, 50, 60), False),
    }


@VERSIONS
@pytest.mark.parametrize("mor", [True, False])
def test_time_travel_among_archived_writes_sees_what_it_saw(tmp_path: Path, version: int, mor: bool):
    table = grown(tmp_path, version, mor=mor)
    before = [read_arrow(tmp_path, as_of=tick(n + 5), readings="text") for n in (10, 20, 30)]
    archive(table.builder, 10, 20, 30)
    assert [read_arrow(tmp_path, as_of=tick(n + 5), readings="text") for n in (10, 20, 30)] == before


def test_a_file_that_was_cleaned_is_missed_also_where_its_write_is_archived(tmp_path: Path):
    """A state without the file would lack its rows: it is refused, whatever else the clean deleted."""
    builder = TableBuilder(tmp_path)
    for n, group in ((10, "f1"), (20, "f2"), (30, "f2"), (40, "f1")):
        builder.commit(n, [builder.base_file(n, [row(f"k{n}", n, "x")], group=group)])
    deleted = [path for path in (tmp_path / "north").iterdir() if tick(10) in path.name or tick(20) in path.name]
    builder.clean(50, None, *(path.name for path in deleted))
    for path in deleted:
        path.unlink()
    archive(builder, 10)
    assert len(deleted) == 2
    for n in (21, 35):
        with pytest.raises(HudiError, match="RANGE_NOT_RETAINED"):
            read_arrow(tmp_path, as_of=tick(n))
    assert sorted(read_arrow(tmp_path, columns=["id"])["id"].to_pylist()) == ["k30", "k40"]


def test_time_travel_among_archived_writes_knows_what_they_replaced(tmp_path: Path):
    """Without the history every file from before the active timeline would count."""
    builder = TableBuilder(tmp_path, table_type="COPY_ON_WRITE")
    builder.commit(10, [builder.base_file(10, [row("a", 1)])], action="commit")
    stats = [builder.base_file(20, [row("b", 1)], group="f2")]
    builder.commit(20, stats, action="replacecommit", replaced={"north": ("f1",)})
    builder.commit(30, [builder.base_file(30, [row("c", 1)], group="f3")], action="commit")
    archive(builder, 10, 20)
    assert read_arrow(tmp_path, as_of=tick(25)).column("id").to_pylist() == ["b"]
    assert read_arrow(tmp_path, as_of=tick(15)).column("id").to_pylist() == ["a"]


def test_a_log_of_an_archived_write_stays_in_the_slice_that_it_completed_in(tmp_path: Path):
    """It was requested before a compaction and completed after it: by its request it would be of the old slice."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "old")])])
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row("a", 5, "slow writer")])])], completed=40)
    builder.commit(
        30, [builder.base_file(30, [row("a", 1, "old")])], action="commit", operation="COMPACT", completed=35
    )
    builder.commit(50, [builder.base_file(50, [row("z", 1)], group="f2")])
    before = load_snapshot(open_storage(tmp_path), RELEASED).slices
    archive(builder, 10, 20, 30)
    assert load_snapshot(open_storage(tmp_path), RELEASED).slices == before
    assert "slow writer" in read_arrow(tmp_path).column("note").to_pylist()


def test_logs_of_archived_writes_are_merged_in_the_order_of_their_completion(tmp_path: Path):
    """By the text of the specification; no base file came after them, so that their slice is plain without it."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "old")])])
    builder.commit(20, [builder.log_file(20, [builder.data(20, [row("a", 5, "completed last")])])], completed=60)
    builder.commit(30, [builder.log_file(30, [builder.data(30, [row("a", 5, "requested last")])])], completed=50)
    builder.commit(70, [builder.base_file(70, [row("z", 1)], group="f2")])
    before = load_snapshot(open_storage(tmp_path), TEXT).slices
    archive(builder, 10, 20, 30)
    assert load_snapshot(open_storage(tmp_path), TEXT).slices == before
    assert read_arrow(tmp_path, readings="text").column("note").to_pylist() == ["completed last", None]


def test_the_history_is_not_read_where_no_log_can_be_of_a_later_slice(tmp_path: Path):
    """It has lost its manifest; a log named after the newest base file, as version 6 names them, stays with it."""
    builder = TableBuilder(tmp_path)
    builder.base_file(10, [row("a", 1)])
    builder.log_file(10, [builder.data(10, [row("a", 2, "log")])])
    builder.commit(30, [builder.base_file(30, [row("z", 1)], group="f2")])
    (builder.folder / "history").mkdir()
    (builder.folder / "history" / "_version_").write_bytes(b"1")
    assert read_arrow(tmp_path).column("note").to_pylist() == ["log", None]
    builder.log_file(5, [builder.data(5, [row("a", 1)])])
    with pytest.raises(HudiError, match="TIMELINE_FILE_CORRUPT"):
        read_arrow(tmp_path)


def test_a_row_with_its_plan_is_preferred_and_times_stand_once(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    rows = [HistoryRow(tick(10), tick(15), "clean", b"x", plan) for plan in (None, b"plan", None)]
    write_history(builder, rows)
    storage = open_storage(tmp_path)
    (one,) = archived_instants(storage, load_table(storage)[0])
    assert one.archived is not None
    assert one.archived.plan == b"plan"


def test_records_without_a_container_are_read(tmp_path: Path):
    """As the upgrade of 1.0.2 writes them; bytes after the record, or other ones, are refused."""
    builder = TableBuilder(tmp_path)
    builder.commit(10, [builder.base_file(10, [row("a", 1)])])
    data = next(builder.folder.glob(f"{tick(10)}_*")).read_bytes()
    schema, (record,) = read_container(data, "file")
    bare = Path(tmp_path / "bare")
    with bare.open("wb") as stream:
        fastavro.schemaless_writer(stream, writing_schema(schema), record)
    found = with_header(bare.read_bytes(), "deltacommit", "file")
    assert parse_commit_metadata(found, "file") == parse_commit_metadata(data, "file")
    for broken in (bare.read_bytes() + b"\0", b"\xff" * 9):
        with pytest.raises(FormatError, match="TIMELINE_FILE_CORRUPT"):
            with_header(broken, "deltacommit", "file")


def test_a_file_that_the_manifest_names_must_be_there(tmp_path: Path):
    table = grown(tmp_path)
    archive(table.builder, 10)
    next((table.builder.folder / "history").glob("*.parquet")).unlink()
    with pytest.raises(HudiError, match="TIMELINE_FILE_CORRUPT"):
        whole(tmp_path)


def test_a_table_that_never_archived_has_no_history(tmp_path: Path):
    grown(tmp_path)
    storage = open_storage(tmp_path)
    assert archived_instants(storage, load_table(storage)[0]) == ()
