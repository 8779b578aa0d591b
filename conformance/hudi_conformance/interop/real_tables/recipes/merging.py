"""How versions of a record merge: payload classes, partial updates, ordering values, keys, positions."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import Question, recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED, payload
from hudi_conformance.interop.real_tables.writer import RealTable

# Other areas ask these of tables of their own.
_QUERIED_ELSEWHERE = (
    "snapshot",
    "timeline",
    "history",
    "slices",
    "slices_middle",
    "optimized",
    "as_of_first",
    "incremental_all",
    "incremental_later",
    "incremental_between",
)
_SOME_COLUMNS = Question("some_columns", "read_snapshot", {"columns": ["price", "id"]})
_FILTERED = Question("filtered", "read_snapshot", {"filter": ["is_not_null", "price"]})

_CHANGES = (
    "id string, ts bigint, name string, price string, Op string, _event_lsn bigint, _event_seq string, "
    "_event_bin_file string, _event_pos bigint, _change_operation_type string, _hoodie_is_deleted boolean"
)
_SENTINEL = "__debezium_unavailable_value"
_PLACES = {"debezium.PostgresDebeziumAvroPayload": "_event_lsn", "debezium.MySqlDebeziumAvroPayload": "_event_seq"}
_PAYLOADS = (
    "OverwriteWithLatestAvroPayload",
    "DefaultHoodieRecordPayload",
    "EventTimeAvroPayload",
    "OverwriteNonDefaultsWithLatestAvroPayload",
    "PartialUpdateAvroPayload",
    "AWSDmsAvroPayload",
    "debezium.PostgresDebeziumAvroPayload",
    "debezium.MySqlDebeziumAvroPayload",
)


def _change(  # noqa: PLR0917 - a row
    key: str, place: int, name: str | None, price: str | None, operation: str | None = None, flag: bool | None = None
) -> tuple[Any, ...]:
    return (key, place, name, price, operation, place, f"001.{place}", "bin.001", place, operation, flag)


def _history(table: RealTable, name: str) -> None:
    """Base rows; updates on time, late, at a tie, with nulls and sentinels; deletes of four kinds; rows after them."""
    ordering = _PLACES.get(name, "ts")
    if table.version >= 9 and ordering == "_event_seq":
        ordering = "_event_bin_file,_event_pos"
    table.schema = _CHANGES
    table.configure({**NOT_PARTITIONED, **payload(name), "hoodie.datasource.write.precombine.field": ordering})
    table.write([_change(key, 10, f"{key}0", None if key == "b" else "p0") for key in "abcdefghijnoé"], "insert")
    table.write(
        [
            _change("a", 20, None, "p2"),
            _change("b", 5, None, "p2"),
            _change("c", 20, _SENTINEL, "p2"),
            _change("d", 20, "x", "x", "D"),
            _change("e", 5, "x", "x", "D"),
            _change("f", 5, "x", "x", None, flag=True),
            _change("g", 20, "g2", None),
            _change("h", 20, "x", "x", "d"),
            _change("j", 20, "x", "x", None, flag=True),
            _change("k", 20, None, "p2"),
            _change("n", 10, None, _SENTINEL),
            _change("é", 100, "木", None),
        ]
    )
    table.write(
        [
            _change("d", 15, "d3", None),
            _change("g", 15, None, "p3"),
            _change("e", 7, "e3", None),
            _change("k", 15, "k3", None),
            _change("m", 20, "m", "m", "D"),
            _change("c", 15, "c3", _SENTINEL),
            _change("j", 15, "j3", None),
            _change("h", 30, "h3", None),
            _change("é", 9, None, "late"),
        ]
    )
    table.delete([_change("i", 10, "i", "i"), _change("o", 30, "o", "o")])
    table.write([_change("i", 5, None, "p5"), _change("a", 20, "tie", None), _change("o", 20, None, "p5")])


_releases: tuple[str, ...]
for _name in _PAYLOADS:
    for _kind, _releases in (("mor", ("0.15.0 v6", "1.0.2 v8", "1.1.1 v9")), ("cow", ("1.2.0 v9",))):
        recipe(
            f"merging/{_name.rpartition('.')[2]}",
            on=_releases,
            types=(_kind,),
            features=("payload", "log-delete"),
            questions=(_SOME_COLUMNS,),
            without=_QUERIED_ELSEWHERE,
        )(partial(_history, name=_name))


def _assign(table: RealTable, rows: str, assignments: str, **more: str) -> None:
    """One MERGE INTO that updates matched rows; the source's rows are (id, ts, name, price, qty)."""
    typed = "select id, cast(ts as bigint) as ts, name, price, qty"
    source = f"{typed} from values {rows} as listed(id, ts, name, price, qty)"
    _run(
        table,
        f"merge into assigned target using ({source}) source on target.id = source.id "
        f"when matched then update set {assignments}",
        **more,
    )


def _run(table: RealTable, *statements: str, **more: str) -> None:
    table.sql(
        *statements,
        **more,
        hoodie__spark__sql__merge__into__partial__updates="true",
        hoodie__embed__timeline__server="false",
        hoodie__parquet__small__file__limit="0",
        hoodie__metadata__enable="false",
        hoodie__compact__inline="false",
        hoodie__clean__automatic="false",
        hoodie__write__table__version=str(table.version),
        hoodie__write__auto__upgrade="false",
    )


def _create_assigned(table: RealTable, mode: str, more: str) -> None:
    kind = "cow" if table.made.type == "COPY_ON_WRITE" else "mor"
    _run(
        table,
        "drop table if exists assigned",
        "create table assigned (id string, ts bigint, name string, price string, qty int) using hudi "
        f"location '{{path}}' tblproperties (type = '{kind}', primaryKey = 'id', {more} "
        f"'hoodie.record.merge.mode' = '{mode}', 'hoodie.write.table.version' = '{table.version}')",
        "insert into assigned values ('a',10,'a0','p0',1), ('b',10,'b0','p0',1), ('c',10,'c0','p0',1), "
        "('d',10,'d0',null,1), ('e',10,'e0','p0',1), ('é',10,null,'p0',1)",
    )


def _assignments(table: RealTable, mode: str, more: str, *, deletes: bool) -> None:
    """Some columns assigned, on time, late and at a tie, nulls among them; whole rows and perhaps a delete between."""
    _create_assigned(table, mode, more)
    _assign(
        table,
        "('a',20,'x','p2',2), ('b',20,'x','p2',2), ('d',5,'x','p2',2), ('é',20,'x',null,2)",
        "price = source.price, ts = source.ts",
    )
    _assign(
        table,
        "('a',30,'n3','x',3), ('b',15,'n3','x',3), ('e',30,cast(null as string),'x',3), ('é',20,'木','x',3)",
        "name = source.name, ts = source.ts",
    )
    _assign(table, "('a',30,'x','x',4), ('d',40,'x','x',4)", "qty = source.qty, ts = source.ts")
    if deletes:
        _run(table, "delete from assigned where id = 'c'", "insert into assigned values ('c',40,'c4',null,null)")
    _run(table, "insert into assigned values ('n',40,'n4',null,null)")
    _assign(table, "('n',50,'x','p5',5)", "qty = source.qty, ts = source.ts")
    _assign(table, "('b',12,'x','p6',6)", "price = source.price, name = source.price, ts = source.ts")


# Apache Hudi fails on a delete among partial updates by commit time: so says its own recipe.
for _label, _mode, _more, _deletes, _releases in (
    ("event_time", "EVENT_TIME_ORDERING", "preCombineField = 'ts',", True, ("1.0.2 v8", "1.1.1 v9", "1.2.0 v9")),
    ("commit_time", "COMMIT_TIME_ORDERING", "preCombineField = 'ts',", False, ("1.1.1 v8", "1.1.1 v9")),
    ("unordered", "COMMIT_TIME_ORDERING", "", False, ("1.0.2 v8", "1.1.1 v9")),
):
    recipe(
        f"merging/assigned_{_label}",
        on=_releases,
        features=("partial-update", "sql"),
        questions=(_SOME_COLUMNS, _FILTERED),
        without=_QUERIED_ELSEWHERE,
    )(partial(_assignments, mode=_mode, more=_more, deletes=_deletes))

recipe(
    "merging/assigned_after_delete",
    on=("1.1.1 v9",),
    features=("partial-update", "sql", "log-delete"),
    without=_QUERIED_ELSEWHERE,
)(partial(_assignments, mode="COMMIT_TIME_ORDERING", more="", deletes=True))

_LOG_COMPACTION = {
    "hoodie__log__compaction__inline": "true",
    "hoodie__log__compaction__enable": "true",
    "hoodie__log__compaction__blocks__threshold": "2",
}


@recipe(
    "merging/payload_log_compacted",
    on=("1.1.1 v8", "1.1.1 v9"),
    features=("payload", "log-compaction"),
    without=_QUERIED_ELSEWHERE,
)
def payload_log_compacted(table: RealTable) -> None:
    """Updates with nulls of `PartialUpdateAvroPayload`, put together by a log compaction; updates after it."""
    table.configure({**EVENT_TIME, **payload("PartialUpdateAvroPayload")})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert(orders((0, 1, 2, 3), 200, "update"))
    table.upsert([*orders((0, 1), 300, "again"), *orders((2, 5), 50, "late")])
    table.upsert(orders((4, 5), 300, "third"), **_LOG_COMPACTION)
    table.upsert([*orders((0, 2), 250, "late after"), *orders((3,), 400, "after"), *deletes((1,), 500)])


# Those that a delete does not hold as the row has them.
_WRAPPED = ("decimal", "date", "timestamp", "double")
_ORDERINGS: dict[str, tuple[str, Sequence[str]]] = {
    "int": ("int", ("5", "-7", "5", "6", "0")),
    "bigint": ("bigint", ("5000000000", "-7", "5000000000", "5000000001", "0")),
    "float": ("float", ("'1.5'", "'-0.0'", "'1.5'", "'NaN'", "'0.0'")),
    "double": ("double", ("'0.0'", "'-0.0'", "'0.0'", "'NaN'", "'Infinity'")),
    "string": ("string", ("'b'", "'a'", "'b'", "'é'", "'10'")),
    "decimal": ("decimal(12,3)", ("1.500", "-2.25", "1.5", "1.501", "0")),
    "date": ("date", ("'2024-02-29'", "'1969-12-31'", "'2024-02-29'", "'2024-03-01'", "'1970-01-01'")),
    "timestamp": (
        "timestamp",
        (
            "'2024-02-29 10:00:00.5'",
            "'1969-12-31'",
            "'2024-02-29 10:00:00.5'",
            "'2024-02-29 10:00:00.500001'",
            "'1970-01-01'",
        ),
    ),
    "boolean": ("boolean", ("true", "false", "true", "true", "false")),
}


def _by_type(table: RealTable, kind: str, values: Sequence[str]) -> None:
    """Five values stored, then each of them arriving at each, on time, late and at a tie; flagged deletes.

    Releases from 1.0 on cannot write a delete whose ordering value is a date.
    """
    flags = kind != "date" or table.bundle.startswith("0.")
    table.configure({**NOT_PARTITIONED, "hoodie.datasource.write.precombine.field": "place"})
    pairs = [(first, second) for first in range(5) for second in range(5)]
    rows = ", ".join(f"('{one}{other}', {values[one]}, 'stored', false)" for one, other in pairs)
    late = ", ".join(
        f"('{one}{other}', {values[other]}, 'second', {str(flags and one == 2).lower()})" for one, other in pairs
    )
    third = ", ".join(f"('{one}{other}', {values[0]}, 'third', false)" for one, other in pairs if other)
    for listed, operation in ((rows, "insert"), (late, "upsert"), (third, "upsert")):
        table.write_frame(_typed(table, listed, kind), operation)


def _typed(table: RealTable, rows: str, kind: str) -> Any:
    typed = f"select id, cast(place as {kind}) as place, note, flag as _hoodie_is_deleted"
    return table.session.sql(f"{typed} from values {rows} as listed(id, place, note, flag)")


for _label, (_kind, _values) in _ORDERINGS.items():
    recipe(
        f"merging/by_{_label}",
        on=("0.15.0 v6", "1.1.1 v9") if _label in _WRAPPED else ("1.0.2 v8",),
        features=("ordering-types", "log-delete"),
        without=_QUERIED_ELSEWHERE,
    )(partial(_by_type, kind=_kind, values=_values))


@recipe("merging/by_null", on=("1.1.1 v9",), features=("ordering-types",), without=_QUERIED_ELSEWHERE)
def by_null(table: RealTable) -> None:
    """Plain integers that order, some of them null, against stored ones, some of them null."""
    table.configure({**NOT_PARTITIONED, "hoodie.datasource.write.precombine.field": "place"})
    stored = (
        "('a', 5, 'stored', false), ('b', null, 'stored', false), ('c', 5, 'stored', false), ('d', -5, 'stored', false)"
    )
    table.write_frame(_typed(table, stored, "int"), "insert")
    late = "('a', null, 'null', false), ('b', 5, 'five', false), ('c', 3, 'late', false), ('d', null, 'null', false)"
    table.write_frame(_typed(table, late, "int"), "upsert")
    third = (
        "('a', 4, 'third', false), ('b', null, 'third', false), ('c', null, 'third', false), ('d', -9, 'third', false)"
    )
    table.write_frame(_typed(table, third, "int"), "upsert")


@recipe(
    "merging/emptied",
    on=("0.15.0 v6", "1.1.1 v8"),
    features=("log-delete",),
    without=_QUERIED_ELSEWHERE,
)
def emptied(table: RealTable) -> None:
    """Rows deleted by the payload class that holds nothing; one is written again."""
    table.configure(EVENT_TIME)
    table.write(orders(range(6), 100, "first"), "insert")
    for key, value in payload("EmptyHoodieRecordPayload").items():
        if key.startswith("hoodie.datasource"):
            table.upsert(orders((0, 1, 2), 200, "gone"), **{key.replace(".", "__"): value})
    table.upsert(orders((1,), 300, "again"))


@recipe(
    "merging/operations_kept",
    on=("1.0.2 v8", "1.1.1 v9"),
    features=("operation-field", "log-delete"),
    without=_QUERIED_ELSEWHERE,
)
def operations_kept(table: RealTable) -> None:
    """A sixth meta field says what was done to each record; flagged deletes, a delete, a row written again."""
    table.configure({**EVENT_TIME, "hoodie.allow.operation.metadata.field": "true"})
    table.write(orders(range(6), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late"), *deletes((3,), 300)])
    table.delete(orders((4,), 400, "delete"))
    table.upsert(orders((3, 4), 350, "again"))
