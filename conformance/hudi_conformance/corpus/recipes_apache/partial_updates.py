"""Tables whose rows are put together of several writes: by assignment in SQL, and by payload classes."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.writer import COMMON, NOT_PARTITIONED, TableWriter, payload

_SCHEMA = "id string, ts bigint, name string, price string, _event_lsn bigint, _change_operation_type string"
_SENTINEL = "__debezium_unavailable_value"
_MERGED = ("mor", "base-parquet", "log-avro", "log-delete", "payload")

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


@recipe(
    "v8/apache_mor_payload_partial_update",
    bundle="1.1.1",
    title="PartialUpdateAvroPayload in version 8",
    features=("table-version-8", *_MERGED),
)
def partial_update_8(table: TableWriter) -> None:
    """Updates of some columns, on time and late, a delete, and a row written again; not partitioned."""
    _history(table, "PartialUpdateAvroPayload", "ts")


@recipe(
    "v9/apache_mor_payload_partial_update",
    bundle="1.1.1",
    title="PartialUpdateAvroPayload in version 9: a merge mode that ignores defaults",
    features=("table-version-9", *_MERGED),
)
def partial_update_9(table: TableWriter) -> None:
    """Updates of some columns, on time and late, a delete, and a row written again; not partitioned."""
    _history(table, "PartialUpdateAvroPayload", "ts")


@recipe(
    "v9/apache_mor_payload_postgres",
    bundle="1.1.1",
    title="PostgresDebeziumAvroPayload in version 9: a merge mode that fills unavailable values",
    features=("table-version-9", *_MERGED),
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


@recipe(
    "v9/apache_mor_partial_update",
    bundle="1.1.1",
    title="Partial updates by MERGE INTO: blocks that hold the assigned columns",
    features=("table-version-9", "mor", "base-parquet", "log-avro", "partial-update"),
)
def merge_into(table: TableWriter) -> None:
    """Four statements that assign a price, then a name, some of them late, a null, and both; then rows as a whole."""
    session = table.session
    settings = {name: value for name, value in COMMON.items() if not name.startswith("hoodie.datasource")}
    for name, value in settings.items():
        session.sql(f"set {name}={value}")
    session.sql("drop table if exists partial_orders")
    session.sql(
        "create table partial_orders (id string, ts bigint, name string, price string) using hudi tblproperties "
        f"(type = 'mor', primaryKey = 'id', preCombineField = 'ts') location '{table.path}'"
    )
    rows = ", ".join(f"('{key}', 10, '{key} first', '10')" for key in ("a", "b", "c", "d", "é"))
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
