"""Tables whose rows are put together of several writes: by assignment in SQL, and by payload classes."""

from hudi_conformance.corpus.golden.questions import WrittenTable
from hudi_conformance.corpus.golden.usual import base_files_only, description, filtered_after_merging, meta_fields
from hudi_conformance.corpus.recipes_apache.catalogue import kept
from hudi_conformance.corpus.recipes_apache.writer import COMMON, NOT_PARTITIONED, TableWriter, payload

_SCHEMA = "id string, ts bigint, name string, price string, _event_lsn bigint, _change_operation_type string"
_SENTINEL = "__debezium_unavailable_value"
_MERGED = ("base-parquet", "log-avro", "log-delete", "payload")

Row = tuple[str, int, str | None, str | None, int, str | None]


def _row(key: str, place: int, name: str | None, price: str | None, operation: str | None = None) -> Row:
    return (key, place, name, price, place, operation)


def _history(table: TableWriter, name: str, ordering: str) -> None:
    """Base rows; updates of some columns, on time and late, sentinels, deletes; a row that was deleted."""
    table.schema = _SCHEMA
    table.configure({**NOT_PARTITIONED, **payload(name), "hoodie.datasource.write.precombine.field": ordering})
    table.write([_row(key, 10, f"{key} first", None if key == "b" else "10") for key in "abcdefgé"], "insert")
    table.write(
        [
            _row("a", 20, None, "20"),
            _row("b", 5, None, "5"),
            _row("c", 20, _SENTINEL, "20"),
            _row("d", 20, "gone", "20", "d"),
            _row("e", 5, "late and gone", "5", "d"),
            _row("g", 20, "g second", None),
        ]
    )
    table.write([_row("g", 15, None, "15"), _row("d", 15, "d third", None), _row("é", 30, "木", None)])
    table.delete([_row("f", 10, "f", "10")])
    table.write([_row("f", 5, None, "5")])


def _query_payload(table: WrittenTable, clauses: str, kills: str) -> None:
    table.snapshot("snapshot", "rows merge as the payload class has it", clauses, kills)
    table.snapshot(
        "meta-columns",
        "each row has the meta fields of its winner, or of what came late",
        f"{clauses} MF-001",
        kills,
        meta_columns=True,
    )
    base_files_only(table)


_BY_MODE = {
    8: ("PL-004 MG-013", "defaults-overwrite payload-by-commit-time"),
    9: ("PL-004 PL-010 MG-023 MG-013", "defaults-overwrite partial-update-mode-ignored"),
}


def query_payload_partial_update(table: WrittenTable) -> None:
    """Updates of some columns, on time and late, a delete, and a row written again."""
    _query_payload(table, *_BY_MODE[table.version])
    if table.version > 8:
        description(table, "MG-012 PL-010", "mode-always-commit-time")
    filtered_after_merging(table, "event-time-ignores-ordering")


@kept(
    "v9/apache_mor_payload_partial_update",
    by="1.1.1",
    title="PartialUpdateAvroPayload in version 9: a merge mode that ignores defaults",
    features=_MERGED,
    queries=query_payload_partial_update,
)
@kept(
    "v8/apache_mor_payload_partial_update",
    by="1.1.1",
    title="PartialUpdateAvroPayload in version 8",
    features=_MERGED,
    queries=query_payload_partial_update,
)
def partial_update(table: TableWriter) -> None:
    """Updates of some columns, on time and late, a delete, and a row written again; not partitioned."""
    _history(table, "PartialUpdateAvroPayload", "ts")


def query_payload_postgres(table: WrittenTable) -> None:
    """Changes with unavailable values, on time and late, deletes by marker, a row written again."""
    _query_payload(table, "PL-007 PL-010 MG-024 MG-013", "unavailable-leaks partial-update-mode-ignored")
    filtered_after_merging(table, "event-time-ignores-ordering")


@kept(
    "v9/apache_mor_payload_postgres",
    by="1.1.1",
    title="PostgresDebeziumAvroPayload in version 9: a merge mode that fills unavailable values",
    features=_MERGED,
    queries=query_payload_postgres,
)
def postgres(table: TableWriter) -> None:
    """Changes with unavailable values, on time and late, deletes by marker, a row written again; not partitioned."""
    _history(table, "debezium.PostgresDebeziumAvroPayload", "_event_lsn")


def _assign(table: TableWriter, rows: str, assignments: str) -> None:
    """One MERGE INTO that updates matched rows; the source's rows are (id, ts, name, price)."""
    typed = "select id, cast(ts as bigint) as ts, name, price"
    source = f"{typed} from values {rows} as listed(id, ts, name, price)"
    table.session.sql(
        f"merge into partial_orders target using ({source}) source on target.id = source.id "
        f"when matched then update set {assignments}"
    )


def query_partial_update(table: WrittenTable) -> None:
    """MERGE INTO assigns a price, then a name, some of them late, a null, and then both."""
    table.snapshot(
        "snapshot",
        "each column is that of the version that says what it holds",
        "MG-021 MG-025 MG-013 LF-025",
        "partial-as-whole partial-null-unset",
    )
    table.snapshot(
        "projection", "so is a column requested alone", "MG-021 RD-012", "partial-as-whole", columns=["price"]
    )
    base_files_only(table)
    meta_fields(table)
    filtered_after_merging(table, "event-time-ignores-ordering")


@kept(
    "v9/apache_mor_partial_update",
    by="1.1.1",
    title="Partial updates by MERGE INTO: blocks that hold the assigned columns",
    features=("base-parquet", "log-avro", "partial-update"),
    queries=query_partial_update,
)
def merge_into(table: TableWriter) -> None:
    """Four statements that assign a price, then a name, some of them late, a null, and both; then rows as a whole."""
    _merged(table)


@kept(
    "v9/apache_mor_partial_beside_mark",
    by="1.1.1",
    title="Partial updates of a table with a column that marks deletes",
    features=("base-parquet", "log-avro", "partial-update"),
    queries=query_partial_update,
)
def merge_into_marked(table: TableWriter) -> None:
    """The same statements in a table with a column that marks deletes, which none of them assigns."""
    _merged(table, ", _hoodie_is_deleted boolean", ", false")


def _merged(table: TableWriter, column: str = "", value: str = "") -> None:
    session = table.session
    settings = {name: setting for name, setting in COMMON.items() if not name.startswith("hoodie.datasource")}
    for name, setting in settings.items():
        session.sql(f"set {name}={setting}")
    session.sql("drop table if exists partial_orders")
    session.sql(
        f"create table partial_orders (id string, ts bigint, name string, price string{column}) using hudi "
        f"tblproperties (type = 'mor', primaryKey = 'id', preCombineField = 'ts') location '{table.path}'"
    )
    rows = ", ".join(f"('{key}', 10, '{key} first', '10'{value})" for key in ("a", "b", "c", "d", "é"))
    session.sql(f"insert into partial_orders values {rows}")  # noqa: S608 - the recipe's own rows
    _assign(
        table, "('a', 20, '', '20'), ('b', 20, '', '20'), ('c', 5, '', '5')", "price = source.price, ts = source.ts"
    )
    _assign(table, "('a', 30, 'a third', ''), ('b', 15, 'b late', '')", "name = source.name, ts = source.ts")
    _assign(table, "('é', 40, cast(null as string), '')", "name = source.name, ts = source.ts")
    _assign(table, "('d', 50, 'd last', '50')", "name = source.name, price = source.price, ts = source.ts")
    session.sql("drop table partial_orders")
    for name in settings:
        session.sql(f"reset {name}")
