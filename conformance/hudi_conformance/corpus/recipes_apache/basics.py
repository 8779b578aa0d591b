"""The everyday histories, in each table version by its own release, and by 1.1.1 on request."""

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_in_part,
    base_files_only,
    counted_range,
    description,
    exact_request,
    file_slices,
    filtered_after_merging,
    first_commit,
    last_but_one,
    meta_fields,
    past_in_part,
    since_first,
    some_columns,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, TableWriter, payload

_LOGS = ("base-parquet", "log-avro", "log-delete")


def _without_late_rows(table: WrittenTable) -> None:
    then = "no row that came late and lost, and no deleted one, is found"
    table.snapshot("filter-late", then, "RD-012 RD-004", "filter-ignored", filter=["ts", "<=", 150])


def query_cow_upserts(table: WrittenTable) -> None:
    """Two inserts, upserts with late rows, rows that mark themselves deleted, a delete operation."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004 TT-001", "oldest-base-file")
    one_partition = {"filter": ["region", "=", "north"], "columns": ["id", "ts"]}
    table.snapshot("one-partition", "only rows of it are there", "RD-012 RD-004", "oldest-base-file", **one_partition)
    _without_late_rows(table)
    first_commit(table)
    exact_request(table, "as-of-exclusive as-of-reads-everything")
    file_slices(table, "oldest-base-file")
    timeline(table)
    meta_fields(table)


def query_cow_late_data(table: WrittenTable) -> None:
    """Late rows, rows that mark themselves deleted, a delete operation."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004", "oldest-base-file")
    _without_late_rows(table)
    some_columns(table, "oldest-base-file")
    first_commit(table)
    last_but_one(table, "the delete operation has not been requested", "RD-010")
    exact_request(table)
    timeline(table)
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
    past_in_part(table)
    counted_range(table, table.after(0))


@kept(
    "v9/apache_cow_late_data",
    by="1.1.1",
    title="Copy-on-write, event time: late rows lose, deletes of both kinds",
    features=("base-parquet", "merge-event-time"),
    queries=query_cow_late_data,
)
@kept(
    "v8/apache_cow_deletes",
    by="1.0.2",
    title="Version 8, copy-on-write, event time, folders without field names: late rows and deletes",
    features=("base-parquet", "merge-event-time"),
    queries=query_cow_late_data,
    given="Late rows, rows that mark themselves deleted, a delete operation; folders without field names.",
)
@kept(
    "v6/apache_cow_upserts",
    by="0.15.0",
    title="Version 6, copy-on-write: upserts, late rows, deletes of both kinds",
    features=("base-parquet",),
    queries=query_cow_upserts,
)
def cow_late_data(table: TableWriter) -> None:
    """Two inserts, an upsert in which some rows are late, rows that mark themselves deleted, a delete operation."""
    table.configure(EVENT_TIME)
    if table.version == 8:
        table.configure({"hoodie.datasource.write.hive_style_partitioning": "false"})
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7,), 300, "delete"))
    if table.version == 6:
        table.upsert(orders((4, 12), 120, "back"))


_DECIDE = "ordering values and deletes decide"
_DECIDE_KILLS = "event-time-ignores-ordering deletes-ignored"


def query_event_time(table: WrittenTable) -> None:
    """Late rows, deletes with and without ordering value, a deleted key again."""
    old = table.version == 6
    of_version = {6: "MG-009 PR-006", 9: "MG-012 PR-006"}.get(table.version)
    clauses = "MG-003 MG-005 MG-006" + ("" if table.version == 8 else " MG-013")
    table.snapshot("snapshot", _DECIDE, clauses, _DECIDE_KILLS)
    first_commit(table)
    last_but_one(table, "the returning key is not back yet", "MG-005 LF-016" if old else "MG-005 RD-010")
    if not old:
        exact_request(table)
    base_files_only(table)
    file_slices(table, clauses="RD-006 RD-007" if old else "RD-005 RD-007")
    if of_version:
        description(table, of_version, "mode-always-commit-time")
    some_columns(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    if table.version == 8:
        since_first(table)
    past_in_part(table)
    base_files_in_part(table)
    counted_range(table, table.after(0))


def query_event_time_by_1_1(table: WrittenTable) -> None:
    """The same steps by release 1.1.1, asked to write version 6: properties carry names of both times."""
    table.snapshot("snapshot", _DECIDE, "MG-003 MG-005 MG-006 MG-013", _DECIDE_KILLS)
    first_commit(table)
    last_but_one(table, "the returning key is not back yet", "MG-005 LF-016")
    base_files_only(table)
    description(table, "PR-006 MG-009", "mode-always-commit-time")
    some_columns(table)
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")


@kept(
    "v9/apache_mor_event_time",
    by="1.1.1",
    title="Merge-on-read, event time: late rows, soft and hard deletes, a key that returns",
    features=(*_LOGS, "record-positions", "merge-event-time"),
    queries=query_event_time,
)
@kept(
    "v8/apache_mor_event_time",
    by="1.0.2",
    title="Version 8, merge-on-read, event time: late rows, soft and hard deletes, a key that returns",
    features=(*_LOGS, "record-positions", "merge-event-time"),
    queries=query_event_time,
    given="Late rows, deletes with and without ordering value, a deleted key again; written by release 1.0.2.",
)
@kept(
    "v6/apache_mor_event_time",
    by="0.15.0",
    title="Version 6, merge-on-read, DefaultHoodieRecordPayload: late rows, soft and hard deletes, a key that returns",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_event_time,
    given="Late rows, deletes with and without ordering value, a deleted key again; written by release 0.15.",
)
@kept(
    "v6/apache_mor_event_time_by_1_1",
    by="1.1.1",
    title="Version 6 as Apache Hudi 1.1.1 writes it on request, merge-on-read, event time",
    features=(*_LOGS, "payload-DefaultHoodieRecordPayload"),
    queries=query_event_time_by_1_1,
)
def mor_event_time(table: TableWriter) -> None:
    """Two inserts, logs with newer and late rows, deletes with and without ordering value, a deleted key again."""
    table.order_by_event_time()
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2, 3), 50, "late")])
    table.upsert([*deletes((4, 5), 150), *deletes((6,), 10)])
    table.delete(orders((7, 8), 300, "delete"))
    low = [] if table.version == 8 else orders((8,), 90, "back, low")
    table.upsert([*low, *orders((4,), 160, "back, high"), *orders((5,), 120, "back, late")])


# By version: the clauses of the snapshot and what it kills, then the same of the state before the last write.
_LAST_WINS = {
    6: ("MG-002 MG-009", "commit-time-by-ordering"),
    8: ("MG-002", "commit-time-by-ordering"),
    9: ("MG-002 MG-001", "log-order-reversed"),
}
_NOT_BACK = {6: ("MG-005 LF-016",), 8: ("MG-005 RD-010",), 9: ("MG-005 RD-010", "deletes-ignored")}


def query_commit_time(table: WrittenTable) -> None:
    """No ordering field: upserts, a delete and its key again; no partitions."""
    table.snapshot("snapshot", "the last write of a key stands", *_LAST_WINS[table.version])
    first_commit(table)
    last_but_one(table, "the deleted key is not back yet", *_NOT_BACK[table.version])
    base_files_only(table)
    description(table, "MG-009 MG-001" if table.version == 6 else "MG-012 MG-001", "mode-always-event-time")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table, "incremental-unmerged")


@kept(
    "v9/apache_mor_commit_time",
    by="1.1.1",
    title="Merge-on-read, commit time, not partitioned: the last write wins whatever its ts",
    features=(*_LOGS, "merge-commit-time"),
    queries=query_commit_time,
)
@kept(
    "v8/apache_mor_commit_time",
    by="1.1.1",
    title="Version 8 as Apache Hudi 1.1.1 writes it on request, merge-on-read, commit time, not partitioned",
    features=(*_LOGS, "record-positions", "merge-commit-time"),
    queries=query_commit_time,
    given="Upserts whose ordering values fall, commit time ordering, a delete and its key again.",
)
@kept(
    "v6/apache_mor_commit_time",
    by="0.15.0",
    title="Version 6, merge-on-read, OverwriteWithLatestAvroPayload, not partitioned",
    features=(*_LOGS, "payload-OverwriteWithLatestAvroPayload"),
    queries=query_commit_time,
    given="Upserts whose ordering values fall, under the payload that overwrites; a delete, and the key again.",
)
def mor_commit_time(table: TableWriter) -> None:
    """Upserts whose ts falls, a delete, its key again.

    Before version 9 there is an ordering field, and a payload that ignores it; in version 6 each key is in at most
    one log after the base.
    """
    table.configure(NOT_PARTITIONED)
    if table.version < 9:
        table.configure({**EVENT_TIME, **payload("OverwriteWithLatestAvroPayload")})
    table.write(orders(range(6), 100, "first"), "insert")
    table.write(orders(range(6, 10), 100, "second"), "insert")
    table.upsert(orders((0, 1, 2, 6), 50, "older ts, later write"))
    table.delete(orders((3, 7), 10, "delete"))
    back = [] if table.version == 6 else orders((3,), 5, "back")
    table.upsert([*back, *orders((4,), 300, "update"), *deletes((5,), 1)])
