"""Tables of every form of partition path, with and without partition columns and meta fields in their files."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED
from hudi_conformance.interop.real_tables.recipes.shapes import BOTH, FOUR, NOT_ROWS, rows_of, write_query
from hudi_conformance.interop.real_tables.writer import RealTable

_PATH = "hoodie.datasource.write.partitionpath.field"
_HIVE = "hoodie.datasource.write.hive_style_partitioning"
_ENCODED = "hoodie.datasource.write.partitionpath.urlencode"
_DROPPED = {"hoodie.datasource.write.drop.partition.columns": "true"}
_GENERATOR = "hoodie.datasource.write.keygenerator.class"
_COMPLEX = {_GENERATOR: "org.apache.hudi.keygen.ComplexKeyGenerator"}
_BY_TIME = {
    _PATH: "evt",
    _GENERATOR: "org.apache.hudi.keygen.TimestampBasedKeyGenerator",
    "hoodie.keygen.timebased.timezone": "UTC",
}
_EPOCH = {
    **_BY_TIME,
    "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
    "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
}
_NO_META = {"hoodie.populate.meta.fields": "false", "hoodie.datasource.write.row.writer.enable": "false"}
_FEW = ("0.15.0 v6 mor", "1.1.1 v9", "1.2.0 v9 cow")

_COLUMNS = "id,region,ts,note"
_PLAIN = (
    rows_of("('a','north',1L,'x'),('b','süd',1L,'y'),('c','north',1L,null)", _COLUMNS),
    rows_of("('a','north',2L,'xx'),('d','süd',2L,'z')", _COLUMNS),
)
_TYPED = (
    rows_of(
        "('a',date'2024-01-31',7,1L,'x'),('b',date'2024-02-01',8,1L,'y'),('c',null,9,1L,null)", "id,day,num,ts,note"
    ),
    rows_of("('a',date'2024-01-31',7,2L,'xx'),('d',date'2024-02-01',10,2L,'z')", "id,day,num,ts,note"),
)
_MARKED = (
    rows_of(
        "('a','x/y z=%',1L,'x'),('b','é:+',1L,'y'),('c','',1L,null),('d',null,1L,'n'),('e','#?[1]{}',1L,'n')", _COLUMNS
    ),
    rows_of("('a','x/y z=%',2L,'xx'),('b','é:+',2L,'yy')", _COLUMNS),
)
_EVENTS = (
    "('a',1700000000L,1L,'x'),('b',1710000000L,1L,'y'),('c',1700000001L,1L,null)",
    "('a',1700000000L,2L,'xx'),('d',1720000000L,2L,'z')",
)


_TEXTS = (
    "('a','2023-11-14 20:13:20',1L,'x'),('b','2024-03-09 16:00:00',1L,'y'),('c',null,1L,null)",
    "('a','2023-11-14 20:13:20',2L,'xx'),('d','2024-03-09 23:59:59',2L,'z')",
)


def _events(last: str) -> tuple[str, str]:
    return rows_of(_EVENTS[0], f"id,evt,ts,{last}"), rows_of(_EVENTS[1], f"id,evt,ts,{last}")


def _twice(table: RealTable, queries: tuple[str, str], first: str = "insert", **options: str) -> None:
    table.configure({**EVENT_TIME, **{key.replace("__", "."): value for key, value in options.items()}})
    write_query(table, queries[0], first)
    write_query(table, queries[1])


@recipe("shapes/dropped_hive", on=FOUR, types=BOTH, features=("drop-partition-columns",), without=NOT_ROWS)
def dropped_hive(table: RealTable) -> None:
    """Partition columns of two types that only the hive-styled paths hold."""
    _twice(table, _TYPED, **_DROPPED, **{_PATH: "day,num"}, **_COMPLEX)


@recipe("shapes/dropped_plain", on=FOUR, types=BOTH, features=("drop-partition-columns",), without=NOT_ROWS)
def dropped_plain(table: RealTable) -> None:
    """Partition columns of two types that only the bare paths hold."""
    _twice(table, _TYPED, **_DROPPED, **{_PATH: "day,num", _HIVE: "false"}, **_COMPLEX)


@recipe("shapes/dropped_encoded", on=_FEW, types=BOTH, features=("drop-partition-columns",), without=NOT_ROWS)
def dropped_encoded(table: RealTable) -> None:
    """A partition column that only the encoded paths hold."""
    _twice(table, _MARKED, **_DROPPED, **{_ENCODED: "true"})


@recipe("shapes/dropped_by_sql", on=_FEW, types=BOTH, features=("drop-partition-columns",), without=NOT_ROWS)
def dropped_by_sql(table: RealTable) -> None:
    """A table made by SQL: its paths alone hold a date and an integer, whose types the schema given at creation has."""
    kind = "mor" if table.made.type == "MERGE_ON_READ" else "cow"
    table.sql(
        "DROP TABLE IF EXISTS dropped",
        "CREATE TABLE dropped (id STRING, note STRING, ts BIGINT, day DATE, num INT) USING hudi "
        f"PARTITIONED BY (day, num) TBLPROPERTIES (primaryKey = 'id', preCombineField = 'ts', type = '{kind}', "
        "'hoodie.datasource.write.drop.partition.columns' = 'true', {options}) LOCATION '{path}'",
        "INSERT INTO dropped VALUES ('a', 'x', 1, date'2024-01-31', 7), ('b', 'y', 1, date'2024-02-01', 8)",
        "UPDATE dropped SET note = 'xx', ts = 2 WHERE id = 'a'",
    )


@recipe(
    "shapes/no_meta_fields",
    on=FOUR,
    types=BOTH,
    features=("virtual-keys",),
    # Apache Hudi answers without the columns that such a table leaves empty.
    without=(*NOT_ROWS, "snapshot_meta"),
)
def no_meta_fields(table: RealTable) -> None:
    """Meta fields are left empty."""
    _twice(table, _PLAIN, "bulk_insert", **_NO_META)


@recipe("shapes/encoded", on=FOUR, types=BOTH, features=("partition-paths",), without=NOT_ROWS)
def encoded(table: RealTable) -> None:
    """Encoded paths, of the empty text and of null too."""
    _twice(table, _MARKED, **{_ENCODED: "true"})


@recipe("shapes/nested_paths", on=FOUR, types=BOTH, features=("partition-paths",), without=NOT_ROWS)
def nested_paths(table: RealTable) -> None:
    """Values with slashes: paths of several depths, some the beginnings of others."""
    first = "('a','a',1L,'x'),('b','a/b',1L,'y'),('c','a=1/b',1L,null),('e','a/b/c',1L,'q'),('f','ab',1L,'r')"
    later = "('a','a',2L,'xx'),('b','a/b',2L,'z')"
    _twice(table, (rows_of(first, _COLUMNS), rows_of(later, _COLUMNS)), **{_HIVE: "false"})


@recipe("shapes/metafile_in_base_format", on=_FEW, types=BOTH, features=("partition-paths",), without=NOT_ROWS)
def metafile_in_base_format(table: RealTable) -> None:
    """Partition metafiles that are Parquet files."""
    _twice(table, _PLAIN, **{"hoodie.partition.metafile.use.base.format": "true"})


@recipe("shapes/typed_paths", on=_FEW, types=BOTH, features=("partition-paths",), without=NOT_ROWS)
def typed_paths(table: RealTable) -> None:
    """Two partition fields, a date and an integer, that stand in the files too."""
    _twice(table, _TYPED, **{_PATH: "day,num"}, **_COMPLEX)


@recipe("shapes/not_partitioned", on=_FEW, types=BOTH, features=("not-partitioned",), without=NOT_ROWS)
def not_partitioned(table: RealTable) -> None:
    """No partitions."""
    _twice(table, _PLAIN, **NOT_PARTITIONED)


@recipe("shapes/by_epoch", on=FOUR, types=BOTH, features=("key-forms",), without=NOT_ROWS)
def by_epoch(table: RealTable) -> None:
    """Paths of three folders made of an epoch by the timestamp generator."""
    _twice(table, _events("note"), **_EPOCH, **{_HIVE: "false"})


@recipe("shapes/by_epoch_hive", on=_FEW, types=BOTH, features=("key-forms",), without=NOT_ROWS)
def by_epoch_hive(table: RealTable) -> None:
    """One hive-styled folder made of an epoch by the timestamp generator."""
    _twice(table, _events("note"), **{**_EPOCH, "hoodie.keygen.timebased.output.dateformat": "yyyyMMdd"})


@recipe("shapes/by_field_and_epoch", on=_FEW, types=BOTH, features=("key-forms",), without=NOT_ROWS)
def by_field_and_epoch(table: RealTable) -> None:
    """The custom generator: a plain field and an epoch."""
    options = {
        **_EPOCH,
        _PATH: "region:SIMPLE,evt:TIMESTAMP",
        _GENERATOR: "org.apache.hudi.keygen.CustomKeyGenerator",
        "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd",
    }
    _twice(table, _events("region"), **options)


@recipe("shapes/by_hours_of_a_zone", on=_FEW, types=BOTH, features=("key-forms",), without=NOT_ROWS)
def by_hours_of_a_zone(table: RealTable) -> None:
    """Hours of a zone half an hour off, made of milliseconds."""
    millis = tuple(values.replace("00000L", "00000000L").replace("00001L", "00001000L") for values in _EVENTS)
    queries = rows_of(millis[0], "id,evt,ts,note"), rows_of(millis[1], "id,evt,ts,note")
    options = {
        **_BY_TIME,
        "hoodie.keygen.timebased.timezone": "Asia/Kolkata",
        "hoodie.keygen.timebased.timestamp.type": "EPOCHMILLISECONDS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy-MM-dd HH",
    }
    _twice(table, queries, **options)


@recipe("shapes/by_days", on=_FEW, types=BOTH, features=("key-forms",), without=NOT_ROWS)
def by_days(table: RealTable) -> None:
    """Days since 1970, before it, and none, which is the first of them."""
    first, later = "('a',19737,1L,'x'),('b',-1,1L,'y'),('c',null,1L,null)", "('a',19737,2L,'xx'),('d',null,2L,'z')"
    options = {
        **_BY_TIME,
        "hoodie.keygen.timebased.timestamp.type": "SCALAR",
        "hoodie.keygen.timebased.timestamp.scalar.time.unit": "DAYS",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    }
    columns = "id,evt,ts,note"
    _twice(table, (rows_of(first, columns), rows_of(later, columns)), **options, **{_HIVE: "false"})


@recipe(
    "shapes/by_text_of_a_zone",
    on=("1.1.1 v6 mor", "1.1.1 v9", "1.2.0 v9 cow"),
    types=BOTH,
    features=("key-forms",),
    without=NOT_ROWS,
)
def by_text_of_a_zone(table: RealTable) -> None:
    """Days of a zone, made of texts that stay as they were; null has the first moment of 1970."""
    options = {
        **_BY_TIME,
        "hoodie.keygen.timebased.timezone": "America/Los_Angeles",
        "hoodie.keygen.timebased.timestamp.type": "DATE_STRING",
        "hoodie.keygen.timebased.input.dateformat": "yyyy-MM-dd HH:mm:ss",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
    }
    columns = "id,evt,ts,note"
    queries = rows_of(_TEXTS[0], columns), rows_of(_TEXTS[1], columns)
    _twice(table, queries, **options, **{_HIVE: "false"})
