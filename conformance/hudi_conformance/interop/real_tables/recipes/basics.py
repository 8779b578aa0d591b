"""Every operation on every release, with Hudi's own defaults: metadata table, cleaning, archival, file sizing."""

from hudi_conformance.corpus.recipes_apache.catalogue import Question, recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, NOT_PARTITIONED
from hudi_conformance.interop.real_tables.writer import RealTable

# Without 1.0.2: it cannot compact a delete without ordering value before a row of the same key (Integer against Long).
RELEASES = ("0.15.0 v6", "1.1.1 v6", "1.1.1 v8", "1.1.1 v9", "1.2.0 v9")
LATEST = ("0.15.0 v6", "1.0.2 v8", "1.1.1 v9", "1.2.0 v9")
_FEW_FILES = {"hoodie.clean.commits.retained": "2", "hoodie.keep.min.commits": "3", "hoodie.keep.max.commits": "4"}


@recipe("basics/operations", on=RELEASES, features=("metadata-table", "log-delete"))
@recipe("basics/operations", on=LATEST, types=("cow",), features=("metadata-table",))
def operations(table: RealTable) -> None:
    """Bulk insert, insert, upsert with late rows and deletes of both kinds."""
    table.hudi_defaults()
    table.configure(EVENT_TIME)
    table.write(orders(range(6), 100, "bulk"), "bulk_insert")
    table.write(orders(range(6, 10), 100, "insert"), "insert")
    table.upsert([*orders((0, 1, 7), 200, "update"), *orders((2,), 50, "late"), *deletes((3,), 300)])
    table.delete(orders((5,), 400, "delete"))
    table.upsert(orders((1, 5, 11), 500, "last"))


@recipe(
    "basics/long_life",
    on=("0.15.0 v6", "1.0.2 v8", "1.1.1 v6", "1.1.1 v9", "1.2.0 v9"),
    features=("metadata-table", "compaction", "cleaning", "history"),
)
def long_life(table: RealTable) -> None:
    """Nine upserts with inline compaction after three of them, cleaning and archival of what is older than a few."""
    table.hudi_defaults()
    table.configure(
        {
            **EVENT_TIME,
            **_FEW_FILES,
            "hoodie.compact.inline": "true",
            "hoodie.compact.inline.max.delta.commits": "3",
        }
    )
    _nine_writes(table)


@recipe(
    "basics/long_life",
    on=("0.15.0 v6", "1.0.2 v8", "1.1.1 v9"),
    types=("cow",),
    features=("metadata-table", "cleaning", "history"),
)
def long_life_of_base_files(table: RealTable) -> None:
    """Nine upserts of base files, cleaning and archival of what is older than a few."""
    table.hudi_defaults()
    table.configure({**EVENT_TIME, **_FEW_FILES})
    _nine_writes(table)


def _nine_writes(table: RealTable) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    for number in range(1, 9):
        late = orders(((number + 3) % 8,), 50 + number, f"late {number}")
        table.upsert([*orders((number % 8, 7 + number), 100 + 10 * number, f"round {number}"), *late])


@recipe(
    "basics/not_partitioned",
    on=("0.15.0 v6", "1.1.1 v9"),
    types=("cow", "mor"),
    features=("not-partitioned",),
    questions=(
        Question("some_columns", "read_snapshot", {"columns": ["note", "ts"]}),
        Question("recent", "read_snapshot", {"filter": [">", "ts", 150]}),
        Question("of_süd", "read_snapshot", {"filter": ["and", ["=", "region", "süd"], ["is_not_null", "note"]]}),
    ),
)
def not_partitioned(table: RealTable) -> None:
    """Insert, upsert with late rows, delete; no partitions, no metadata table."""
    table.configure({**EVENT_TIME, **NOT_PARTITIONED})
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1, 9), 200, "update"), *orders((2,), 50, "late")])
    table.delete(orders((3,), 300, "delete"))


@recipe(
    "basics/appended",
    on=("0.15.0 v6", "1.1.1 v8"),
    types=("cow", "mor"),
    features=("duplicates",),
)
def appended(table: RealTable) -> None:
    """Inserts and a bulk insert of keys that are there already, without an ordering field; then an upsert of one."""
    table.hudi_defaults()
    table.write(orders(range(4), 100, "first"), "insert")
    table.write(orders(range(2, 6), 200, "again"), "insert", hoodie__merge__allow__duplicate__on__inserts="true")
    table.write(orders(range(4, 8), 300, "bulk"), "bulk_insert")
    table.upsert(orders((0,), 50, "lower, and last"))


@recipe("basics/statements", on=("0.15.0 v6", "1.0.2 v8", "1.1.1 v8", "1.2.0 v9"), features=("sql",))
@recipe("basics/statements", on=("0.15.0 v6", "1.1.1 v9"), types=("cow",), features=("sql",))
def statements(table: RealTable) -> None:
    """CREATE TABLE, INSERT, UPDATE, MERGE INTO and DELETE; hive style partitions as SQL makes them."""
    kind = "cow" if table.made.type == "COPY_ON_WRITE" else "mor"
    version = "" if table.bundle.startswith("0.") else f", 'hoodie.write.table.version' = '{table.version}'"
    table.sql(
        "DROP TABLE IF EXISTS statements",
        "CREATE TABLE statements (id INT, note STRING, price DOUBLE, ts BIGINT, day STRING) USING hudi "
        f"PARTITIONED BY (day) LOCATION '{{path}}' TBLPROPERTIES (type = '{kind}', primaryKey = 'id', "
        f"preCombineField = 'ts'{version})",
        "INSERT INTO statements VALUES (1, 'a', 1.5, 10, 'mo'), (2, 'b', 2.5, 10, 'mo'), (3, 'c', 3.5, 10, 'tu')",
        "UPDATE statements SET price = price * 2, ts = 20 WHERE id = 1",
        "MERGE INTO statements AS target USING (SELECT 2 AS id, 'merged' AS note, 9.5 AS price, 30L AS ts, 'mo' AS day "
        "UNION ALL SELECT 4, 'new', 4.5, 30L, 'tu') AS source ON target.id = source.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
        "DELETE FROM statements WHERE id = 3",
        **_sql_settings(table),
    )


def _sql_settings(table: RealTable) -> dict[str, str]:
    settings = {"hoodie__embed__timeline__server": "false"}
    if not table.bundle.startswith("0."):
        settings |= {"hoodie__write__table__version": str(table.version), "hoodie__write__auto__upgrade": "false"}
    return settings
