"""Tables with writes that died after their files and before their commit; rolled back, or left as they were."""

from hudi_conformance.corpus.recipes_apache.catalogue import recipe
from hudi_conformance.corpus.recipes_apache.orders import deletes, orders
from hudi_conformance.corpus.recipes_apache.writer import EVENT_TIME, TableWriter, payload

_LOGS = ("mor", "base-parquet", "log-avro")


@recipe(
    "v6/apache_mor_rollback_block",
    bundle="0.15.0",
    title="Version 6, a failed write undone by rollback blocks",
    features=("table-version-6", *_LOGS, "log-rollback", "payload-DefaultHoodieRecordPayload"),
)
def rollback_block(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies, an upsert that first rolls it back, one more."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _failed_then_rolled_back(table)
    table.upsert([*orders((2, 4), 250, "last"), *deletes((5,), 250)])


@recipe(
    "v6/apache_mor_failed_write",
    bundle="0.15.0",
    title="Version 6, a failed write left as it died: its log blocks are of no committed instant",
    features=("table-version-6", *_LOGS, "payload-DefaultHoodieRecordPayload"),
)
def failed_write_6(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies; nothing after it."""
    table.configure({**EVENT_TIME, **payload("DefaultHoodieRecordPayload")})
    _failed(table)


@recipe(
    "v8/apache_mor_failed_write",
    bundle="1.0.2",
    title="Version 8, a failed write left as it died: logs and a base file without a commit",
    features=("table-version-8", *_LOGS, "merge-event-time"),
)
def failed_write_8(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies; nothing after it."""
    table.configure(EVENT_TIME)
    _failed(table)


@recipe(
    "v9/apache_cow_failed_write",
    bundle="1.1.1",
    title="Copy-on-write, a failed write left as it died: newer base files without a commit",
    features=("table-version-9", "cow", "base-parquet", "merge-event-time"),
)
def failed_write_9(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies; nothing after it."""
    table.configure(EVENT_TIME)
    _failed(table)


@recipe(
    "v9/apache_mor_rolled_back",
    bundle="1.1.1",
    title="A failed write undone: its files and its instant are gone, a rollback stands in the timeline",
    features=("table-version-9", *_LOGS, "merge-event-time"),
)
def rolled_back(table: TableWriter) -> None:
    """Insert, upsert, an upsert that dies, an upsert that first rolls it back, a last one that dies and stays."""
    table.configure(EVENT_TIME)
    _failed_then_rolled_back(table)
    table.fail([*orders((2, 4), 250, "never"), *orders((30,), 250, "never new")])


def _failed(table: TableWriter) -> None:
    table.write(orders(range(8), 100, "first"), "insert")
    table.upsert([*orders((0, 1), 200, "update"), *orders((2,), 50, "late")])
    table.fail([*orders((0, 1, 3), 300, "never"), *orders((30, 31), 300, "never new")])


def _failed_then_rolled_back(table: TableWriter) -> None:
    _failed(table)
    table.upsert([*orders((0, 3), 210, "after"), *orders((6,), 20, "late after")])
