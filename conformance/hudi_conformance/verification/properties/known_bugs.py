"""What documented defects of real writers, services and indexes broke: small histories with few rows."""

from collections.abc import Mapping
from typing import Any

from hudi_model.creation import create_table
from hudi_model.effects import Effects, PutLogFile, perform
from hudi_model.files import DataBlock, Field, Record, Schema, Value
from hudi_model.pruning import read_pruned
from hudi_model.queries import Selection, read_snapshot
from hudi_model.requests import Operation, Request
from hudi_model.services import archival, cleaning, clustering, indexing, rollback
from hudi_model.services.savepoints import delete_savepoint, savepoint
from hudi_model.tables import Table
from hudi_model.tagging import bucket_of
from hudi_model.time import tick
from hudi_model.writers import begin, stage, write
from hudi_model_tools.checks.metadata import metadata_differences
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check

Row = tuple[str, str, int, str]
COLUMNS = ("id", "day", "ts", "note")
SCHEMA = Schema(tuple(Field(name, "int64" if name == "ts" else "string") for name in COLUMNS))
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "8"}
CLEANED = {"hoodie.clean.commits.retained": "1"}
FEW = {"hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4", **CLEANED}
INDEXED = {
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
}
KEYS = st.text("a1:,.- é", min_size=1, max_size=8)
NUMBERS = st.lists(st.integers(0, 120), min_size=1, max_size=5, unique=True)


def new(kind: str = MOR, version: int = 9) -> Table:
    """An empty table, partitioned by day and ordered by ts."""
    ordering = "hoodie.table.ordering.fields" if version > 8 else "hoodie.table.precombine.field"
    named = {"name": "t", "type": kind, "version": str(version), "recordkey.fields": "id", "partition.fields": "day"}
    return create_table({f"hoodie.table.{name}": value for name, value in named.items()} | {ordering: "ts"}, SCHEMA)


def record(row: Row) -> Record:
    """A row of the four columns."""
    return Record(dict(zip(COLUMNS, row, strict=True)))


def wrote(
    table: Table, now: int, *rows: Row, operation: Operation = Operation.UPSERT, settings: Mapping[str, str] = {}
) -> Table:
    """With a write that is requested at a tick and completes five later."""
    return write(table, Request(operation, tuple(map(record, rows)), settings=settings), tick(now), tick(now + 5))


def died(table: Table, now: int, *rows: Row, settings: Mapping[str, str] = {}) -> Table:
    """With a write that died before it completed."""
    started_write, effects = begin(
        table, Request(Operation.UPSERT, tuple(map(record, rows)), settings=settings), tick(now)
    )
    table = perform(table, effects)
    return perform(table, stage(table, started_write)[1])


def served(table: Table, service: Any, now: int, settings: Mapping[str, str], *more: Any) -> Table:
    """With a service that is planned at a tick and completes five later, where it finds something to do."""
    planned = perform(table, service.schedule(table, tick(now), settings, *more))
    return table if planned == table else perform(planned, service.execute(planned, tick(now), tick(now + 5)))


def rows_of(table: Table) -> list[tuple[Value, ...]]:
    """The rows of a snapshot, sorted."""
    return sorted((tuple(row[name] for name in COLUMNS) for row in read_snapshot(table).rows), key=repr)


def refuse_unequal(found: object, wanted: object, table: Table) -> None:
    """Nothing, unless two things differ."""
    if found != wanted:
        raise Counterexample(f"{found} is found, not {wanted}", table)


@model_property(
    "PO-330",
    "The file group of a bucket is the one that a completed write opened, though it has logs only, and no other",
    "OW-003 OW-023",
    broken_by="buckets-without-base-file-unknown groups-of-failed-writes-are-buckets",
    exhaustive=True,
)
def _one_group_a_bucket() -> None:
    table = died(new(), 10, ("a", "d", 1, "failed"), settings=BUCKETS)
    failed = {log.file_id for log in table.log_files}
    table = wrote(table, 20, ("a", "d", 1, "done"), settings=BUCKETS)
    table = wrote(table, 30, ("a", "d", 2, "again"), settings=BUCKETS)
    refuse_unequal(len({log.file_id for log in table.log_files} - failed), 1, table)
    refuse_unequal(rows_of(table), [("a", "d", 2, "again")], table)


@model_property(
    "PO-331",
    "The bucket of a key of one field is that of the whole key, whatever signs it holds",
    "OW-022",
    broken_by="bucket-of-what-follows-a-colon",
)
@property_check
@given(key=KEYS)
def _whole_keys(key: str) -> None:
    table = wrote(new(), 10, (key, "d", 1, "x"), settings=BUCKETS)
    refuse_unequal(table.log_files[0].file_id[:8], f"{bucket_of([key], 8):08d}", table)


@model_property(
    "PO-332",
    "Whole rows are logged in blocks without the mark of partial ones; a partial update sets columns by their names",
    "MG-022 LF-025 OW-025",
    broken_by="inserts-marked-partial partial-columns-by-place",
)
@property_check
@given(texts=st.permutations(("id", "day", "note")), index=st.sampled_from(("SIMPLE", "GLOBAL_SIMPLE")))
def _marks_and_names(texts: list[str], index: str) -> None:
    order = [*texts[:2], "ts", *texts[2:]]
    table = wrote(new(), 10, ("a", "d", 1, "one"))
    table = wrote(table, 20, ("a", "d", 2, "two"))
    values = record(("a", "d", 3, "three")).values
    change = Request(
        Operation.PARTIAL_UPDATE,
        (Record({name: values[name] for name in order}),),
        settings={"hoodie.index.type": index},
    )
    table = write(table, change, tick(30), tick(35))
    marks = [
        block.partial
        for log in table.log_files
        if isinstance(log.blocks, tuple)
        for block in log.blocks
        if isinstance(block, DataBlock)
    ]
    refuse_unequal(marks, [False, True], table)
    refuse_unequal(rows_of(table), [("a", "d", 3, "three")], table)


@model_property(
    "PO-333",
    "An insert that fills a small file adds its rows, whatever rows of their keys are there",
    "OW-012 OW-020",
    broken_by="inserts-into-small-files-merge",
)
@property_check
@given(old=st.integers(0, 9), added=st.integers(0, 9))
def _plain_inserts(old: int, added: int) -> None:
    small = {"hoodie.parquet.small.file.limit": "1000000"}
    table = wrote(new(COW), 10, ("a", "d", old, "old"), operation=Operation.INSERT, settings=small)
    table = wrote(table, 20, ("a", "d", added, "new"), operation=Operation.INSERT, settings=small)
    refuse_unequal(rows_of(table), sorted([("a", "d", old, "old"), ("a", "d", added, "new")], key=repr), table)


@model_property(
    "PO-334",
    "A clean removes old files of every partition, though nothing on the timeline names it any more",
    "CN-001 CN-015",
    broken_by="only-recent-partitions-cleaned",
    exhaustive=True,
)
def _every_partition() -> None:
    for change in (_savepoint_deleted, _writes_archived):
        table = change()
        left = [one.instant for one in table.base_files if one.partition == "p1"]
        refuse_unequal(left, [tick(40)], table)


def _savepoint_deleted() -> Table:
    table = wrote(new(COW), 10, ("a", "p1", 1, "x"))
    table = perform(table, savepoint(table, tick(10), tick(18)))
    for number in (2, 3, 4):
        table = wrote(table, 10 * number, ("a", "p1", number, "x"))
    table = served(table, cleaning, 50, CLEANED)
    for number in (6, 7):
        table = wrote(table, 10 * number, ("b", "p2", number, "x"))
    return served(perform(table, delete_savepoint(table, tick(10))), cleaning, 80, CLEANED)


def _writes_archived() -> Table:
    table = new(COW)
    for number in range(1, 12):
        row = ("a", "p1", number, "x") if number < 5 else ("b", "p2", number, "x")
        table = wrote(table, 10 * number, row)
    return served(perform(table, archival.archive(table, FEW)), cleaning, 200, CLEANED)


@model_property(
    "PO-335",
    "Logs of commands against two writes to one slice have two names, also where both rollbacks run at once",
    "RB-007 SL-023",
    broken_by="every-rollback-has-one-token",
    assumptions="table version 6",
    exhaustive=True,
)
def _names_of_commands() -> None:
    table = wrote(new(version=6), 10, ("k", "p1", 1, "x"), ("l", "p2", 1, "x"))
    for number in (2, 3):
        table = died(table, 10 * number, ("k", "p1", number, "failed"), ("l", "p2", number, "failed"))
    for target, now in ((30, 40), (20, 50)):
        table = perform(table, rollback.schedule(table, tick(now), {}, tick(target)))
    both: list[Effects] = [rollback.execute(table, tick(now), tick(now + 5)) for now in (40, 50)]
    put = [one.file.name for effects in both for one in effects if isinstance(one, PutLogFile)]
    refuse_unequal((len(put), len(set(put))), (4, 4), table)
    for effects in both:
        table = perform(table, effects)
    refuse_unequal(rows_of(table), [("k", "p1", 1, "x"), ("l", "p2", 1, "x")], table)


@model_property(
    "PO-336",
    "Statistics order keys as texts, also where they are numbers",
    "MT-011 IX-053",
    broken_by="keys-have-the-order-of-numbers",
)
@property_check
@given(numbers=NUMBERS)
def _keys_are_texts(numbers: list[int]) -> None:
    table = wrote(new(COW), 10, *((str(one), "d", 1, "x") for one in numbers))
    table = served(table, indexing, 20, {"hoodie.metadata.index.column.stats.enable": "true"})
    for number in numbers:
        found = read_pruned(table, ["_hoodie_record_key", "=", str(number)])
        refuse_unequal([row["id"] for row in found.rows], [str(number)], table)


@model_property(
    "PO-337",
    "Rows that a clustering rewrites keep the time of their write, and name the file in which they lie now",
    "MF-013 CL-007",
    broken_by="file-name-kept",
    exhaustive=True,
)
def _names_of_files() -> None:
    table = wrote(wrote(new(), 10, ("a", "p", 1, "x"), ("b", "p", 1, "y")), 20, ("a", "p", 2, "z"))
    table = served(table, clustering, 30, {"hoodie.clustering.inline.max.commits": "1"})
    rows = read_snapshot(table, selection=Selection(meta_columns=True)).rows
    newest = max(table.base_files, key=lambda file: file.instant).name
    refuse_unequal({str(row["_hoodie_file_name"]) for row in rows}, {newest}, table)
    refuse_unequal({str(row["_hoodie_commit_time"]) for row in rows}, {tick(20), tick(10)}, table)


@model_property(
    "PO-338",
    "A filter on the key finds a row that was inserted after the indexes were built, by whatever index it was written",
    "IX-051 MT-003 IX-021",
    broken_by="metadata-never-updated",
    exhaustive=True,
)
def _new_rows_are_found() -> None:
    kinds: tuple[str, ...] = ("GLOBAL_BLOOM", "RECORD_INDEX", "SIMPLE", "BLOOM", "GLOBAL_SIMPLE")
    table = served(wrote(new(), 10, ("k", "p", 1, "x")), indexing, 20, INDEXED)
    for number, kind in enumerate(kinds):
        chosen = {"hoodie.index.type": kind}
        table = wrote(table, 30 + 10 * number, (kind, "p", 1, "x"), operation=Operation.INSERT, settings=chosen)
        found = [row["id"] for row in read_pruned(table, ["id", "=", kind]).rows]
        refuse_unequal(found, [kind], table)
    refuse_unequal(metadata_differences(table), (), table)
