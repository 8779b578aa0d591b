"""Tables with indexes in their metadata table; each write brings values of its own, so that filters leave files out."""

import datetime as dt
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.index_options import (
    BLOOM,
    CREATED,
    LATEST_WINS,
    LOCKED,
    RECORDS,
    STATISTICS,
)
from hudi_conformance.corpus.recipes_apache.writer import TableWriter, payload

_SCHEMA = "id string, city string, n int, amount double, note string, d date, at timestamp, sec bigint, ts bigint"
_CITIES = ("oslo", "süd")
_BATCH = 4
_METADATA = {
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.index.column.stats.enable": "false",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
}
_STATISTICS = {**STATISTICS, "hoodie.metadata.index.column.stats.column.list": "id,n,amount,note,d,at,sec"}


def _rows(batch: int, ts: int, numbers: range | None = None) -> list[tuple[Any, ...]]:
    """The rows of a batch: keys, numbers, years, months, hours and notes of its own."""
    chosen = range(batch * _BATCH, (batch + 1) * _BATCH) if numbers is None else numbers
    return [_row(number, batch, ts) for number in chosen]


def _row(number: int, batch: int, ts: int) -> tuple[Any, ...]:
    moment = dt.datetime(2020 + batch, 1 + batch, 1 + number % 28, batch, 30, tzinfo=dt.UTC)
    note = None if number % 5 == 2 else f"Note-{batch}"
    fields = (number * 10, number / 2, note, moment.date(), moment, int(moment.timestamp()), ts)
    name = f"ключ-{number:02d}" if number % 7 == 3 else f"k{number:02d}"
    return (name, _CITIES[number % 2], *fields)


def _life(table: TableWriter) -> None:
    """Two inserts, an update, a late update, a delete."""
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    table.upsert(_rows(3, 200, range(1, 3)))
    table.upsert(_rows(4, 50, range(5, 6)))
    table.delete(_rows(0, 300, range(3, 4)))


def _created(table: TableWriter, *statements: str) -> None:
    """SQL that makes indexes; `{t}` is the table."""
    settings = {**LOCKED, **CREATED, "hoodie.metadata.enable": "true"}
    settings["hoodie.metadata.index.column.stats.enable"] = "false"
    settings |= {key: value for key, value in table.options.items() if key.startswith("hoodie.write.table.version")}
    for key, value in settings.items():
        table.session.conf.set(key, value)
    table.session.sql("DROP TABLE IF EXISTS indexed")
    table.session.sql(f"CREATE TABLE indexed USING hudi LOCATION '{table.path}'")
    for statement in statements:
        table.session.sql(statement.format(t="indexed")).collect()
    for key in settings:
        table.session.conf.unset(key)


@recipe(
    "v9/apache_mor_statistics",
    bundle="1.1.1",
    title="Merge-on-read with statistics of columns and of partitions",
    features=("table-version-9", "mor", "base-parquet", "log-avro", "log-delete", "merge-event-time", "metadata-table"),
)
def statistics_9(table: TableWriter) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and partitions."""
    table.configure({**_METADATA, **_STATISTICS})
    _life(table)


@recipe(
    "v8/apache_mor_statistics",
    bundle="1.0.2",
    title="Version 8, merge-on-read with statistics of columns and of partitions",
    features=("table-version-8", "mor", "base-parquet", "log-avro", "log-delete", "merge-event-time", "metadata-table"),
)
def statistics_8(table: TableWriter) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and partitions."""
    table.configure({**_METADATA, **_STATISTICS})
    _life(table)


@recipe(
    "v6/apache_cow_statistics",
    bundle="0.15.0",
    title="Version 6, copy-on-write with statistics of columns and bloom filters",
    features=("table-version-6", "cow", "base-parquet", "payload-DefaultHoodieRecordPayload", "metadata-table"),
)
def statistics_6(table: TableWriter) -> None:
    """Two inserts, an update, a late update and a delete with statistics of columns and bloom filters."""
    table.configure({**_METADATA, **_STATISTICS, **BLOOM, **payload("DefaultHoodieRecordPayload")})
    _life(table)


@recipe(
    "v6/apache_mor_keys",
    bundle="0.15.0",
    title="Version 6, merge-on-read with bloom filters and a record index",
    features=("table-version-6", "mor", "base-parquet", "log-avro", "log-delete", "metadata-table"),
)
def keys_6(table: TableWriter) -> None:
    """Two inserts, two updates and a delete with bloom filters and a record index; the latest write wins."""
    table.configure({**_METADATA, **BLOOM, **RECORDS, **payload("OverwriteWithLatestAvroPayload")})
    _life(table)


@recipe(
    "v9/apache_mor_keys",
    bundle="1.1.1",
    title="Merge-on-read with bloom filters and a record index",
    features=(
        "table-version-9",
        "mor",
        "base-parquet",
        "log-avro",
        "log-delete",
        "merge-commit-time",
        "metadata-table",
    ),
)
def keys_9(table: TableWriter) -> None:
    """Two inserts, two updates and a delete with bloom filters and a record index; the latest write wins."""
    table.configure({**_METADATA, **BLOOM, **RECORDS, **LATEST_WINS})
    _life(table)


@recipe(
    "v9/apache_mor_keys_of_partitions",
    bundle="1.1.1",
    title="A record index of its own for each partition, with one key in both",
    features=(
        "table-version-9",
        "mor",
        "base-parquet",
        "log-avro",
        "log-delete",
        "merge-commit-time",
        "metadata-table",
    ),
)
def keys_of_partitions(table: TableWriter) -> None:
    """Two inserts, two updates and a delete with a partitioned record index, then a key of one city in the other."""
    table.configure({**_METADATA, "hoodie.metadata.record.level.index.enable": "true"})
    table.configure({"hoodie.index.type": "RECORD_LEVEL_INDEX", **LATEST_WINS})
    _life(table)
    table.write([(*_row(5, 4, 100)[:1], "oslo", *_row(5, 4, 100)[2:])], "insert")


@recipe(
    "v9/apache_cow_created_indexes",
    bundle="1.1.1",
    title="Copy-on-write with a secondary index and expression indexes made by SQL",
    features=(
        "table-version-9",
        "cow",
        "base-parquet",
        "merge-commit-time",
        "metadata-table",
        "secondary-index",
        "expression-index",
    ),
)
def created_9(table: TableWriter) -> None:
    """Two inserts, an index of a column, two of functions by statistics, one by bloom filters, an update, a delete."""
    table.configure({**_METADATA, **CREATED, **LOCKED, **LATEST_WINS})
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    _created(
        table,
        "create index note_index on {t} (note)",
        "create index lower_index on {t} using column_stats(note) options (expr = 'lower')",
        "create index year_index on {t} using column_stats(at) options (expr = 'year')",
        "create index upper_index on {t} using bloom_filters(id) options (expr = 'upper')",
    )
    table.upsert(_rows(3, 200, range(1, 3)))
    table.delete(_rows(0, 300, range(3, 4)))


@recipe(
    "v8/apache_mor_moved",
    bundle="1.0.2",
    title="Version 8, rows that move to the other partition under a secondary index",
    features=(
        "table-version-8",
        "mor",
        "base-parquet",
        "log-avro",
        "merge-commit-time",
        "metadata-table",
        "secondary-index",
    ),
)
def moved_8(table: TableWriter) -> None:
    """Two inserts, an index of a column, and three rows that move; one keeps its value."""
    table.configure({**_METADATA, **CREATED, **LOCKED, **LATEST_WINS})
    table.configure({"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"})
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    _created(table, "create index note_index on {t} (note)")
    for number, batch in ((5, 1), (6, 2), (0, 0)):
        row = _row(number, batch, 200)
        table.upsert([(row[0], _CITIES[(number + 1) % 2], *row[2:])])


@recipe(
    "v9/apache_mor_indexes_serviced",
    bundle="1.1.1",
    title="Merge-on-read with statistics and a record index, compacted, updated, clustered",
    features=("table-version-9", "mor", "base-parquet", "log-avro", "merge-commit-time", "metadata-table"),
)
def serviced(table: TableWriter) -> None:
    """Insert, update, compaction, update and clustering; the metadata table is compacted on the way."""
    table.configure({**_METADATA, **RECORDS, **LATEST_WINS, "hoodie.metadata.compact.max.delta.commits": "3"})
    table.configure({"hoodie.metadata.index.column.stats.enable": "true"})
    table.schema = "id string, city string, n int, note string, ts bigint"
    table.write(_short(0, 100, range(4)), "insert")
    table.upsert(_short(3, 200, range(1, 3)))
    table.schedule_compaction()
    table.compact()
    table.upsert(_short(6, 400, range(2, 4)))
    table.cluster()


def _short(batch: int, ts: int, numbers: range) -> list[tuple[Any, ...]]:
    """Rows of few columns."""
    return [(row[0], row[1], row[2] + 100 * batch, row[4], ts) for row in _rows(batch, ts, numbers)]


@recipe(
    "v9/apache_cow_hfile",
    bundle="1.1.1",
    title="Copy-on-write with base files in HFile",
    features=("table-version-9", "cow", "base-hfile", "merge-event-time"),
)
def hfile_9(table: TableWriter) -> None:
    """Bulk inserts into HFiles, one partition overwritten."""
    _hfiles(table)


@recipe(
    "v8/apache_cow_hfile",
    bundle="1.0.2",
    title="Version 8, copy-on-write with base files in HFile",
    features=("table-version-8", "cow", "base-hfile", "merge-event-time"),
)
def hfile_8(table: TableWriter) -> None:
    """Bulk inserts into HFiles, one partition overwritten."""
    _hfiles(table)


@recipe(
    "v6/apache_cow_hfile",
    bundle="0.15.0",
    title="Version 6, copy-on-write with base files in HFile",
    features=("table-version-6", "cow", "base-hfile", "payload-DefaultHoodieRecordPayload"),
)
def hfile_6(table: TableWriter) -> None:
    """Bulk inserts into HFiles, one partition overwritten."""
    table.configure(payload("DefaultHoodieRecordPayload"))
    _hfiles(table)


@recipe(
    "v8/apache_cow_several_formats",
    bundle="1.0.2",
    title="Version 8, base files in Parquet and then in ORC within one file group",
    features=("table-version-8", "cow", "base-parquet", "base-orc", "merge-event-time"),
)
@recipe(
    "v9/apache_cow_several_formats",
    bundle="1.1.1",
    title="Copy-on-write, base files in Parquet and then in ORC within one file group",
    features=("table-version-9", "cow", "base-parquet", "base-orc", "merge-event-time"),
)
def several_formats(table: TableWriter) -> None:
    """Insert into Parquet files; update, insert and delete into ORC files."""
    _formatted(table, "PARQUET")
    table.configure({"hoodie.table.multiple.base.file.formats.enable": "true"})
    table.write(_rows(0, 100), "insert")
    table.configure({"hoodie.table.base.file.format": "ORC", "hoodie.base.file.format": "ORC"})
    table.upsert([*_rows(1, 200, range(1, 3)), *_rows(1, 50, range(3, 4))])
    table.write(_rows(1, 100), "insert")
    table.delete(_rows(0, 300, range(1)))


def _hfiles(table: TableWriter) -> None:
    """Releases cannot look keys up in HFiles: there are inserts and replacements only."""
    _formatted(table, "HFILE")
    table.write(_rows(0, 100), "insert")
    table.write(_rows(1, 100), "insert")
    table.write([row for row in _rows(2, 300) if row[1] == "oslo"], "insert_overwrite")


def _formatted(table: TableWriter, name: str) -> None:
    table.configure({"hoodie.datasource.write.partitionpath.field": "city", "hoodie.index.type": "SIMPLE"})
    table.configure({"hoodie.datasource.write.precombine.field": "ts", "hoodie.table.base.file.format": name})
    table.configure({"hoodie.base.file.format": name})
    table.schema = _SCHEMA
