"""Unusual shapes: composite keys, several ordering fields, changed schemas, log-only slices, overlapping writers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import (
    base_files_only,
    description,
    exact_request,
    file_slices,
    filtered_after_merging,
    first_commit,
    last_but_one,
    meta_fields,
    since_first,
    skipping,
    timeline,
    up_to_last_but_one,
)
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.orders import SCHEMA, deletes, key, order, orders
from hudi_conformance.corpus.recipes_apache.overlaps import write_while_another_writes
from hudi_conformance.corpus.recipes_apache.writer import COMMON, EVENT_TIME, NOT_PARTITIONED, TableWriter

_MOR = ("base-parquet", "log-avro")
_BY_ID = {"hoodie.schema.on.read.enable": "true"}
_BUCKETS = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "2"}


def query_composite_key(table: WrittenTable) -> None:
    """Keys of two fields with null parts, partitions of two levels with encoded characters."""
    table.snapshot(
        "snapshot", "late rows lose key by key", "DM-002 MG-003 PR-021 SL-020 SL-021", "event-time-ignores-ordering"
    )
    first_commit(table)
    exact_request(table)
    file_slices(table, clauses="SL-003 SL-002")
    description(table, "DM-002", "mode-always-commit-time")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)
    skipping(
        table,
        "part-of-a-key",
        ["and", ["number", "in", [2, 8, 11]], ["city", "is_null"]],
        "one field of two is no key, and a missing city lies in the default partition",
        "DM-002 DM-032 IX-055",
        "filter-ignored",
    )


@kept(
    "v9/apache_mor_composite_key",
    by="1.1.1",
    title="A key of two fields, partitions of two levels with encoded characters, null key parts",
    features=(*_MOR, "log-delete", "merge-event-time"),
    queries=query_composite_key,
)
def composite_key(table: TableWriter) -> None:
    """Keys (shop, number) and partitions country/city, url-encoded and not hive style; upserts, late rows, a delete."""
    table.schema = "shop string, number int, country string, city string, ts bigint, note string"
    table.configure(
        {
            **EVENT_TIME,
            "hoodie.datasource.write.recordkey.field": "shop,number",
            "hoodie.datasource.write.partitionpath.field": "country,city",
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.ComplexKeyGenerator",
            "hoodie.datasource.write.hive_style_partitioning": "false",
            "hoodie.datasource.write.partitionpath.urlencode": "true",
        }
    )
    table.write(_sales(range(8), 100, "first"), "insert")
    table.write(_sales(range(8, 12), 100, "second"), "insert")
    table.upsert([*_sales((0, 1, 5), 200, "update"), *_sales((2, 9), 50, "late")])
    table.delete(_sales((3,), 1, "delete"))


def _sales(numbers: range | tuple[int, ...], ts: int, note: str) -> list[tuple[object, ...]]:
    places = (("de", "münchen"), ("de", "a=b?c"), ("fr", None))
    shops = ("a,b", "x:y", "магазин", None)
    return [
        (shops[number % 4], number, *places[number % 3], ts, None if number % 4 == 1 else f"{note} {number}")
        for number in numbers
    ]


def query_two_ordering_fields(table: WrittenTable) -> None:
    """Upserts and deletes that win and lose on the first and on the second ordering field."""
    table.snapshot("snapshot", "the second field decides where the first ties", "MG-007", "first-ordering-field-only")
    first_commit(table)
    exact_request(table)
    last_but_one(table, "the last write is not there yet", "MG-007 RD-010")
    base_files_only(table)
    description(table, "MG-007 PR-006", "first-ordering-field-only")
    meta_fields(table)
    filtered_after_merging(table, "event-time-ignores-ordering")
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_two_ordering_fields",
    by="1.1.1",
    title="Two ordering fields: the second decides where the first ties",
    features=(*_MOR, "log-delete", "merge-event-time"),
    queries=query_two_ordering_fields,
)
def two_ordering_fields(table: TableWriter) -> None:
    """Ordering (ts, version); upserts that win and lose on the first and on the second, soft deletes likewise."""
    table.schema = "id string, region string, ts bigint, version string, note string, _hoodie_is_deleted boolean"
    table.configure(
        {"hoodie.table.ordering.fields": "ts,version", "hoodie.datasource.write.precombine.field": "ts,version"}
    )
    table.write([_versioned(number, 100, "b", "first") for number in range(8)], "insert")
    table.upsert([_versioned(0, 100, "c", "wins"), _versioned(1, 100, "a", "loses"), _versioned(2, 99, "z", "loses")])
    table.upsert([_versioned(3, 101, "a", "wins"), _versioned(4, 100, "b", "ties"), _versioned(0, 100, "b", "loses")])
    table.upsert([_versioned(5, 100, "c", None, deleted=True), _versioned(6, 100, "a", None, deleted=True)])


def _versioned(number: int, ts: int, version: str, note: str | None, *, deleted: bool = False) -> tuple[object, ...]:
    base = order(number, ts, note)
    return base.id, base.region, ts, version, note, deleted


def query_added_column(table: WrittenTable) -> None:
    """A column came with the third write; base files and logs before lack it."""
    table.snapshot(
        "snapshot",
        "older rows have nulls in the new column",
        "DM-003 DM-004 LF-022",
        "schema-of-oldest-commit missing-column-refused",
    )
    first_commit(table)
    exact_request(table)
    base_files_only(table)
    description(table, "DM-003", "schema-of-oldest-commit")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_added_column",
    by="1.1.1",
    title="A column added between commits: older base files and logs lack it",
    features=(*_MOR, "schema-evolution", "merge-event-time"),
    queries=query_added_column,
)
def added_column(table: TableWriter) -> None:
    """Insert and upsert with the first schema, upsert with one column more, insert of a new file group, late rows."""
    table.configure(EVENT_TIME)
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    table.schema = f"{SCHEMA}, channel string"
    table.upsert([(*each, "web") for each in orders((0, 3), 300, "wider")])
    table.write([(*each, "ладья") for each in orders((8, 9), 100, "new")], "insert")
    table.upsert([(*each, None) for each in [*orders((1,), 150, "late"), *orders((4,), 300, "null channel")]])


def query_small_files(table: WrittenTable) -> None:
    """Deltacommits that rewrite small base files, logs before and after."""
    table.snapshot(
        "snapshot",
        "a base file that a deltacommit wrote opens a slice",
        "RD-016",
        "deltacommit-base-file-opens-no-slice",
    )
    first_commit(table)
    exact_request(table)
    base_files_only(table)
    file_slices(table, "oldest-base-file", "RD-016")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_small_files",
    by="1.1.1",
    title="Inserts routed to small files: a deltacommit rewrites a base file, logs on both sides of it",
    features=(*_MOR, "merge-event-time"),
    queries=query_small_files,
)
def small_files(table: TableWriter) -> None:
    """Insert, inserts that join the small base files, an upsert into logs, a mixed upsert, all deltacommits."""
    table.configure({**EVENT_TIME, "hoodie.parquet.small.file.limit": "104857600"})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert(orders((8, 9), 100, "joins a small file"))
    table.upsert([*orders((0, 1, 8), 200, "update"), *orders((2,), 50, "late")])
    table.upsert([*orders((10,), 100, "new"), *orders((3,), 300, "update"), *orders((0,), 150, "late")])


def query_log_only(table: WrittenTable) -> None:
    """Bucket index; updates and deletes in logs, one compaction, a partition that came later."""
    table.snapshot("snapshot", "logs before and after the compaction are merged", "RD-005 RD-017", "deletes-ignored")
    first_commit(table)
    exact_request(table)
    base_files_only(table)
    file_slices(table, "logs-join-newest-slice", "RD-005")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_log_only",
    by="1.1.1",
    title="Bucket index: file groups of logs only, one of them compacted later",
    features=(*_MOR, "log-delete", "merge-event-time"),
    queries=query_log_only,
)
def log_only(table: TableWriter) -> None:
    """Bucket index, so that inserts go to logs; upserts and a delete, a compaction, a new partition of logs only."""
    table.configure({**EVENT_TIME, **_BUCKETS})
    table.upsert(orders(range(0, 8, 2), 100, "first"))
    table.upsert([*orders((0, 2), 200, "update"), *orders((4,), 50, "late"), *deletes((6,), 200)])
    table.schedule_compaction()
    table.compact()
    table.upsert([*orders((1, 3, 5), 100, "other region"), *orders((2,), 150, "late after")])
    table.delete(orders((1,), 1, "delete"))


def query_overlapping_writers(table: WrittenTable) -> None:
    """Non-blocking writers: the first to begin is the last to complete, over the same keys."""
    table.snapshot("snapshot", "the order of the two logs has two readings", "RD-007 RD-005", "log-order-reversed")
    last_but_one(table, "of the overlapping writes the later request stands", "RD-007 RD-010")
    base_files_only(table)
    file_slices(table, clauses="RD-007")
    timeline(table, clauses="TL-011 TL-013")
    meta_fields(table)
    filtered_after_merging(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_mor_overlapping_writers",
    by="1.1.1",
    title="Non-blocking writers: the first to begin is the last to complete",
    features=(*_MOR, "merge-commit-time"),
    queries=query_overlapping_writers,
)
def overlapping_writers(table: TableWriter) -> None:
    """Insert, then one writer begins and reads slowly while a second begins, writes the same keys and completes."""
    table.configure(
        {
            **_BUCKETS,
            "hoodie.table.type": "MERGE_ON_READ",
            "hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING",
            "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
            "hoodie.clean.failed.writes.policy": "LAZY",
            "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
        }
    )
    table.upsert(orders(range(8), 100, "first"))
    write_while_another_writes(table)
    table.upsert(orders((2,), 50, "last"))


def query_bulk_insert(table: WrittenTable) -> None:
    """Two bulk inserts by rows into three groups, then an upsert; no partitions."""
    table.snapshot("snapshot", "the newest base file of each group is read", "RD-004", "oldest-base-file")
    first_commit(table)
    exact_request(table)
    file_slices(table, "oldest-base-file")
    meta_fields(table)
    up_to_last_but_one(table, "range-begin-ignored")
    since_first(table)


@kept(
    "v9/apache_cow_bulk_insert",
    by="1.1.1",
    title="Bulk insert by rows, not partitioned, into three file groups",
    features=("base-parquet", "merge-event-time"),
    queries=query_bulk_insert,
)
def bulk_insert(table: TableWriter) -> None:
    """Two bulk inserts of several tasks each, then an upsert with late rows."""
    table.configure({**EVENT_TIME, **NOT_PARTITIONED, "hoodie.bulkinsert.shuffle.parallelism": "2"})
    table.write(orders(range(8), 100, "first"), "bulk_insert")
    table.write(orders(range(8, 12), 100, "second"), "bulk_insert", hoodie__bulkinsert__shuffle__parallelism="1")
    table.upsert([*orders((0, 5, 9), 200, "update"), *orders((2, 3), 50, f"late {key(2)}")])


def query_altered(table: WrittenTable) -> None:
    """Columns with ids, renamed, dropped, added again and widened; a late row, a delete, a compaction on the way."""
    table.snapshot(
        "snapshot",
        "a column has the values of its id, in the type that it has now",
        "DM-021 DM-020 DM-004",
        "columns-by-name columns-as-of-now",
        configs=_BY_ID,
    )
    table.query(
        "read_as_of",
        "as-of-before-compaction",
        "a file of before all changes has the columns of the first schema, which the history alone holds",
        "DM-021 DM-020 DM-004",
        "columns-by-name oldest-schema-forgotten narrow-floats-as-stored",
        instant=table.commits[-5],
        configs=_BY_ID,
    )
    table.query(
        "read_as_of",
        "as-of-first-commit",
        "the columns are those of the time",
        "DM-021 DM-003 RD-010",
        "columns-of-newest-commit as-of-reads-everything",
        instant=table.after(0),
        configs=_BY_ID,
    )
    table.incremental(
        table.after(0),
        None,
        "incremental-since-first",
        "rows of a range have the columns of the newest commit, found by id",
        "DM-021 IN-009",
        "range-begin-ignored",
        configs=_BY_ID,
    )
    description(table, "DM-021 DM-003", "schema-of-oldest-commit")
    table.snapshot(
        "filter-of-a-renamed-column",
        "a filter sees the values that the column has by its id",
        "DM-021 RD-012",
        "columns-by-name",
        filter=["total", "<", "3"],
        columns=["id", "total", "was"],
        configs=_BY_ID,
    )
    table.optimized(
        "read-optimized",
        "the columns of base files are found by id, too",
        "DM-021 RD-009",
        "columns-by-name optimized-reads-logs",
        configs=_BY_ID,
    )


@kept(
    "v9/apache_mor_altered",
    by="1.1.1",
    title="Columns with ids: renamed, dropped, added again and widened, in base files and in logs",
    features=(*_MOR, "log-delete", "merge-event-time", "schema-on-read", "compaction"),
    queries=query_altered,
)
def altered(table: TableWriter) -> None:
    """Rows before, between and after changes of the columns by SQL, a late row, a delete, a compaction on the way."""
    with _by_sql(table, "id STRING, was INT, note STRING, price FLOAT, amount INT, rate DOUBLE") as run:
        run(
            "INSERT INTO altered VALUES ('a',1,'a first',1.1,1,1e10,10,'north'),"
            "('b',2,'b first',0.1,2,-1e-5,10,'north'),('c',3,null,null,null,null,10,'süd'),"
            "('é',4,'é first',-2.5,4,0.5,10,'süd')",
            "ALTER TABLE altered RENAME COLUMN note TO title",
            "ALTER TABLE altered DROP COLUMN was",
            "UPDATE altered SET title = 'a second', ts = 20 WHERE id = 'a'",
            "ALTER TABLE altered ALTER COLUMN amount TYPE BIGINT",
            "ALTER TABLE altered ALTER COLUMN price TYPE DOUBLE",
            "ALTER TABLE altered ALTER COLUMN rate TYPE STRING",
            "ALTER TABLE altered ADD COLUMNS (note DATE AFTER id, was STRING)",
            "INSERT INTO altered SELECT 'd', date'2024-02-29', 'd first', 4.4D, 10000000000L, 'r', 30, 'w', 'süd'",
            "UPDATE altered SET was = 'again', ts = 30 WHERE id = 'a'",
            "UPDATE altered SET title = 'c late', ts = 5 WHERE id = 'c'",
        )
        table.schedule_compaction()
        table.compact()
        run(
            "ALTER TABLE altered RENAME COLUMN amount TO total",
            "UPDATE altered SET total = 7, ts = 40 WHERE id = 'd'",
            "DELETE FROM altered WHERE id = 'é'",
        )


@contextmanager
def _by_sql(table: TableWriter, columns: str) -> Iterator[Callable[..., None]]:
    """Make a table whose columns have ids; give what runs statements on it under the name `altered`."""
    dropping = {"hoodie.datasource.write.schema.allow.auto.evolution.column.drop": "true"}
    usual = {name: value for name, value in COMMON.items() if not name.startswith("hoodie.datasource")}
    settings = {**usual, **_BY_ID, **dropping}

    def run(*statements: str) -> None:
        for statement in statements:
            table.session.sql(statement).collect()

    for name, value in settings.items():
        table.session.conf.set(name, value)
    run(
        "DROP TABLE IF EXISTS altered",
        f"CREATE TABLE altered ({columns}, ts BIGINT, region STRING) USING hudi PARTITIONED BY (region) TBLPROPERTIES "
        f"(primaryKey = 'id', preCombineField = 'ts', type = 'mor') LOCATION '{table.path}'",
    )
    try:
        yield run
    finally:
        run("DROP TABLE altered")
        for name in settings:
            table.session.conf.unset(name)
