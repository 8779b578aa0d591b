"""Tables with every index, and filters that these can answer: asked with data skipping and without it.

Each write brings values of its own, so that each index has files to leave out.
"""

import datetime as dt
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import Question, recipe
from hudi_conformance.corpus.recipes_apache.index_options import (
    BLOOM,
    CREATED,
    LATEST_WINS,
    LOCKED,
    RECORDS,
    STATISTICS,
)
from hudi_conformance.corpus.recipes_apache.orders import deletes, key, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME
from hudi_conformance.interop.real_tables.writer import RealTable

_SCHEMA = "id string, city string, n int, amount double, note string, d date, at timestamp, sec bigint, ts bigint"
_CITIES = ("oslo", "rio")
_BATCH = 4
_WITHOUT = ("history", "timeline", "slices", "slices_middle", "info", "as_of_middle", "snapshot_meta")
_UNREQUESTED = (*_WITHOUT, "incremental_all", "incremental_later", "incremental_between", "optimized", "as_of_first")
_METADATA = {
    **EVENT_TIME,
    "hoodie.datasource.write.partitionpath.field": "city",
    "hoodie.metadata.enable": "true",
    "hoodie.metadata.record.index.min.filegroup.count": "2",
    "hoodie.metadata.record.index.max.filegroup.count": "2",
}
_ON = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
_OFF = {"hoodie.metadata.enable": "false", "hoodie.enable.data.skipping": "false"}


def _questions(**filters: list[Any]) -> tuple[Question, ...]:
    """Each filter twice: with what indexes know, and without."""
    return tuple(
        Question(f"{name}_{word}", "read_snapshot", {"filter": condition, "configs": configs})
        for name, condition in filters.items()
        for word, configs in (("skipping", _ON), ("reading_all", _OFF))
    )


_RANGES = _questions(
    number=["n", "=", 20],
    far=["n", ">", 95],
    mixed=["or", ["and", ["note", "=", "Note-1"], ["n", "<", 60]], ["amount", ">=", 5.5]],
    keys=["id", "in", ["k01", "k09"]],
    city=["city", "=", "oslo"],
    no_note=["note", "is_null"],
    year=[["fn", "year", "at"], "=", 2021],
    day=["and", ["d", "<", "2021-06-01"], ["not", ["city", "=", "rio"]]],
)
_FUNCTIONS = _questions(
    lower=[["fn", "lower", "note"], "=", "note-1"],
    upper=[["fn", "upper", "id"], "in", ["K05", "K99"]],
    second=[["fn", "from_unixtime", "sec"], "<", "2021-01-01 00:00:00"],
    year=[["fn", "year", "at"], "=", 2022],
    month=[["fn", "month", "d"], "=", 2],
    hour=[["fn", "hour", "at"], "in", [2]],
    note=["note", "=", "Note-1"],
    number=["n", "in", [0, 90]],
    keys=["id", "=", "k05"],
)


def _rows(batch: int, ts: int, numbers: range | None = None) -> list[tuple[Any, ...]]:
    """The rows of a batch: keys, numbers, years, months, hours and notes of its own."""
    chosen = range(batch * _BATCH, (batch + 1) * _BATCH) if numbers is None else numbers
    return [_row(number, batch, ts) for number in chosen]


def _row(number: int, batch: int, ts: int) -> tuple[Any, ...]:
    moment = dt.datetime(2020 + batch, 1 + batch, 1 + number % 28, batch, 30, tzinfo=dt.timezone.utc)
    note = None if number % 5 == 2 else f"Note-{batch}"
    fields = (number * 10, number / 2, note, moment.date(), moment, int(moment.timestamp()), ts)
    return (f"k{number:02d}", _CITIES[number % 2], *fields)


def _life(table: RealTable) -> None:
    """Three inserts, an update, a late update that loses, a delete, an insert."""
    table.schema = _SCHEMA
    for batch in range(3):
        table.write(_rows(batch, 100), "insert")
    table.upsert(_rows(3, 200, range(1, 3)))
    table.upsert(_rows(4, 50, range(5, 6)))
    table.delete(_rows(0, 300, range(3, 4)))
    table.write(_rows(5, 100), "insert")


@recipe(
    "indexes/statistics",
    on=("0.15.0 v6", "1.0.2 v8", "1.1.1 v9"),
    features=("metadata-table", "data-skipping"),
    questions=_RANGES,
    without=_UNREQUESTED,
)
def statistics(table: RealTable) -> None:
    """Statistics of columns and partitions."""
    table.configure({**_METADATA, **STATISTICS})
    _life(table)


@recipe(
    "indexes/keys",
    on=("0.15.0 v6", "1.1.1 v9"),
    features=("metadata-table", "data-skipping", "record-index"),
    questions=_RANGES,
    without=_UNREQUESTED,
)
def keys(table: RealTable) -> None:
    """Bloom filters and a record index."""
    table.configure({**_METADATA, **BLOOM, **RECORDS, "hoodie.metadata.index.column.stats.enable": "false"})
    table.configure(LATEST_WINS)
    _life(table)


@recipe(
    "indexes/keys_of_partitions",
    on=("1.1.1 v9",),
    types=("mor",),
    features=("metadata-table", "data-skipping", "record-index"),
    questions=_RANGES,
    without=_UNREQUESTED,
)
def keys_of_partitions(table: RealTable) -> None:
    """A record index of its own for each partition, with one key in both."""
    table.configure({**_METADATA, "hoodie.metadata.record.level.index.enable": "true"})
    table.configure({"hoodie.index.type": "RECORD_LEVEL_INDEX", "hoodie.metadata.index.column.stats.enable": "false"})
    table.configure(LATEST_WINS)
    _life(table)
    table.write([(*_row(9, 4, 100)[:1], "oslo", *_row(9, 4, 100)[2:])], "insert")


@recipe(
    "indexes/serviced",
    on=("1.1.1 v9",),
    types=("mor",),
    features=("metadata-table", "data-skipping", "compaction", "clustering"),
    questions=_RANGES,
    without=_UNREQUESTED,
)
def serviced(table: RealTable) -> None:
    """Compacted, updated, clustered, updated."""
    table.configure({**_METADATA, **STATISTICS, **BLOOM, **RECORDS})
    _life(table)
    table.schedule_compaction()
    table.compact()
    table.upsert(_rows(6, 400, range(8, 9)))
    table.cluster()
    table.upsert(_rows(7, 500, range(9, 10)))


@recipe(
    "indexes/compaction_pending",
    on=("1.0.2 v8", "1.1.1 v9"),
    types=("mor",),
    features=("metadata-table", "data-skipping", "pending-compaction"),
    questions=_RANGES,
    without=_UNREQUESTED,
)
def compaction_pending(table: RealTable) -> None:
    """Written to while a compaction is pending: statistics of partitions that know the newest logs only."""
    table.configure({**_METADATA, **STATISTICS})
    _life(table)
    table.schedule_compaction()
    table.upsert(_rows(6, 400, range(8, 10)))


@recipe(
    "indexes/created",
    on=("1.1.1 v9",),
    types=("cow",),
    features=("metadata-table", "data-skipping", "secondary-index", "expression-index"),
    questions=_FUNCTIONS,
    without=_UNREQUESTED,
)
@recipe(
    "indexes/created",
    on=("1.1.1 v9",),
    types=("mor",),
    features=("metadata-table", "data-skipping", "secondary-index", "expression-index"),
    questions=_FUNCTIONS,
    without=_UNREQUESTED,
)
def created(table: RealTable) -> None:
    """Secondary and expression indexes of columns' statistics and bloom filters, before and after writes.

    Releases cannot build a bloom filter where a result is null, nor keep one where a write adds logs.
    """
    table.configure({**_METADATA, **CREATED, **LOCKED, **LATEST_WINS})
    table.configure({"hoodie.metadata.index.column.stats.enable": "false"})
    table.schema = _SCHEMA
    for batch in range(3):
        table.write(_rows(batch, 100), "insert")
    settings = {"hoodie__write__table__version": str(table.version), "hoodie__metadata__enable": "true"}
    settings |= {name.replace(".", "__"): value for name, value in (LOCKED | CREATED).items()}
    name = table.register("created")
    table.sql(
        f"create index note_index on {name} (note)",
        f"create index number_index on {name} (n)",
        f"create index lower_index on {name} using column_stats(note) options (expr = 'lower')",
        f"create index second_index on {name} using column_stats(sec) options (expr = 'from_unixtime')",
        f"create index year_index on {name} using column_stats(at) options (expr = 'year')",
        f"create index month_index on {name} using column_stats(d) options (expr = 'month')",
        f"create index hour_index on {name} using column_stats(at) options (expr = 'hour')",
        **settings,
    )
    if table.made.type == "COPY_ON_WRITE":
        table.sql(f"create index upper_index on {name} using bloom_filters(id) options (expr = 'upper')", **settings)
    table.upsert(_rows(3, 200, range(1, 3)))
    table.upsert(_rows(4, 50, range(5, 6)))
    table.delete(_rows(0, 300, range(3, 4)))
    table.write(_rows(5, 100), "insert")


@recipe(
    "indexes/moved",
    on=("1.0.2 v8", "1.1.1 v9"),
    types=("mor",),
    features=("metadata-table", "data-skipping", "secondary-index"),
    questions=_FUNCTIONS,
    without=_UNREQUESTED,
)
def moved(table: RealTable) -> None:
    """Rows that move to the other partition and keep or change the value of a secondary index."""
    table.configure({**_METADATA, **CREATED, **LOCKED, **STATISTICS, **LATEST_WINS})
    table.configure({"hoodie.index.type": "RECORD_INDEX", "hoodie.record.index.update.partition.path": "true"})
    table.schema = _SCHEMA
    for batch in range(2):
        table.write(_rows(batch, 100), "insert")
    settings = {"hoodie__write__table__version": str(table.version), "hoodie__metadata__enable": "true"}
    settings |= {name.replace(".", "__"): value for name, value in (LOCKED | CREATED).items()}
    table.sql(f"create index note_index on {table.register('moved')} (note)", **settings)
    for number, batch in ((5, 1), (6, 2), (0, 0)):
        row = _row(number, batch, 200)
        table.upsert([(row[0], _CITIES[(number + 1) % 2], *row[2:])])


@recipe(
    "indexes/late_deletes",
    on=("1.0.2 v8", "1.1.1 v9"),
    types=("mor",),
    features=("metadata-table", "data-skipping", "record-index"),
    questions=_questions(
        beaten=["id", "=", key(1)],
        gone=["id", "in", [key(2), key(3)]],
        late=["note", "in", ["late 3", "first 3", "first 4", "second 4"]],
        note=["note", "=", "first 1"],
    ),
    without=_UNREQUESTED,
)
def late_deletes(table: RealTable) -> None:
    """Deletes and updates that are too late to win, beside some that do; indexes follow what merging gives."""
    table.configure({**EVENT_TIME, **_METADATA, **CREATED, **LOCKED})
    table.configure({"hoodie.datasource.write.partitionpath.field": "region"})
    table.write(orders(range(8), 100, "first"), "insert")
    if not table.bundle.startswith("0."):
        settings = {"hoodie__write__table__version": str(table.version), "hoodie__metadata__enable": "true"}
        settings |= {name.replace(".", "__"): value for name, value in (LOCKED | CREATED).items()}
        table.sql(f"create index note_index on {table.register('late')} (note)", **settings)
    table.upsert(deletes((1,), 50))
    table.upsert(deletes((2,), 200))
    table.upsert([*orders((3,), 50, "late"), *orders((4,), 200, "second")])


@recipe(
    "indexes/left_behind",
    on=("1.1.1 v9",),
    types=("cow",),
    features=("data-skipping", "global-index"),
    questions=_questions(oslo=["city", "=", "oslo"], rio=["city", "in", ["rio"]], other=["city", "!=", "oslo"]),
    without=_UNREQUESTED,
)
def left_behind(table: RealTable) -> None:
    """A global index that leaves an updated row in its old partition, whose path its column no longer says."""
    table.configure({**_METADATA, "hoodie.index.type": "GLOBAL_SIMPLE"})
    table.configure({"hoodie.simple.index.update.partition.path": "false"})
    table.schema = _SCHEMA
    table.write(_rows(0, 100), "insert")
    row = _row(1, 1, 200)
    table.upsert([(row[0], "oslo", *row[2:])])


@recipe(
    "indexes/dated_paths",
    on=("1.1.1 v9",),
    types=("cow",),
    features=("data-skipping", "timestamp-generator"),
    questions=_questions(
        before=["sec", "<", 1609459200],
        within=["and", ["sec", ">=", 1612137600], ["sec", "<", 1614556800]],
        one=["sec", "=", 1580520600],
    ),
    without=_UNREQUESTED,
)
def dated_paths(table: RealTable) -> None:
    """Partitions by a number of seconds, written as days."""
    prefix = (
        "hoodie.keygen.timebased." if not table.bundle.startswith("0.") else "hoodie.deltastreamer.keygen.timebased."
    )
    table.configure(
        {
            **_METADATA,
            "hoodie.datasource.write.partitionpath.field": "sec",
            "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
            f"{prefix}timestamp.type": "UNIX_TIMESTAMP",
            f"{prefix}output.dateformat": "yyyy/MM/dd",
            f"{prefix}timezone": "UTC",
        }
    )
    table.schema = _SCHEMA
    for batch in range(3):
        table.write(_rows(batch, 100), "insert")
