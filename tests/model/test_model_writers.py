from collections.abc import Mapping
from typing import Any

import pytest
from hudi_conformance.corpus.golden.layout import copy_on_write, merge_on_read
from hudi_model.actions import Action, CommitMetadata, CompactionOperation, CompactionPlan, State, TimelineEntry
from hudi_model.creation import create_table
from hudi_model.effects import CreateInstant, DeleteMarkers, PutBaseFile, PutLogFile, PutMarker, WriteHeartbeat, perform
from hudi_model.files import META_FIELDS, DataBlock, DeleteBlock, Field, Record, Schema
from hudi_model.incremental import read_changes
from hudi_model.queries import Selection, read_snapshot
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation, Request, number
from hudi_model.tables import Table
from hudi_model.time import tick
from hudi_model.writers import abort, begin, commit, stage, write
from hudi_model_tools.violations import violations
from hypothesis import given
from hypothesis import strategies as st

SCHEMA = Schema((Field("id", "string"), Field("city", "string"), Field("ts", "int64"), Field("note", "string")))
VERSIONS = ("6", "8", "9")
TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
BUCKETS = {"hoodie.index.type": "BUCKET"}


def new(version: str = "9", kind: str = "MERGE_ON_READ", **more: str) -> Table:
    stated = {
        "hoodie.table.name": "t",
        "hoodie.table.version": version,
        "hoodie.table.type": kind,
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "city",
        "hoodie.table.ordering.fields": "ts",
    }
    return create_table({**stated, **{name.replace("_", "."): text for name, text in more.items()}}, SCHEMA)


def row(key: str, ts: int = 1, note: str | None = "one", city: str = "oslo", **more: Any) -> Record:
    return Record({"id": key, "city": city, "ts": ts, "note": note, **more})


def after(table: Table, *requests: Request) -> Table:
    start = len(table.timeline)
    for place, request in enumerate(requests):
        table = write(table, request, tick(10 * start + 2 * place + 1), tick(10 * start + 2 * place + 2))
    return table


def upsert(*rows: Record, **settings: str) -> Request:
    return Request(Operation.UPSERT, rows, settings=settings)


def rows(table: Table) -> set[tuple[Any, ...]]:
    return {(one["id"], one["city"], one["ts"], one["note"]) for one in read_snapshot(table).rows}


def last(table: Table) -> CommitMetadata:
    content = table.timeline[-1].content
    assert isinstance(content, CommitMetadata)
    return content


@pytest.mark.parametrize("layout", [make(int(one)) for make in (copy_on_write, merge_on_read) for one in VERSIONS])
def test_a_new_table_has_the_properties_that_released_tables_have(layout: Any) -> None:
    """Recipes of golden tables, which Apache Hudi reads, state the same properties by hand."""
    expected = layout.table_properties("t")
    named = {
        "hoodie.table.name": "t",
        "hoodie.table.version": str(layout.version),
        "hoodie.table.type": layout.table_type,
        "hoodie.table.recordkey.fields": "id",
        "hoodie.table.partition.fields": "city",
        "hoodie.table.ordering.fields": "ts",
    }
    assert create_table(named, SCHEMA).properties == expected


@pytest.mark.parametrize(
    "more",
    [
        {"hoodie_table_name": ""},
        {"hoodie_table_type": "MERGE_ON_WRITE"},
        {"hoodie_table_version": "7"},
        {"hoodie_record_merge_mode": "NEWEST"},
        {"hoodie_table_recordkey_fields": "key"},
        {"hoodie_table_partition_fields": "country"},
        {"hoodie_table_ordering_fields": "time"},
    ],
)
def test_a_table_that_cannot_be_is_not_made(more: Mapping[str, str]) -> None:
    """The first write would find out, and leave a table nobody can use."""
    with pytest.raises(Rejection) as found:
        new(**more)
    assert found.value.reason is Reason.CONFIG_INVALID


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", TYPES)
def test_writes_one_after_another(version: str, kind: str) -> None:
    """Each operation does to a small table what its name says, and leaves it sound."""
    table = after(new(version, kind), Request(Operation.INSERT, (row("a"), row("b", city="lima"))))
    table = after(table, upsert(row("a", 2, "two"), row("b", 0, "late", "lima"), row("c")))
    assert rows(table) == {("a", "oslo", 2, "two"), ("b", "lima", 1, "one"), ("c", "oslo", 1, "one")}
    table = after(table, Request(Operation.DELETE, (row("c"), row("unknown"))))
    assert rows(table) == {("a", "oslo", 2, "two"), ("b", "lima", 1, "one")}
    table = after(table, Request(Operation.INSERT_OVERWRITE, (row("d"),)))
    assert rows(table) == {("d", "oslo", 1, "one"), ("b", "lima", 1, "one")}
    table = after(table, Request(Operation.DELETE_PARTITION, partitions=("oslo",)))
    assert rows(table) == {("b", "lima", 1, "one")}
    table = after(table, Request(Operation.INSERT_OVERWRITE_TABLE, (row("e"),)))
    assert rows(table) == {("e", "oslo", 1, "one")}
    assert violations(table) == ()
    names = ["INSERT", "UPSERT", "DELETE", "INSERT_OVERWRITE", "DELETE_PARTITION", "INSERT_OVERWRITE_TABLE"]
    contents = [one.content for one in table.timeline if isinstance(one.content, CommitMetadata)]
    assert [one.operation for one in contents] == names
    actions = [one.action for one in table.timeline if one.state is State.COMPLETED]
    usual = Action.COMMIT if kind == "COPY_ON_WRITE" else Action.DELTA_COMMIT
    assert actions == [usual] * 3 + [Action.REPLACE_COMMIT] * 3


def test_inserts_keep_repeated_keys_unless_combined() -> None:
    """An insert does not look keys up, and combines its own rows only by a setting."""
    twice = (row("a"), row("a", 2, "two"))
    assert len(read_snapshot(after(new(), Request(Operation.INSERT, twice))).rows) == 2
    combining = Request(Operation.INSERT, twice, settings={"hoodie.combine.before.insert": "true"})
    assert rows(after(new(), combining)) == {("a", "oslo", 2, "two")}


def test_meta_fields_of_new_and_carried_rows() -> None:
    """A carried row keeps its commit time and sequence number, and names the file it lies in now."""
    table = after(new(kind="COPY_ON_WRITE"), upsert(row("a"), row("b")), upsert(row("a", 2)))
    found = {
        one["id"]: [one[name] for name in META_FIELDS]
        for one in read_snapshot(table, selection=Selection(meta_columns=True)).rows
    }
    name = table.base_files[-1].name
    assert found["a"] == [tick(3), f"{tick(3)}_0_0", "a", "oslo", name]
    assert found["b"] == [tick(1), f"{tick(1)}_0_1", "b", "oslo", name]


def test_write_statistics_of_base_files() -> None:
    """Counts and the instant before, as services and metrics read them."""
    table = after(new(kind="COPY_ON_WRITE"), upsert(row("a"), row("b"), row("c")))
    assert [(one.previous_instant, one.writes, one.inserts) for one in last(table).write_stats] == [("null", 3, 3)]
    gone = row("b", 2, _hoodie_is_deleted=True)
    table = after(table, upsert(row("a", 2), gone))
    (stat,) = last(table).write_stats
    assert (stat.previous_instant, stat.writes, stat.inserts, stat.updates, stat.deletes) == (tick(1), 2, 0, 1, 1)
    assert stat.path == f"oslo/{table.base_files[-1].name}"


@pytest.mark.parametrize(("version", "named"), [("6", 1), ("8", 3), ("9", 3)])
def test_logs_are_named_after_their_slice_or_their_own_instant(version: str, named: int) -> None:
    """Version 6 readers find a slice's logs by its instant, later ones by the completion of the log's own."""
    table = after(new(version), upsert(row("a")), upsert(row("a", 2)))
    (log,) = table.log_files
    assert log.instant == tick(named)
    assert last(table).write_stats[0].previous_instant == tick(named)


def test_version_6_logs_count_up_and_follow_a_planned_compaction() -> None:
    """The next log of a slice has the next version; after a plan it opens the slice that the plan will make."""
    table = after(new("6"), upsert(row("a")), upsert(row("a", 2)), upsert(row("a", 3)))
    assert [one.version for one in table.log_files] == [1, 2]
    base = table.base_files[0]
    plan = CompactionPlan((CompactionOperation("oslo", base.file_id, base.instant, base.name, ()),))
    requested = TimelineEntry(
        tick(90), Action.COMPACTION, State.REQUESTED, None, plan, f"{tick(90)}.compaction.requested"
    )
    table = after(perform(table, (CreateInstant(requested),)), upsert(row("a", 4)))
    assert (table.log_files[-1].instant, table.log_files[-1].version) == (tick(90), 1)
    assert rows(table) == {("a", "oslo", 4, "one")}


def test_a_log_holds_rows_then_tombstones_with_their_ordering_values() -> None:
    """A soft delete competes by its value, a delete operation by the integer 0 that stands for none."""
    table = after(new(), upsert(row("a"), row("b")), upsert(row("b", 7, _hoodie_is_deleted=True), row("a", 2)))
    data, gone = table.log_files[-1].blocks  # type: ignore[misc]
    assert isinstance(data, DataBlock)
    assert isinstance(gone, DeleteBlock)
    assert [(one.key, one.ordering) for one in gone.deletes] == [("b", 7)]  # type: ignore[union-attr]
    table = after(table, Request(Operation.DELETE, (row("a"),)))
    (gone,) = table.log_files[-1].blocks  # type: ignore[misc]
    assert isinstance(gone, DeleteBlock)
    assert [(one.key, one.ordering, one.zero_is_value) for one in gone.deletes] == [("a", 0, False)]  # type: ignore[union-attr]


def test_effects_come_in_their_durable_order() -> None:
    """Whoever finds a write half done must be able to tell what it was about to do."""
    table = new()
    started_write, first = begin(table, upsert(row("a")), tick(1))
    assert [type(one) for one in first] == [WriteHeartbeat, CreateInstant]
    table = perform(table, first)
    staged, second = stage(table, started_write)
    kinds = [type(one).__name__ for one in second]
    assert kinds == ["CreateInstant", "PutMarker", "PutPartitionMetafile", "PutBaseFile"]
    table = perform(table, second)
    third = commit(table, staged, tick(2))
    assert [type(one) for one in third] == [CreateInstant, DeleteMarkers, WriteHeartbeat]


def test_a_single_writer_writes_no_heartbeat() -> None:
    """Where failed writes are rolled back at once, nobody asks whether they live."""
    request = upsert(row("a"), **{"hoodie.clean.failed.writes.policy": "EAGER"})
    table = after(new(), request)
    assert table.heartbeats == frozenset()
    assert not any(isinstance(one, WriteHeartbeat) for one in begin(new(), request, tick(1))[1])


def test_an_aborted_write_leaves_nothing() -> None:
    """Its files, markers, heartbeat and instants go."""
    start = after(new(), upsert(row("a")))
    started_write, first = begin(start, upsert(row("a", 2), row("b")), tick(100))
    table = perform(start, first)
    _, second = stage(table, started_write)
    table = perform(perform(table, second), abort(perform(table, second), started_write))
    assert table == start


def test_partial_updates() -> None:
    """Only columns that the update brings change; version 6 takes none."""
    change = Request(Operation.PARTIAL_UPDATE, (Record({"id": "a", "city": "oslo", "ts": 2}),))
    for kind in TYPES:
        table = after(new(kind=kind), upsert(row("a", 1, "kept")), change)
        assert rows(table) == {("a", "oslo", 2, "kept")}
    block = after(new(), upsert(row("a")), change).log_files[-1].blocks[0]  # type: ignore[union-attr]
    assert isinstance(block, DataBlock)
    assert block.partial
    assert [one.name for one in block.schema.fields] == ["id", "city", "ts"]  # type: ignore[union-attr]
    with pytest.raises(Rejection, match="partial updates"):
        after(new("6"), change)


@pytest.mark.parametrize("kind", TYPES)
def test_a_row_that_changes_its_partition(kind: str) -> None:
    """A global index moves it as a delete and an insert, or updates it where it is, and late rows move nothing."""
    stays = {"hoodie.index.type": "GLOBAL_SIMPLE", "hoodie.simple.index.update.partition.path": "false"}
    moves = {"hoodie.index.type": "GLOBAL_SIMPLE"}
    start = after(new(kind=kind), upsert(row("a", 5)))
    moved = after(start, upsert(row("a", 6, "there", "lima"), **moves))
    assert rows(moved) == {("a", "lima", 6, "there")}
    assert len(last(moved).write_stats) == 2
    assert rows(after(start, upsert(row("a", 4, "late", "lima"), **moves))) == {("a", "oslo", 5, "one")}
    kept = after(start, upsert(row("a", 6, "here", "lima"), **stays))
    assert [
        one["_hoodie_partition_path"] for one in read_snapshot(kept, selection=Selection(meta_columns=True)).rows
    ] == ["oslo"]
    assert len(rows(after(start, upsert(row("a", 6, "there", "lima"))))) == 2


@pytest.mark.parametrize("version", VERSIONS)
def test_copy_on_write_logs_its_changes(version: str) -> None:
    """A table that keeps a change feed gets one change for each row that a rewritten base file changes."""
    table = new(version, "COPY_ON_WRITE", hoodie_table_cdc_enabled="true")
    table = after(table, upsert(row("a"), row("b"), row("c")), upsert(row("a", 2, "two"), row("c", 0)))
    table = after(table, Request(Operation.DELETE, (row("b"),)))
    assert [one.cdc for one in table.log_files] == [True, True]
    found = [(one["op"], (one["before"] or one["after"])["id"]) for one in read_changes(table, "0").rows]  # type: ignore[call-overload,index]
    assert found == [("i", "a"), ("i", "b"), ("i", "c"), ("u", "a"), ("d", "b")]


def test_rows_without_meta_fields() -> None:
    """A table that does not fill them stores the user's columns alone."""
    table = after(new(hoodie_populate_meta_fields="false"), upsert(row("a")), upsert(row("a", 2, "two")))
    assert rows(table) == {("a", "oslo", 2, "two")}
    stored = table.base_files[0].records
    assert isinstance(stored, tuple)
    assert sorted(stored[0].values) == ["city", "id", "note", "ts"]


def test_an_alone_writer_checks_nothing_and_a_wrong_mode_is_refused() -> None:
    """Who says it is alone takes the consequences."""
    alone = {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
    start = after(new(kind="COPY_ON_WRITE"), upsert(row("a"), row("b")))
    started_write, first = begin(start, upsert(row("a", 2, "lost"), **alone), tick(100))
    other, more = begin(perform(start, first), upsert(row("b", 2), **alone), tick(101))
    table = perform(perform(start, first), more)
    (started_write, first), (other, more) = stage(table, started_write), stage(table, other)
    table = perform(perform(table, first), more)
    table = perform(table, commit(table, started_write, tick(102)))
    table = perform(table, commit(table, other, tick(103)))
    assert rows(table) == {("a", "oslo", 1, "one"), ("b", "oslo", 2, "one")}
    with pytest.raises(Rejection, match="is no mode"):
        begin(start, upsert(row("a"), **{"hoodie.write.concurrency.mode": "ANARCHY"}), tick(100))


@pytest.mark.parametrize(
    ("version", "kind", "operation", "index"),
    [
        ("6", "MERGE_ON_READ", Operation.UPSERT, "BUCKET"),
        ("9", "COPY_ON_WRITE", Operation.UPSERT, "BUCKET"),
        ("9", "MERGE_ON_READ", Operation.UPSERT, "SIMPLE"),
        ("9", "MERGE_ON_READ", Operation.INSERT_OVERWRITE, "BUCKET"),
    ],
)
def test_non_blocking_writers_are_refused(version: str, kind: str, operation: Operation, index: str) -> None:
    """They need logs, buckets, and nothing that is replaced."""
    settings = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL", "hoodie.index.type": index}
    with pytest.raises(Rejection) as found:
        begin(new(version, kind), Request(operation, (row("a"),), settings=settings), tick(1))
    assert found.value.clause == "SW-001"


@pytest.mark.parametrize("mode", ["COMMIT_TIME_ORDERING", "NEWEST"])
def test_a_write_with_another_merge_mode_is_refused(mode: str) -> None:
    """Readers and compaction would merge by the table's mode what the writer merged by its own."""
    with pytest.raises(Rejection) as found:
        begin(new(), upsert(row("a"), **{"hoodie.write.record.merge.mode": mode}), tick(1))
    assert (found.value.reason, found.value.clause) == (Reason.CONFIG_INVALID, "MG-010")
    begin(new(), upsert(row("a"), **{"hoodie.write.record.merge.mode": "EVENT_TIME_ORDERING"}), tick(1))


def test_a_refusal_names_the_other_write_and_the_file_groups() -> None:
    """Who reads the message can look at what the other did."""
    start = after(new(), upsert(row("a")))
    started_write, first = begin(start, upsert(row("a", 2)), tick(100))
    table = perform(start, first)
    staged, second = stage(table, started_write)
    table = write(perform(table, second), upsert(row("a", 3)), tick(101), tick(102))
    with pytest.raises(Rejection, match=f"{tick(101)}.deltacommit touches .*{table.base_files[0].file_id}"):
        commit(table, staged, tick(103))


@given(st.sampled_from(["12", "-1", "x", "", "1.5"]))
def test_numbers_of_settings(text: str) -> None:
    """A text that is no whole number is refused, not taken for another number."""
    settings = {"hoodie.bucket.index.num.buckets": text}
    if text in ("12", "-1"):
        assert number(settings, "hoodie.bucket.index.num.buckets") == int(text)
    else:
        with pytest.raises(Rejection):
            number(settings, "hoodie.bucket.index.num.buckets")


def test_every_file_of_a_write_has_a_marker() -> None:
    """Also the logs of the change feed: who undoes a write finds its files by nothing else."""
    table = after(new(kind="COPY_ON_WRITE", hoodie_table_cdc_enabled="true"), upsert(row("a")))
    started_write, first = begin(table, upsert(row("a", 2), row("b", city="lima")), tick(100))
    _, second = stage(perform(table, first), started_write)
    marked = [one.marker.name for one in second if isinstance(one, PutMarker)]
    assert marked == [one.file.name for one in second if isinstance(one, PutBaseFile | PutLogFile)]
