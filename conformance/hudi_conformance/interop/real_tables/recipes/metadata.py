"""Metadata tables with every partition that a release has, through their own services, and tables in HFiles.

Each leaves beside it what Apache Hudi reads of its metadata table, `metadata/records.jsonl`, one record a line.
"""

import datetime as dt
import functools
from decimal import Decimal

from py4j.protocol import Py4JJavaError

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import REGIONS, key, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED
from hudi_conformance.interop.real_tables.writer import RealTable

# What the tables of other areas are asked.
_recipe = functools.partial(
    recipe,
    without=("history", "info", "optimized", "as_of_first", "as_of_last", "incremental_all", "incremental_between"),
)
_LATEST = ("0.15.0 v6", "1.0.2 v8", "1.1.1 v9", "1.2.0 v9")
_SINCE_8 = ("1.0.2 v8", "1.1.1 v8", "1.1.1 v9", "1.2.0 v9")
_METADATA = {"hoodie.metadata.enable": "true"}
_EVERYTHING = {
    **_METADATA,
    "hoodie.metadata.index.column.stats.enable": "true",
    "hoodie.metadata.index.partition.stats.enable": "true",
    "hoodie.metadata.index.bloom.filter.enable": "true",
    "hoodie.metadata.record.index.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "3",
    "hoodie.metadata.record.index.max.filegroup.count": "3",
}
_LOCKED = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
}
_INDEXED_ROWS = """
    ('a', 'x$y', 1.5, 1, date'2024-01-02', 1700000000, 'eu'),
    ('b$', 'é', 2.5, 2, date'2024-03-02', 1700000100, 'us'),
    ('c', null, null, 3, null, 1700000200, 'eu'),
    ('d', '', 4.5, null, date'2024-01-02', 1700000300, 'us'),
    ('e\\\\f', 'x\\\\y', 4.5, 7, date'2024-05-02', 1800000300, 'us')
"""


_TYPED = (
    "id string, region string, ts bigint, flag boolean, small int, ratio float, measure double, price decimal(20,4), "
    "tiny decimal(4,2), body binary, day date, seen timestamp, tags array<string>"
)
_DOUBLES = (0.0, -0.0, float("nan"), float("inf"), -1.5e300, 1e-300, -2.5, 7.0)
_MOMENT = dt.datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=dt.timezone.utc)


def _typed(number: int, later: int) -> tuple[object, ...]:
    return (
        key(number),
        REGIONS[number % 2],
        100 + later,
        None if number % 3 == 1 else number % 2 == 0,
        number * 1000 - 3000 + later,
        number / 4 - 1,
        _DOUBLES[number % len(_DOUBLES)],
        Decimal(number * 100_000 - 250_000 + later).scaleb(-4),
        None if number == 5 else Decimal(number * 7 - 20).scaleb(-2),
        bytes((number, 255 - number)),
        dt.date(1969, 12, 30) + dt.timedelta(days=number * 400 + later),
        _MOMENT + dt.timedelta(seconds=number * 90_000 + later),
        [f"tag {number}"],
    )


def _usual_writes(table: RealTable) -> None:
    table.write(orders(range(12), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "second"), *orders((3,), 50, "late")])
    table.upsert(orders((20, 21, 4), 300, "third"))
    table.delete(orders((5,), 400, "gone"))


def _keep_records(table: RealTable) -> None:
    """What Apache Hudi reads of the metadata table, with the value of each union under its branch.

    Releases before 1.1 cannot read statistics of decimals after some merges; the file then holds their error.
    """
    kept = table.beside("metadata") / "records.jsonl"
    try:
        records = table.session.read.format("hudi").load(f"{table.path}/.hoodie/metadata").toJSON().collect()
    except Py4JJavaError as error:
        kept.with_name("error.txt").write_text(str(error.java_exception), encoding="utf-8")
        return
    kept.write_text("".join(f"{record}\n" for record in sorted(records)), encoding="utf-8")


@_recipe("metadata/everything", on=(*_LATEST, "1.1.1 v6", "1.1.1 v8"), features=("metadata-table",))
@_recipe("metadata/everything", on=("1.1.1 v9",), types=("cow",), features=("metadata-table",))
def everything(table: RealTable) -> None:
    """All partitions that need no definition: insert, upsert with late rows, upsert of new rows, delete."""
    table.configure({**EVENT_TIME, **_EVERYTHING})
    _usual_writes(table)
    _keep_records(table)


@_recipe("metadata/unpartitioned", on=("0.15.0 v6", "1.1.1 v9"), features=("metadata-table", "unpartitioned"))
def unpartitioned(table: RealTable) -> None:
    """The same where the table has no partitions."""
    table.configure({**EVENT_TIME, **_EVERYTHING, **NOT_PARTITIONED})
    _usual_writes(table)
    _keep_records(table)


@_recipe(
    "metadata/compacted",
    on=("0.15.0 v6", "1.1.1 v6", "1.1.1 v9", "1.2.0 v9"),
    features=("metadata-table", "compaction"),
)
def compacted(table: RealTable) -> None:
    """The metadata table is compacted and cleaned on the way, and has logs after its compaction."""
    table.configure({**EVENT_TIME, **_EVERYTHING, "hoodie.metadata.compact.max.delta.commits": "3"})
    _usual_writes(table)
    table.upsert(orders((1, 6), 500, "fifth"))
    table.upsert(orders((2, 7), 600, "sixth"))
    _keep_records(table)


@_recipe("metadata/log_compacted", on=("1.0.2 v8", "1.1.1 v9"), features=("metadata-table", "log-compaction"))
def log_compacted(table: RealTable) -> None:
    """The logs of the metadata table are compacted within logs, several times."""
    table.configure(
        {
            **EVENT_TIME,
            **_EVERYTHING,
            "hoodie.metadata.log.compaction.enable": "true",
            "hoodie.metadata.log.compaction.blocks.threshold": "2",
            "hoodie.metadata.compact.max.delta.commits": "30",
        }
    )
    _usual_writes(table)
    table.upsert(orders((1, 6), 500, "fifth"))
    _keep_records(table)


@_recipe("metadata/cleaned", on=("1.0.2 v8", "1.1.1 v9"), types=("cow",), features=("metadata-table", "cleaning"))
def cleaned(table: RealTable) -> None:
    """The cleaner removes files, which the lists and all statistics forget."""
    table.configure({**EVENT_TIME, **_EVERYTHING})
    _usual_writes(table)
    table.configure({"hoodie.clean.automatic": "true", "hoodie.clean.commits.retained": "1"})
    table.configure({"hoodie.cleaner.commits.retained": "1"})
    table.upsert(orders((1, 6), 500, "fifth"))
    table.upsert(orders((1, 7), 600, "sixth"))
    _keep_records(table)


@_recipe("metadata/rolled_back", on=("0.15.0 v6", "1.1.1 v6", "1.1.1 v9"), features=("metadata-table", "rollback"))
def rolled_back(table: RealTable) -> None:
    """A write that died is rolled back by the next one."""
    table.configure({**EVENT_TIME, **_EVERYTHING})
    table.write(orders(range(12), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2), 200, "second"))
    table.fail(orders((4, 30), 300, "dead"))
    table.upsert(orders((3, 31), 400, "after"))
    _keep_records(table)


@_recipe(
    "metadata/restored",
    on=("1.1.1 v6", "1.1.1 v9", "1.2.0 v9"),
    features=("metadata-table", "savepoint", "restore"),
)
def restored(table: RealTable) -> None:
    """Restored to a savepoint, and written to after it."""
    table.configure({**EVENT_TIME, **_EVERYTHING, "hoodie.metadata.index.bloom.filter.enable": "false"})
    table.write(orders(range(12), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2), 200, "second"))
    saved = table.instants()[-1]
    table.named("create_savepoint", commit_time=saved)
    table.upsert(orders((4, 30), 300, "undone"))
    table.named("rollback_to_savepoint", instant_time=saved)
    table.upsert(orders((5, 40), 400, "after"))
    _keep_records(table)


@_recipe("metadata/clustered", on=("1.0.2 v8", "1.1.1 v9"), features=("metadata-table", "clustering", "replace"))
def clustered(table: RealTable) -> None:
    """File groups replaced by clustering and by an overwritten partition."""
    table.configure({**EVENT_TIME, **_EVERYTHING})
    table.write(orders(range(8), 100, "first"), "insert")
    table.write(orders(range(8, 12), 100, "second"), "insert")
    table.cluster()
    table.upsert(orders((0, 9), 300, "after"))
    table.write(orders((1, 3, 13), 400, "over"), "insert_overwrite")
    _keep_records(table)


@_recipe("metadata/types", on=("0.15.0 v6", "1.1.1 v9", "1.2.0 v9"), features=("metadata-table",))
def types(table: RealTable) -> None:
    """Statistics of columns of every type."""
    table.configure({**EVENT_TIME, **_EVERYTHING, "hoodie.metadata.index.bloom.filter.enable": "false"})
    table.schema = _TYPED
    table.write([_typed(number, 0) for number in range(8)], "insert")
    table.upsert([*(_typed(number, 60) for number in (0, 1, 6)), *(_typed(number, -60) for number in (2, 3))])
    table.upsert([(key(4), REGIONS[0], 120, *[None] * 10)])
    _keep_records(table)


# 1.2.0 fails to commit to the metadata table here, and below.
@_recipe("metadata/partitioned_records", on=("1.1.1 v9",), features=("metadata-table",))
def partitioned_records(table: RealTable) -> None:
    """A record index of its own for each partition."""
    table.configure({**EVENT_TIME, **_METADATA, "hoodie.metadata.record.level.index.enable": "true"})
    table.configure({"hoodie.index.type": "RECORD_LEVEL_INDEX"})
    _usual_writes(table)
    _keep_records(table)


@_recipe("metadata/indexed_by_sql", on=_SINCE_8[:1], features=("metadata-table", "indexing"))
def indexed_by_sql(table: RealTable) -> None:
    """Secondary and expression indexes, created by SQL and kept up by an insert, an update and a delete."""
    settings = {key.replace(".", "__"): value for key, value in {**_EVERYTHING, **_LOCKED}.items()}
    settings["hoodie__write__table__version"] = str(table.version)
    columns = "id string, name string, price double, n int, d date, ts bigint, region string"
    properties = "type = 'mor', primaryKey = 'id', preCombineField = 'ts'"
    # No release can make a bloom filter of an expression where a value is null, 1.0.2 of none by SQL.
    by_text = (
        ["create index idx_up on indexed using bloom_filters(id) options (expr = 'upper')"]
        if not table.bundle.startswith("1.0")
        else []
    )
    table.sql(
        "drop table if exists indexed",
        f"create table indexed ({columns}) using hudi options ({properties}) partitioned by (region) "
        "location '{path}'",
        f"insert into indexed values {_INDEXED_ROWS}",  # noqa: S608  the rows are those above
        "create index idx_name on indexed (name)",
        "create index idx_n on indexed (n)",
        "create index idx_ts on indexed using column_stats(ts) options (expr = 'from_unixtime', format = 'yyyy-MM-dd')",
        *by_text,
        "insert into indexed values ('f', 'x$y', 9.5, 1, date'2024-01-09', 1900000000, 'eu')",
        "update indexed set name = 'new' where id = 'a'",
        "delete from indexed where id = 'd'",
        **settings,
    )
    _keep_records(table)


@_recipe("metadata/indexed_later", on=("1.0.2 v8", "1.1.1 v9"), features=("metadata-table", "indexing"))
def indexed_later(table: RealTable) -> None:
    """A record index that an indexing action builds when the table has been written to twice."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(12), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 2), 200, "second"), *orders((3,), 50, "late")])
    table.register("indexed_later")
    settings = {key.replace(".", "__"): value for key, value in {**_METADATA, **_LOCKED}.items()}
    table.sql("create index record_index on indexed_later (id)", **settings)
    table.configure({"hoodie.metadata.record.index.enable": "true"})
    table.upsert(orders((20, 4), 300, "third"))
    _keep_records(table)


@_recipe("metadata/simple_blooms", on=("1.1.1 v9",), features=("metadata-table",))
def simple_blooms(table: RealTable) -> None:
    """Bloom filters of the simple type, in footers and in the metadata table."""
    table.configure({**EVENT_TIME, **_EVERYTHING, "hoodie.bloom.index.filter.type": "SIMPLE"})
    _usual_writes(table)
    _keep_records(table)


for _after, _before in (("1.1.1 v9", "0.15.0-v6"), ("1.1.1 v8", "0.15.0-v6"), ("1.1.1 v9", "1.0.2-v8")):

    @_recipe(
        f"metadata/upgraded_from_{_before.rpartition('v')[2]}",
        on=(_after,),
        features=("metadata-table", "upgrade"),
        begins_with=f"metadata/everything-mor-{_before}",
    )
    def upgraded(table: RealTable) -> None:
        """A table of an older version, upgraded by the next write; instants of both forms in its metadata table."""
        table.configure({**EVENT_TIME, **_EVERYTHING, "hoodie.write.auto.upgrade": "true"})
        table.upsert(orders((6, 41), 500, "upgraded"))
        table.upsert(orders((7, 42), 600, "after"))
        _keep_records(table)


@_recipe("metadata/dropped", on=("1.1.1 v9",), features=("metadata-table",))
def dropped(table: RealTable) -> None:
    """The metadata table is turned off after two writes, and the table goes on without it."""
    table.configure({**EVENT_TIME, **_METADATA})
    table.write(orders(range(12), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2), 200, "second"))
    table.configure({"hoodie.metadata.enable": "false"})
    table.upsert(orders((3, 13), 300, "third"))


@_recipe("metadata/base_hfiles", on=("0.15.0 v6", "1.1.1 v9"), types=("cow",), features=("base-hfile",))
@_recipe("metadata/base_hfiles", on=("1.0.2 v8",), features=("base-hfile",))
def base_hfiles(table: RealTable) -> None:
    """Base files in HFile format; by buckets, since no release reads the keys of such files to find records."""
    table.configure({**EVENT_TIME, "hoodie.table.base.file.format": "HFILE", "hoodie.base.file.format": "HFILE"})
    table.configure({"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "1"})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "second"), *orders((10,), 200, "new")])
